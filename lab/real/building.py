"""Building a real server from the module proxy, once per machine.

A server is a folder under `modules/` with a go.mod that requires it and the go.sum that fixes every byte of it. The
binary is kept outside the checkout under the hash of that go.sum, so a second run does not build again.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from lab.real.steps import step

MODULES = Path(__file__).with_name("modules")


class CannotBuild(RuntimeError):
    """The machine lacks what a build needs."""


def built(module: str, package: str, *, name: str = "", stamps: Mapping[str, str] | None = None) -> Path:
    """The binary of `package`, built now if this machine has not built it before.

    It is called as the package is, or `name`; `stamps` are the string variables a release build sets, by full name.
    """
    folder = _cache(module)
    binary = folder / (name or package.rsplit("/", 1)[-1])
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not binary.exists():
            _build(module, package, binary, stamps or {})
    return binary


def _cache(module: str) -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256((MODULES / module / "go.sum").read_bytes()).hexdigest()
    return base / "hyperfleet-e2e" / f"{module}-{digest[:16]}"


def _build(module: str, package: str, binary: Path, stamps: Mapping[str, str]) -> None:
    go = shutil.which("go")
    if go is None:
        raise CannotBuild(f"building {package} needs Go on the PATH; install it, or run `make test`, which needs none")
    unfinished = binary.with_suffix(".unfinished")
    environment = os.environ | {"CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false -mod=readonly"}
    flags = " ".join(["-s -w", *(f"-X {variable}={value}" for variable, value in stamps.items())])
    with step(f"build {package}", warning="some minutes, once per machine"):
        subprocess.run(
            [go, "build", "-p", str(os.cpu_count() or 1), "-ldflags", flags, "-o", unfinished, package],
            cwd=MODULES / module,
            env=environment,
            check=True,
        )
    unfinished.rename(binary)
