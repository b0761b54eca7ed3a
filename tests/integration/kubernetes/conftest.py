"""The stand-in API server, one per test."""

from collections.abc import AsyncIterator

import pytest

from lab.kubernetes import LabKubernetes
from tests.contracts.kubernetes_ground import Api, Ground, admin


@pytest.fixture
async def kube() -> AsyncIterator[Ground]:
    async with LabKubernetes() as server:

        async def forget() -> None:
            server.faults.expire_history()

        yield Ground(
            url=server.url,
            admin_token=server.admin_token,
            ca_file=server.ca_file,
            kill=server.kill,
            start=server.start,
            forget=forget,
        )


@pytest.fixture
async def api(kube: Ground) -> AsyncIterator[Api]:
    async with admin(kube) as api:
        yield api
