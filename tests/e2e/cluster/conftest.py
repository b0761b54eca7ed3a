"""A real cluster for the session, with our images on it; each test has a restricted namespace of its own.

It has its own addresses and its own folder, so a person's cluster may run beside it. What a killed run left of it is
cleared away when the next one begins.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from lab.real import images
from lab.real.cluster import requirements
from lab.real.cluster.cluster import Cluster
from lab.real.cluster.control_plane import program
from lab.real.cluster.images import load
from lab.real.cluster.maestro import ClusterMaestro
from lab.real.cluster.place import TESTS
from tests.contracts.cluster_ground import JobTemplate, Kubectl, Room, restricted, rights
from tests.contracts.kubernetes_ground import unique

# A tag of their own, because the kubelet would try to pull the latest.
TAG = "cluster"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "cluster: runs on a real cluster of one node, which needs root and some packages"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("cluster")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    missing = requirements.reasons(TESTS)
    if missing or (cannot := images.what_is_missing()):
        pytest.skip("; ".join(missing) or f"no image can be made here: {cannot}")
    cluster = Cluster(TESTS)
    cluster.down()
    try:
        cluster.up()
        yield cluster
    finally:
        cluster.down()


@pytest.fixture(scope="session")
def reporter_image(cluster: Cluster) -> str:
    return _loaded(cluster, images.built("Dockerfile.reporter", f"status-reporter:{TAG}"))


@pytest.fixture(scope="session")
def adapter_image(cluster: Cluster) -> str:
    return _loaded(cluster, images.built("Dockerfile.adapter", f"controlplane-adapter:{TAG}"))


def _loaded(cluster: Cluster, image: images.Image) -> str:
    load(cluster.runtime, [image.name])
    return image.name


@pytest.fixture(scope="session")
def maestro(cluster: Cluster) -> Iterator[ClusterMaestro]:
    maestro = ClusterMaestro(cluster)
    try:
        maestro.start()
        yield maestro
    finally:
        maestro.stop()


@pytest.fixture
def kubectl(cluster: Cluster) -> Kubectl:
    return Kubectl(program("kubectl"), cluster.place.kubeconfig)


@pytest.fixture
async def room(kubectl: Kubectl) -> AsyncIterator[Room]:
    namespace = unique("room")
    room = Room(kubectl.with_(f"--namespace={namespace}"), namespace)
    await kubectl("create", "--filename=-", stdin=restricted(namespace))
    await room.create(*rights())
    yield room
    await kubectl("delete", "namespace", namespace, "--wait=false")


@pytest.fixture
def template(reporter_image: str) -> JobTemplate:
    """For adapters that are shell scripts: the sidecar's image has all that they need."""
    return JobTemplate(adapter_image=reporter_image, reporter_image=reporter_image)
