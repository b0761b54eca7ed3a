"""Real Maestro servers, one per way of letting clients in, on one PostgreSQL."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.real.maestro import RealMaestro
from lab.real.postgres import Postgres
from tests.contracts.maestro_ground import Ground, identity_for, tls_for
from tests.contracts.pki import Pki, make_pki


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    return make_pki(tmp_path_factory.mktemp("pki"))


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    database = Postgres(tmp_path_factory.mktemp("database"))
    database.start()
    yield database
    database.stop()


@pytest.fixture(scope="session")
def ground(postgres: Postgres, pki: Pki, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Ground]]:
    """The server of a mode, started when it is first asked for."""
    folder = tmp_path_factory.mktemp("maestro")
    servers: dict[str, RealMaestro] = {}

    def of(mode: str) -> Ground:
        if mode not in servers:
            servers[mode] = RealMaestro(folder, postgres, mode, tls=tls_for(mode, pki))
            servers[mode].prepare()
            servers[mode].start()
        return _ground(mode, servers[mode], pki, folder)

    yield of
    for server in servers.values():
        server.stop()


def _ground(mode: str, server: RealMaestro, pki: Pki, folder: Path) -> Ground:
    # In the thread of the tests, because a server dies with the thread that started it.
    async def kill() -> None:
        server.kill()

    async def start() -> None:
        server.start()

    return Ground(
        mode=mode,
        rest_url=f"{'http' if mode == 'plain' else 'https'}://127.0.0.1:{server.rest_port}",
        grpc_address=f"127.0.0.1:{server.grpc_port}",
        broker_address=f"127.0.0.1:{server.broker_port}",
        kill=kill,
        start=start,
        identity=identity_for(mode, pki, folder),
    )
