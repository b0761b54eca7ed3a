"""The stand-in API server, one per test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lab.kubernetes import LabKubernetes
from lab.kubernetes.jobs import JobRunner
from tests.contracts.kubernetes_ground import Api, Ground, admin, ground_of
from tests.contracts.kubernetes_jobs_ground import runner_of


@pytest.fixture
async def kube() -> AsyncIterator[Ground]:
    async with LabKubernetes() as server:
        yield ground_of(server)


@pytest.fixture
async def api(kube: Ground) -> AsyncIterator[Api]:
    async with admin(kube) as api:
        yield api


@pytest.fixture
async def runner(kube: Ground, api: Api, tmp_path: Path) -> AsyncIterator[JobRunner]:
    async with runner_of(kube, api, tmp_path) as running:
        yield running
