"""Whether this machine can run a cluster: what stands in the way for good, and what is only not installed."""

import os
import shutil
import sys

from lab.real import images
from lab.real.cluster import cgroup, network, runtime
from lab.real.cluster.place import Place

_PACKAGES = {
    "containerd": "containerd",
    "ctr": "containerd",
    "ip": "iproute2",
    "mount": "mount",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "setsid": "util-linux",
    "unshare": "util-linux",
    **{program: program for program in images.PROGRAMS},
}


class CannotRun(RuntimeError):
    """The machine is not one that can run a cluster; the message says why and what helps."""


def check(place: Place) -> None:
    """All that is in the way at once, with what to do about it."""
    _refuse(obstacles(place) or missing())


def check_rights() -> None:
    """What is needed to take a cluster away, too."""
    _refuse(_lacking_rights())


def obstacles(place: Place) -> list[str]:
    """Why this is no machine for it, whatever were installed."""
    if problems := _lacking_rights():
        return problems
    found = [cgroup.why_unusable()]
    if shutil.which("ip"):
        found.append(network.why_unusable(place))
    return [each for each in found if each]


def missing() -> list[str]:
    found = []
    programs = [program for program in _PACKAGES if shutil.which(program) is None]
    if programs:
        packages = sorted({_PACKAGES[program] for program in programs})
        found.append(f"programs are missing ({', '.join(programs)}): apt-get install {' '.join(packages)}")
    if problem := runtime.why_unusable():
        found.append(problem)
    if shutil.which("go") is None:
        found.append("Go is missing, which builds Kubernetes itself: apt-get install golang, or a newer one")
    return found


def _lacking_rights() -> list[str]:
    if sys.platform != "linux":
        return [f"it needs Linux, not {sys.platform}: use a virtual machine"]
    if os.geteuid() != 0:
        return ["it needs root: use sudo, or a virtual machine"]
    return []


def _refuse(problems: list[str]) -> None:
    if problems:
        raise CannotRun("a cluster cannot run here:\n" + "\n".join(f"  - {each}" for each in problems))
