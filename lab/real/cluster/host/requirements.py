"""Checks whether this machine can run a cluster: permanent obstacles, and missing programs."""

import os
import shutil
import sys

from lab.real.artifacts import images
from lab.real.cluster.host import cgroup, network
from lab.real.cluster.node import runtime
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
    """The machine cannot run a cluster; the message has the reasons and the remedies."""


def check(place: Place) -> None:
    """All problems together, each with its remedy."""
    _refuse(obstacles(place) or missing())


def check_rights() -> None:
    """What stopping a cluster needs, too."""
    _refuse(_lacking_rights())


def obstacles(place: Place) -> list[str]:
    """Why this machine cannot run a cluster, whatever is installed."""
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
