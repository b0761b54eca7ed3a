"""An API server and a Maestro, stand-ins or real, for the adapters of the corpus."""

from collections.abc import AsyncIterator

import pytest

from shared.kubernetes import KubernetesClient
from shared.maestro import MaestroClient
from tests.support.kubernetes_client import client, server
from tests.support.maestro import MaestroServer
from tests.support.plain_maestro import maestro_server

__all__ = ["client", "maestro_server", "server"]


@pytest.fixture
async def maestro(maestro_server: MaestroServer) -> AsyncIterator[MaestroClient]:
    async with MaestroClient(maestro_server.settings()) as connected:
        yield connected


@pytest.fixture
def kubernetes(client: KubernetesClient) -> KubernetesClient:
    return client
