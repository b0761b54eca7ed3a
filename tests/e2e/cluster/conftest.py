"""A real cluster for the session, with our images on it; each test has a restricted namespace of its own.

It has its own addresses and its own folder, so a person's cluster may run beside it, and so has that of `make soak`. What a
killed run left of it is cleared away when the next one begins.
"""

import os
from collections.abc import AsyncIterator, Generator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lab.hypershift.operator import Operator
from lab.real.artifacts.kubernetes import program
from lab.real.artifacts.steps import step
from lab.real.cluster.cluster import Cluster
from lab.real.cluster.host import requirements
from lab.real.cluster.maestro import CONSUMER, ClusterMaestro
from lab.real.cluster.node import images
from lab.real.cluster.place import SOAK, TESTS
from tests.support.cluster import JobNamespace, Jobs, JobTemplate, Kubectl, client_certificate, job_namespace
from tests.support.kubernetes import unique
from tests.support.scenario_table import Table

PLACE = SOAK if "CLUSTERS" in os.environ else TESTS

# Ten minutes of a roll-out pass in a third of a second.
SPEED = 2000.0

_table = Table("tests/e2e/cluster/")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "cluster: runs on a real cluster of one node, which needs root and some packages"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """They come last, the whole system at the end: what they stand on is tried by the others."""
    folder = Path(__file__).parent
    here = [item for item in items if item.path.is_relative_to(folder)]
    here.sort(key=lambda item: item.path.is_relative_to(folder / "system"))
    for item in here:
        item.add_marker("cluster")
    items[:] = [item for item in items if item not in here] + here


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _table.take(report)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    yield
    if _table.scenarios:
        terminalreporter.section("scenarios on a real cluster")
        for line in _table.lines():
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A machine that could never run one skips; one that only lacks packages fails, and names them."""
    if obstacles := requirements.obstacles(PLACE):
        pytest.skip("; ".join(obstacles))
    cluster = Cluster(PLACE)
    cluster.down()
    try:
        cluster.up()
        yield cluster
    finally:
        with step("the cluster's end"):
            cluster.down()


@pytest.fixture(scope="session")
def reporter_image(cluster: Cluster) -> str:
    return images.reporter(cluster.place)


@pytest.fixture(scope="session")
def adapter_image(cluster: Cluster) -> str:
    return images.adapter(cluster.place)


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
async def namespace(kubectl: Kubectl) -> AsyncIterator[JobNamespace]:
    async with job_namespace(kubectl, unique("jobs")) as namespace:
        yield namespace


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
async def jobs(namespace: JobNamespace, template: JobTemplate, adapter_image: str, maestro: ClusterMaestro) -> Jobs:
    await namespace.create(client_certificate(maestro.ca_file, maestro.client.certificate, maestro.client.key))
    here = replace(
        template,
        adapter_image=adapter_image,
        maestro_api_url=maestro.rest_url,
        maestro_grpc_url=maestro.grpc_address,
        consumer=CONSUMER,
    )
    return Jobs(namespace, here)
