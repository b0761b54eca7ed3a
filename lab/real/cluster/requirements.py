"""Whether this machine can run a cluster at all; all that is missing at once, with what to do about it."""

import os
import shutil
import sys

from lab.real.cluster import cgroup, network, runtime
from lab.real.cluster.place import Place

_PACKAGES = {
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "ip": "iproute2",
    "mount": "mount",
    "nsenter": "util-linux",
    "setsid": "util-linux",
    "unshare": "util-linux",
}


class CannotRun(RuntimeError):
    """The machine is not one that can run a cluster; the message says why and what helps."""


def check(place: Place) -> None:
    problems = reasons(place)
    if problems:
        raise CannotRun("a cluster cannot run here:\n" + "\n".join(f"  - {each}" for each in problems))


def reasons(place: Place) -> list[str]:
    if sys.platform != "linux":
        return [f"it needs Linux, not {sys.platform}: use a virtual machine"]
    if os.geteuid() != 0:
        return ["it needs root: use sudo, or a virtual machine"]
    found = []
    missing = [program for program in _PACKAGES if shutil.which(program) is None]
    if missing:
        packages = sorted({_PACKAGES[program] for program in missing})
        found.append(f"programs are missing ({', '.join(missing)}): apt-get install {' '.join(packages)}")
    if shutil.which("go") is None:
        found.append("Go is missing, which builds Kubernetes itself")
    if problem := cgroup.why_unusable():
        found.append(problem)
    if problem := runtime.why_unusable():
        found.append(problem)
    if "ip" not in missing and (problem := network.why_unusable(place)):
        found.append(problem)
    return found
