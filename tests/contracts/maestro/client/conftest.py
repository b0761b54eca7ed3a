"""Our client in each authentication mode, its works on a fresh consumer, and that consumer's agent."""

from collections.abc import AsyncIterator

import pytest

from lab.maestro.agent import Agent
from shared.maestro import MaestroClient, Works
from tests.support.maestro import MaestroServer, unique


@pytest.fixture(params=["plain", "token", "mtls"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def client(server: MaestroServer) -> AsyncIterator[MaestroClient]:
    async with MaestroClient(server.settings()) as connected:
        yield connected


@pytest.fixture
async def works(client: MaestroClient) -> Works:
    consumer = await client.consumers.create(unique("mgmt"))
    return client.works(consumer.name)


@pytest.fixture
async def agent(server: MaestroServer, works: Works) -> AsyncIterator[Agent]:
    async with Agent(server.broker_address, works.consumer) as connected:
        yield connected
