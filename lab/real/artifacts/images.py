"""Container images made on this machine, with no registry: a base of Debian packages, and what podman builds on it.

The base is a small system of this machine's own Debian release with its Python. Like the real servers it is made once
per machine and kept outside the checkout.
"""

import contextlib
import fcntl
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.real.artifacts.steps import step

PROJECT = Path(__file__).parents[3]
BASE = "localhost/hyperfleet-python-base"
# Each has the name of its Debian package.
PROGRAMS = ("podman", "runc", "debootstrap")
PACKAGES = "python3,python3-venv,ca-certificates"
# Runs as root inside of containers as well: no cgroup, network or user namespace of its own is asked for.
_BUILD = ("--runtime", "runc", "--network", "host", "--isolation", "chroot")
_RUN = ("--rm", "--runtime", "runc", "--network", "host", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000")
_HOST_FILES = ("/etc/ssl/certs", "/etc/pip.conf")


class CannotContain(RuntimeError):
    """The machine lacks a program for building images."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image in this machine's own store."""

    name: str

    def run(self, *command: str, options: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        """Run it to its end; `options` are podman's, and without a command its entrypoint is run alone."""
        return subprocess.run(
            ["podman", "run", *_RUN, *options, self.name, *command], check=False, capture_output=True, text=True
        )

    def facts(self) -> dict[str, Any]:
        """Size, configuration and labels."""
        inspected: list[dict[str, Any]] = json.loads(_podman("image", "inspect", self.name))
        return inspected[0]


def kept() -> Path:
    """The cache folder of this machine."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hyperfleet-e2e"


def what_is_missing() -> str | None:
    """Why this machine cannot build images; None if it can."""
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        return f"programs are missing: apt-get install {' '.join(missing)}"
    return None if os.geteuid() == 0 else "making a base image needs root"


def built(dockerfile: str, name: str, *, target: str = "", **arguments: str) -> Image:
    """The image of one of the project's Dockerfiles on our base: its last stage, or `target`.

    `arguments` are further build arguments.
    """
    options = [f"--build-arg={key}={value}" for key, value in {"BASE": base_image().name, **arguments}.items()]
    options += [f"--target={target}"] if target else []
    if arguments:  # podman takes a cached layer for the right one although an argument in a LABEL has changed
        options.append("--no-cache")
    volumes = [f"--volume={path}:{path}:ro" for path in _HOST_FILES if Path(path).exists()]
    image = Image(f"localhost/{name}")
    files = ("--file", str(PROJECT / dockerfile), "--tag", image.name, str(PROJECT))
    with step(f"image {image.name}"), _alone():
        _podman("build", *_BUILD, *volumes, *options, *files)
    return image


def base_image() -> Image:
    """The base image with Python; built if this machine does not have it yet."""
    if missing := what_is_missing():
        raise CannotContain(missing)
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    image = Image(f"{BASE}:{release}")
    cache = kept() / f"python-base-{release}"
    cache.mkdir(parents=True, exist_ok=True)
    with _alone():
        archive = cache / "root.tar"
        if not archive.exists():
            with step("base image of Debian packages", warning="some minutes, once per machine"):
                _bootstrap(release, cache, archive)
        if subprocess.run(["podman", "image", "exists", image.name], check=False).returncode != 0:
            _podman("import", str(archive), image.name)
    return image


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """One process at a time makes images, as they share the machine's store and its layers."""
    with (kept() / "images.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _bootstrap(release: str, cache: Path, archive: Path) -> None:
    root, unfinished = cache / "root", archive.with_suffix(".unfinished")
    shutil.rmtree(root, ignore_errors=True)
    _checked("debootstrap", "--variant=minbase", f"--include={PACKAGES}", release, str(root), *_mirror(release))
    for leftovers in ("var/cache/apt", "var/lib/apt/lists"):
        shutil.rmtree(root / leftovers)
    _checked("tar", "--create", "--file", str(unfinished), "--directory", str(root), ".")
    shutil.rmtree(root)
    unfinished.rename(archive)


def _mirror(release: str) -> list[str]:
    """The Debian mirror of this machine; empty for debootstrap's default."""
    mirrors = _checked("apt-get", "indextargets", "--format", "$(REPO_URI)", f"Codename: {release}")
    return mirrors.split()[:1]


def _podman(*arguments: str) -> str:
    return _checked("podman", *arguments)


def _checked(*command: str) -> str:
    outcome = subprocess.run(command, check=False, capture_output=True, text=True)
    if outcome.returncode != 0:
        raise CannotContain(f"{' '.join(command[:2])} failed:\n{(outcome.stdout + outcome.stderr)[-3000:]}")
    return outcome.stdout
