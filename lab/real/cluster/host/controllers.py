"""Enables cgroup v2 controllers: a cgroup has only those its parent delegates, and a kubelet needs all of them.

Version 1 has a hierarchy for each controller, and nothing to hand on. What the parent hands on for a cluster's sake is
recorded on the cluster's own cgroup, so the record is gone after a reboot.
"""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

_NEEDED = frozenset({"cpu", "cpuset", "memory", "pids"})
_NOTE = "user.hyperfleet.borrowed"


def borrow(parent: Path, child: Path, others: Iterable[Path]) -> None:
    """Delegate all controllers; the last cluster to stop restores those that were off."""
    lacking = _lacking(parent)
    borrowed = lacking.union(*map(borrowed_by, others))
    os.setxattr(child, _NOTE, " ".join(sorted(borrowed)).encode())
    (parent / "cgroup.subtree_control").write_text(" ".join(f"+{each}" for each in sorted(lacking)))


def borrowed_by(child: Path) -> frozenset[str]:
    try:
        return frozenset(os.getxattr(child, _NOTE).decode().split())
    except OSError:
        return frozenset()


def give_back(parent: Path, borrowed: Iterable[str]) -> None:
    """The kernel refuses if another cgroup uses one of them by now."""
    for controller in borrowed:
        with contextlib.suppress(OSError):
            (parent / "cgroup.subtree_control").write_text(f"-{controller}")


def why_unusable(parent: Path) -> str | None:
    """Why a kubelet cannot run below it, if so; only the root cgroup may both delegate and have processes."""
    if missing := _NEEDED - _words(parent / "cgroup.controllers"):
        return f"{parent} lacks {_listed(missing)}: the kernel, or the container around us, does not give it"
    is_top = not (parent / "cgroup.type").exists()
    if not is_top and _words(parent / "cgroup.procs") and (lacking := _lacking(parent)):
        return f"{parent} cannot hand on {_listed(lacking)} while processes are in it: use a machine, not a container"
    return None


def _lacking(parent: Path) -> frozenset[str]:
    return _words(parent / "cgroup.controllers") - _words(parent / "cgroup.subtree_control")


def _words(file: Path) -> frozenset[str]:
    return frozenset(file.read_text().split())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
