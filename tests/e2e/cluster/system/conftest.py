"""The whole system on the real cluster, installed once for the session by our chart. Sentinel, the adapters that the
control plane waits for and the HyperShift operator are the lab's.
"""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import pytest

from lab.real.cluster.cluster import Cluster
from lab.real.cluster.maestro import ClusterMaestro
from lab.real.cluster.node import images
from lab.real.installed.dependencies import Dependencies
from lab.real.installed.release import CONTROL_PLANE, JOBS, SYSTEM, Images, Releases, control_plane_files
from lab.real.installed.services import Services
from lab.sentinel import LabSentinel, Sentinel
from lab.sentinel.rabbitmq import RabbitPublisher
from tests.support.cluster import JobNamespace, Kubectl
from tests.support.installed import TTL_SECONDS, Clusters, clusters_of
from tests.support.outages import Component, pods, servers

TOPIC = "hyperfleet-clusters"


@pytest.fixture(scope="session")
def services(cluster: Cluster, maestro: ClusterMaestro, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    services = Services(cluster.place, tmp_path_factory.mktemp("services"), maestro.database)
    try:
        services.start()
        yield services
    finally:
        services.stop()


@pytest.fixture(scope="session")
def system_images(cluster: Cluster, adapter_image: str, reporter_image: str) -> Images:
    return Images(dispatcher=images.dispatcher(cluster.place), adapter=adapter_image, reporter=reporter_image)


@pytest.fixture(scope="session")
def releases(
    cluster: Cluster,
    services: Services,
    maestro: ClusterMaestro,
    system_images: Images,
    tmp_path_factory: pytest.TempPathFactory,
) -> Releases:
    """With the control plane adapter installed. The cluster goes with all of them at the end."""
    folder = tmp_path_factory.mktemp("releases")
    releases = Releases(cluster, services, maestro, folder)
    releases.clear()
    releases.prepare()
    releases.install(CONTROL_PLANE, control_plane_files(folder / CONTROL_PLANE, ttl=TTL_SECONDS), system_images)
    return releases


@pytest.fixture
async def dependencies(services: Services) -> AsyncIterator[Dependencies]:
    async with Dependencies(services.api.url) as dependencies:
        yield dependencies


@pytest.fixture
def stale() -> timedelta:
    """How old the last report of a reconciled cluster is when Sentinel announces it again: production's."""
    return timedelta(minutes=30)


@pytest.fixture
async def sentinel(services: Services, stale: timedelta) -> AsyncIterator[LabSentinel]:
    settings = Sentinel(
        api_url=services.api.url,
        topic=TOPIC,
        poll_interval=timedelta(seconds=1),
        debounce=timedelta(seconds=2),
        stale=stale,
        page_size=100,
    )
    async with LabSentinel(settings, RabbitPublisher(services.broker.url)) as sentinel:
        yield sentinel


@pytest.fixture
async def clusters(
    releases: Releases, services: Services, dependencies: Dependencies, sentinel: LabSentinel
) -> AsyncIterator[Clusters]:
    """Everything runs; what a test leaves is deleted, so that the next one has the machine for itself."""
    async with clusters_of(services.api.url) as clusters:
        yield clusters
        await clusters.delete_all()


@pytest.fixture
def jobs_namespace(kubectl: Kubectl) -> JobNamespace:
    return JobNamespace(kubectl.with_(f"--namespace={JOBS}"), JOBS)


@pytest.fixture
def system_namespace(kubectl: Kubectl) -> JobNamespace:
    return JobNamespace(kubectl.with_(f"--namespace={SYSTEM}"), SYSTEM)


@pytest.fixture
def components(
    cluster: Cluster,
    services: Services,
    maestro: ClusterMaestro,
    system_namespace: JobNamespace,
    jobs_namespace: JobNamespace,
) -> dict[str, Component]:
    return servers(cluster, services, maestro) | pods(system_namespace, jobs_namespace)
