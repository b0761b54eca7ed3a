"""What cgroups of version 2 may count and limit: only what their parent hands on, and a kubelet wants all of it.

Version 1 has a hierarchy for each controller, and nothing to hand on. What the parent hands on for a cluster's sake is
noted on the cluster's own cgroup: the note lives as long as it matters, and no longer than the machine runs.
"""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

_NEEDED = frozenset({"cpu", "cpuset", "memory", "pids"})
_NOTE = "user.hyperfleet.borrowed"


def borrow(parent: Path, child: Path, others: Iterable[Path]) -> None:
    """Have all controllers handed on; what another cluster borrowed before, the last one gives back."""
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
    """The kernel refuses where somebody else needs one of them by now."""
    for controller in borrowed:
        with contextlib.suppress(OSError):
            (parent / "cgroup.subtree_control").write_text(f"-{controller}")


def why_unusable(parent: Path) -> str | None:
    """Why no kubelet can work below it, if so; only the kernel's own root may both hand on and have processes."""
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
