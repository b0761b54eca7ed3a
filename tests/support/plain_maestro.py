"""A Maestro that asks for no credentials, the stand-in or the real one, as a fixture."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lab.maestro import LabMaestro
from tests.support.maestro import MaestroServer, identity_for, standin
from tests.support.pki import Pki


@pytest.fixture
async def maestro_server(
    servers: str, pki: Pki, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[MaestroServer]:
    if servers == "real":
        yield request.getfixturevalue("real_maestro")("plain")
        return
    async with LabMaestro(heartbeat_seconds=1.0) as running:
        yield standin(running, "plain", identity_for("plain", pki, tmp_path))
