"""A Job with its pod on a stand-in API server, for the sidecar."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lab.kubernetes import LabKubernetes
from tests.support.kubernetes import admin, standin
from tests.support.reporter import Scene, scene_on


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with LabKubernetes() as running:
        server = standin(running)
        async with admin(server) as api, scene_on(server, api, tmp_path) as scene:
            yield scene
