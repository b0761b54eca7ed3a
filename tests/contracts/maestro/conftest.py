"""A Maestro of one authentication mode: the stand-in, one per test, or the real one. A module may override `mode`."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lab.maestro import LabMaestro
from tests.support.maestro import MaestroServer, identity_for, standin, tls_for
from tests.support.pki import Pki


@pytest.fixture
def mode() -> str:
    return "plain"


@pytest.fixture
async def server(
    servers: str, mode: str, pki: Pki, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[MaestroServer]:
    if servers == "real":
        yield request.getfixturevalue("real_maestro")(mode)
        return
    async with LabMaestro(heartbeat_seconds=1.0, tls=tls_for(mode, pki)) as running:
        yield standin(running, mode, identity_for(mode, pki, tmp_path))
