"""maestro-cli on the stand-in, or on the real Maestro."""

from collections.abc import AsyncIterator

import pytest

from lab.maestro import LabMaestro
from tests.support.maestro import MaestroServer, standin
from tests.support.maestro_cli import agent, cli, client, consumer, files

__all__ = ["agent", "cli", "client", "consumer", "files"]


@pytest.fixture
async def server(servers: str, request: pytest.FixtureRequest) -> AsyncIterator[MaestroServer]:
    if servers == "real":
        yield request.getfixturevalue("real_maestro")("plain")
        return
    async with LabMaestro(heartbeat_seconds=1.0) as running:
        yield standin(running, identity={"insecure": True})
