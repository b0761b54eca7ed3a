"""An API server: the stand-in, one per test, or the real one with a namespace per test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lab.kubernetes import LabKubernetes
from lab.kubernetes.jobs import JobRunner
from tests.support.kubernetes import Api, KubernetesServer, admin, standin
from tests.support.kubernetes_jobs import runner_of


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
async def runner(server: KubernetesServer, api: Api, tmp_path: Path) -> AsyncIterator[JobRunner]:
    async with runner_of(server, api, tmp_path) as running:
        yield running
