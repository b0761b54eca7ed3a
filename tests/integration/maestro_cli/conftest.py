"""A stand-in of Maestro that only this test uses, so that pages and pictures may show all that is there."""

from collections.abc import AsyncIterator

import pytest

from lab.maestro import LabMaestro
from shared.maestro import MaestroClient
from tests.support.maestro import MaestroServer, standin
from tests.support.maestro_cli import CONSUMER, agent, cli, files

__all__ = ["agent", "cli", "files"]


@pytest.fixture
async def server() -> AsyncIterator[MaestroServer]:
    async with LabMaestro(heartbeat_seconds=1.0) as running:
        yield standin(running, identity={"insecure": True})


@pytest.fixture
async def client(server: MaestroServer) -> AsyncIterator[MaestroClient]:
    async with MaestroClient(server.settings(source_id="maestro-cli")) as connected:
        yield connected


@pytest.fixture
async def consumer(client: MaestroClient) -> str:
    return (await client.consumers.create(CONSUMER)).name
