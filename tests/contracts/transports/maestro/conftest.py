"""The Maestro transport on a Maestro, with one fresh consumer and, where a test asks for it, its agent."""

from collections.abc import AsyncIterator

import pytest

from dispatcher.transports import MaestroTransport
from lab.maestro.agent import Agent
from shared.maestro import MaestroClient
from tests.support.maestro import MaestroServer, unique
from tests.support.plain_maestro import maestro_server as server

__all__ = ["server"]


@pytest.fixture
async def client(server: MaestroServer) -> AsyncIterator[MaestroClient]:
    async with MaestroClient(server.settings()) as connected:
        yield connected


@pytest.fixture
async def consumer(client: MaestroClient) -> str:
    return (await client.consumers.create(unique("mgmt"))).name


@pytest.fixture
def transport(client: MaestroClient) -> MaestroTransport:
    return MaestroTransport(client)


@pytest.fixture
async def agent(server: MaestroServer, consumer: str) -> AsyncIterator[Agent]:
    async with Agent(server.broker_address, consumer) as connected:
        yield connected
