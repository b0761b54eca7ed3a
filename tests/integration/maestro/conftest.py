"""The stand-in Maestro, one per test, in each way it lets clients in."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from lab.maestro import LabMaestro
from tests.contracts.maestro_ground import Ground, identity_for, tls_for
from tests.contracts.pki import Pki, make_pki

Standing = Callable[[str], AbstractAsyncContextManager[Ground]]


@pytest.fixture(scope="session")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Pki:
    return make_pki(tmp_path_factory.mktemp("pki"))


@pytest.fixture
def standing(pki: Pki, tmp_path: Path) -> Standing:
    """A stand-in of the mode, for as long as it is held."""

    @asynccontextmanager
    async def of(mode: str) -> AsyncIterator[Ground]:
        async with LabMaestro(heartbeat_seconds=1.0, tls=tls_for(mode, pki)) as server:
            yield Ground(
                mode=mode,
                rest_url=server.rest_url,
                grpc_address=server.grpc_address,
                broker_address=server.broker_address,
                kill=server.kill,
                start=server.start,
                identity=identity_for(mode, pki, tmp_path),
            )

    return of
