"""The cluster's own promises: up twice is one cluster, a crash is cleared away, and down leaves the machine as it was."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.real.cluster.cluster import Cluster
from lab.real.cluster.host import requirements
from lab.real.cluster.host.cgroup import Cgroup
from lab.real.cluster.node.kubelet import CHANGED_SETTINGS
from lab.real.cluster.place import BROKEN, Place

# Generous, because the machine may be slow.
SETTLED_SECONDS = 60.0


@pytest.fixture
def fragile() -> Iterator[Cluster]:
    if obstacles := requirements.obstacles(BROKEN):
        pytest.skip("; ".join(obstacles))
    cluster = Cluster(BROKEN)
    cluster.down()
    yield cluster
    cluster.down()


def traces(place: Place) -> dict[str, object]:
    """What a cluster could leave behind."""
    mounted = Path("/proc/self/mountinfo").read_text()
    return {
        "processes": Cgroup(place.title).members(),
        "cgroups": sorted(map(str, Path("/sys/fs/cgroup").glob(f"**/{Cgroup(place.title).name}"))),
        "bridge": Path(f"/sys/class/net/{place.bridge}").exists(),
        "interfaces": sorted(each.name for each in Path("/sys/class/net").iterdir() if not _is_of_another(each, place)),
        "mounts": str(place.folder) in mounted,
        "folders": [each for each in (place.folder, place.scratch) if each.exists()],
        "settings": [(Path("/proc/sys") / name).read_text() for name in CHANGED_SETTINGS],
        "forwarding": Path("/proc/sys/net/ipv4/ip_forward").read_text(),
    }


def servers(place: Place) -> dict[str, int]:
    """The processes that were started, by name; the short ones that they start come and go."""
    return {file.stem: int(file.read_text()) for file in place.folder.glob("*.pid")}


def test_it_starts_once_survives_being_asked_twice_and_a_crash_and_leaves_nothing(fragile: Cluster) -> None:
    before = traces(BROKEN)
    fragile.up()
    first = servers(BROKEN)
    fragile.up()
    assert servers(BROKEN) == first, "there is only one cluster"
    fragile.apply(_pod())
    waited = fragile.kubectl("wait", "--for=condition=Ready", "pod/quiet", "--timeout=300s")
    assert waited.returncode == 0, waited.stderr
    assert fragile.control_plane.api_server.pid == first["kube-apiserver"]

    for pid in first.values():
        os.kill(pid, signal.SIGKILL)
    assert not fragile.is_up()
    fragile.up()
    assert fragile.is_up()
    assert "No resources found" in fragile.kubectl("get", "pods").stderr, "it is a new cluster"

    fragile.down()
    assert traces_at_last(before) == before


def traces_at_last(wanted: dict[str, object]) -> dict[str, object]:
    """What is left, looked at until it is as wanted: interfaces of another cluster's pods come and go meanwhile."""
    deadline = time.monotonic() + SETTLED_SECONDS
    while (found := traces(BROKEN)) != wanted and time.monotonic() < deadline:
        time.sleep(1)
    return found


def _is_of_another(interface: Path, place: Place) -> bool:
    """Whether it belongs to another cluster, whose pods come and go meanwhile."""
    bridge = (interface / "master").resolve().name if (interface / "master").exists() else interface.name
    return bridge != place.bridge and bridge.startswith("hyperfleet")


def _pod() -> dict[str, object]:
    container = {"name": "quiet", "image": "localhost/pause:1", "imagePullPolicy": "Never"}
    metadata = {"name": "quiet", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}
