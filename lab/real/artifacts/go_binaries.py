"""Builds a real server from the Go module proxy, once per machine.

A server is a folder under `modules/` with a go.mod that requires it and the go.sum that fixes every byte of it. The
binary is kept outside the checkout under the hash of that go.sum, so a second run does not build again.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from lab.real.artifacts.steps import step

MODULES = Path(__file__).parents[1] / "modules"


class CannotBuild(RuntimeError):
    """The machine lacks a tool for the build."""


def built(module: str, package: str, *, name: str = "", stamps: Mapping[str, str] | None = None) -> Path:
    """The binary of `package`, built now if this machine has not built it before.

    It is called as the package is, or `name`; `stamps` are the string variables a release build sets, by full name.
    """
    source = MODULES / module
    return kept(
        f"{module}-{digest((source / 'go.sum').read_bytes())}",
        name or package.rsplit("/", 1)[-1],
        lambda binary: go_build(source, package, binary, stamps or {}),
    )


def digest(content: bytes) -> str:
    """What a folder of the cache is named after."""
    return hashlib.sha256(content).hexdigest()[:16]


def kept(folder: str, name: str, build: Callable[[Path], None]) -> Path:
    """The binary of that name in a folder of the cache; `build` makes it where it is missing, one process at a time."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hyperfleet-e2e" / folder
    base.mkdir(parents=True, exist_ok=True)
    binary, unfinished = base / name, base / f"{name}.unfinished"
    with (base / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not binary.exists():
            build(unfinished)
            unfinished.rename(binary)
    return binary


def go_build(source: Path, package: str, binary: Path, stamps: Mapping[str, str]) -> None:
    """Build a package of the module in `source`. Raises CannotBuild where there is no Go."""
    go = shutil.which("go")
    if go is None:
        raise CannotBuild(f"building {package} needs Go on the PATH; install it, or run `make test`, which needs none")
    environment = os.environ | {"CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false -mod=readonly"}
    flags = " ".join(["-s -w", *(f"-X {variable}={value}" for variable, value in stamps.items())])
    with step(f"build {package}", warning="some minutes, once per machine"):
        subprocess.run(
            [go, "build", "-p", str(os.cpu_count() or 1), "-ldflags", flags, "-o", binary, package],
            cwd=source,
            env=environment,
            check=True,
        )
