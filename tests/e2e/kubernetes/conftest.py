"""The real API server, one for all tests; each test has a namespace of its own."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from lab.kubernetes.jobs import JobRunner
from lab.real.kubernetes import RealKubernetes
from tests.contracts.kubernetes_ground import Api, Ground, admin
from tests.contracts.kubernetes_jobs_ground import runner_of


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealKubernetes]:
    server = RealKubernetes(tmp_path_factory.mktemp("kubernetes"))
    server.prepare()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def kube(server: RealKubernetes) -> Ground:
    # In the thread of the tests, because a server dies with the thread that started it.
    async def kill() -> None:
        server.kill()

    async def start() -> None:
        server.start()

    async def forget() -> None:
        """What a server remembers of changes begins anew with it."""
        server.kill()
        server.start()

    return Ground(
        url=server.url,
        admin_token=server.admin_token,
        ca_file=server.ca_file,
        kill=kill,
        start=start,
        forget=forget,
    )


@pytest.fixture
async def api(kube: Ground) -> AsyncIterator[Api]:
    async with admin(kube) as api:
        yield api


@pytest.fixture
async def runner(kube: Ground, api: Api, tmp_path: Path) -> AsyncIterator[JobRunner]:
    async with runner_of(kube, api, tmp_path) as running:
        yield running
