"""The embedded broker and clients of it."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from lab.broker import LabBroker
from tests.integration.lab_broker.clients import Client, Connect


@pytest.fixture
async def broker() -> AsyncIterator[LabBroker]:
    async with LabBroker() as broker:
        yield broker


@pytest.fixture
async def connect(broker: LabBroker) -> AsyncIterator[Connect]:
    clients: list[Client] = []

    async def connected() -> Client:
        clients.append(Client(*await asyncio.open_connection("127.0.0.1", broker.port)))
        return clients[-1]

    yield connected
    for client in clients:
        await client.close()
