"""The sidecar's process with a Job and its pod, on the stand-in API server or on the real one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lab.kubernetes import LabKubernetes
from tests.support.kubernetes import Api, KubernetesServer, admin, standin
from tests.support.reporter import Scene, scene_on


@pytest.fixture
async def server(servers: str, request: pytest.FixtureRequest) -> AsyncIterator[KubernetesServer]:
    if servers == "real":
        yield request.getfixturevalue("real_kubernetes")
        return
    async with LabKubernetes() as running:
        yield standin(running)


@pytest.fixture
async def api(server: KubernetesServer) -> AsyncIterator[Api]:
    async with admin(server) as api:
        yield api


@pytest.fixture
async def scene(server: KubernetesServer, api: Api, tmp_path: Path) -> AsyncIterator[Scene]:
    async with scene_on(server, api, tmp_path) as scene:
        yield scene
