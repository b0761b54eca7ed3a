"""Connections to all ports of Maestro, without our client."""

from collections.abc import AsyncIterator

import pytest

from tests.support.maestro import MaestroServer
from tests.support.maestro_wire import Wire, connected


@pytest.fixture
async def wire(server: MaestroServer) -> AsyncIterator[Wire]:
    async with connected(server) as wire:
        yield wire
