"""The real servers of contract and end-to-end tests, one per session, started when a test first asks for one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.real.servers.hyperfleet_api import RealHyperFleetApi
from lab.real.servers.kubernetes import RealKubernetes
from lab.real.servers.maestro import RealMaestro
from lab.real.servers.postgres import Postgres
from lab.real.servers.pubsub import RealPubSub
from lab.real.servers.rabbitmq import RealRabbitMq
from tests.support.hyperfleet_api import REQUIRED_ADAPTERS
from tests.support.kubernetes import KubernetesServer
from tests.support.maestro import MaestroServer, identity_for, tls_for
from tests.support.pki import Pki, make_pki


@pytest.fixture(scope="session")
def real_kubernetes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubernetesServer]:
    """The real API server on its own etcd; each test has its own namespace."""
    server = RealKubernetes(tmp_path_factory.mktemp("kubernetes"))
    server.prepare()
    server.start()

    # In the thread of the tests, because a server ends with the thread that started it.
    async def kill() -> None:
        server.kill()

    async def start() -> None:
        server.start()

    async def forget() -> None:
        """A restarted server has no history of changes."""
        server.kill()
        server.start()

    yield KubernetesServer(
        url=server.url,
        admin_token=server.admin_token,
        ca_file=server.ca_file,
        kill=kill,
        start=start,
        forget=forget,
    )
    server.stop()


@pytest.fixture(scope="session")
def real_rabbitmq(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealRabbitMq]:
    server = RealRabbitMq(tmp_path_factory.mktemp("rabbitmq"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def real_pubsub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealPubSub]:
    """Google's fake server."""
    server = RealPubSub(tmp_path_factory.mktemp("pubsub"))
    server.prepare()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    return make_pki(tmp_path_factory.mktemp("pki"))


@pytest.fixture(scope="session")
def real_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    database = Postgres(tmp_path_factory.mktemp("database"))
    database.start()
    yield database
    database.stop()


@pytest.fixture(scope="session")
def real_hyperfleet_api(
    real_postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealHyperFleetApi]:
    server = RealHyperFleetApi(tmp_path_factory.mktemp("api"), real_postgres, required_adapters=REQUIRED_ADAPTERS)
    server.prepare()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def real_maestro(
    real_postgres: Postgres, pki: Pki, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], MaestroServer]]:
    """The real Maestro of an authentication mode."""
    folder = tmp_path_factory.mktemp("maestro")
    running: dict[str, RealMaestro] = {}

    def of(mode: str) -> MaestroServer:
        if mode not in running:
            running[mode] = RealMaestro(folder, real_postgres, mode, tls=tls_for(mode, pki))
            running[mode].prepare()
            running[mode].start()
        return _maestro_server(mode, running[mode], pki, folder)

    yield of
    for server in running.values():
        server.stop()


def _maestro_server(mode: str, server: RealMaestro, pki: Pki, folder: Path) -> MaestroServer:
    # In the thread of the tests, as above.
    async def kill() -> None:
        server.kill()

    async def start() -> None:
        server.start()

    return MaestroServer(
        mode=mode,
        rest_url=f"{'http' if mode == 'plain' else 'https'}://127.0.0.1:{server.rest_port}",
        grpc_address=f"127.0.0.1:{server.grpc_port}",
        broker_address=f"127.0.0.1:{server.broker_port}",
        kill=kill,
        start=start,
        identity=identity_for(mode, pki, folder),
    )
