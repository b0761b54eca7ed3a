"""A real cluster for the session, with our images on it; each test has a restricted namespace of its own.

It has its own addresses and its own folder, so a person's cluster may run beside it. What a killed run left of it is
cleared away when the next one begins.
"""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lab.hypershift.operator import Operator
from lab.real import images
from lab.real.cluster import requirements
from lab.real.cluster.cluster import Cluster
from lab.real.cluster.control_plane import program
from lab.real.cluster.images import load
from lab.real.cluster.maestro import CONSUMER, ClusterMaestro
from lab.real.cluster.place import TESTS
from tests.contracts.cluster_ground import Jobs, JobTemplate, Kubectl, Room, client_certificate, room_in
from tests.contracts.kubernetes_ground import unique

# A tag of their own, because the kubelet would try to pull the latest.
TAG = "cluster"
# Ten minutes of a roll-out pass in a third of a second.
SPEED = 2000.0


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
    async with room_in(kubectl, unique("room")) as room:
        yield room


@pytest.fixture
def template(reporter_image: str) -> JobTemplate:
    """For adapters that are shell scripts: the sidecar's image has all that they need."""
    return JobTemplate(adapter_image=reporter_image, reporter_image=reporter_image)


@pytest.fixture
async def operator(cluster: Cluster) -> AsyncIterator[Operator]:
    way = cluster.control_plane
    async with Operator(way.url, way.admin_token, way.ca_file, speed=SPEED) as playing:
        yield playing


@pytest.fixture
async def jobs(room: Room, template: JobTemplate, adapter_image: str, maestro: ClusterMaestro) -> Jobs:
    await room.create(client_certificate(maestro.ca_file, maestro.client.certificate, maestro.client.key))
    here = replace(
        template,
        adapter_image=adapter_image,
        maestro_api_url=maestro.rest_url,
        maestro_grpc_url=maestro.grpc_address,
        consumer=CONSUMER,
    )
    return Jobs(room, here)
