"""The cgroup of a cluster: every process of the cluster starts in it, and no other process is in it.

The kubelet makes the pods' cgroups below it, so that containers are in it too, also when the runtime is gone.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from lab.real.cluster.host import controllers

ROOT = Path("/sys/fs/cgroup")
PREFIX = "hyperfleet-"
_END_DEADLINE = 120.0


class Cgroup:
    def __init__(self, name: str) -> None:
        self.name = f"{PREFIX}{name}"
        self._folders = [hierarchy / self.name for hierarchy in hierarchies()]
        self._owner = owner() / self.name
        self.entrance = self._owner / "servers" / "cgroup.procs"

    def create(self) -> None:
        for folder in self._folders:
            folder.mkdir(exist_ok=True)
            if not is_unified():
                _inherit_cpus(folder)
        if is_unified():
            controllers.borrow(ROOT, self._owner, of_places())
        self.entrance.parent.mkdir(exist_ok=True)

    def members(self) -> set[int]:
        found: set[int] = set()
        for folder in _deepest_first(self._owner):
            with contextlib.suppress(OSError):  # a pod's cgroup may go while we look
                found |= {int(line) for line in (folder / "cgroup.procs").read_text().split()}
        return found

    def kill(self) -> None:
        """Kill all its processes."""
        deadline = time.monotonic() + _END_DEADLINE
        while members := self.members():
            if time.monotonic() > deadline:
                raise TimeoutError(f"processes of {self._owner} do not end: {sorted(members)}")
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)

    def remove(self) -> None:
        borrowed = controllers.borrowed_by(self._owner)
        for folder in self._folders:
            for each in _deepest_first(folder):
                _remove(each)
        controllers.give_back(ROOT, borrowed)


def of_places() -> list[Path]:
    """The cgroups of all clusters on this machine."""
    return sorted(owner().glob(f"{PREFIX}*"))


def why_unusable() -> str | None:
    """Why this machine cannot create cgroups; None if it can."""
    if not hierarchies():
        return f"there are no cgroups at {ROOT}: mount them, or use a machine that lets you"
    if not os.access(owner(), os.W_OK):
        return f"{owner()} cannot be written: a container without its own cgroups cannot run a kubelet"
    return controllers.why_unusable(ROOT) if is_unified() else None


def is_unified() -> bool:
    """Whether only version 2 is mounted, where all controllers share one hierarchy."""
    return (ROOT / "cgroup.controllers").exists()


def hierarchies() -> list[Path]:
    """One in version 2; in version 1, one for each controller, the unified tree beside them included."""
    if is_unified():
        return [ROOT]
    return sorted({each.parent.resolve() for each in ROOT.glob("*/cgroup.procs")})


def owner() -> Path:
    """The hierarchy that identifies a cluster's processes."""
    return ROOT if is_unified() else ROOT / "pids"


def _inherit_cpus(folder: Path) -> None:
    """In version 1 no process may enter a cgroup of this controller before it has been given processors and memory."""
    for name in ("cpuset.cpus", "cpuset.mems"):
        if (folder / name).exists() and not (folder / name).read_text().strip():
            (folder / name).write_text((folder.parent / name).read_text())


def _deepest_first(folder: Path) -> Iterator[Path]:
    """The folder and all below it, without those that go while we look."""
    yield from (Path(each) for each, _, _ in os.walk(folder, topdown=False))


def _remove(folder: Path) -> None:
    """The kernel counts a process that has just ended for a moment longer."""
    deadline = time.monotonic() + _END_DEADLINE
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
