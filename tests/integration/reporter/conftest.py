"""The stand-in API server, one per test; `lab` is it from the inside, where faults are set and requests counted."""

from collections.abc import AsyncIterator

import pytest

from lab.kubernetes import LabKubernetes
from tests.support.kubernetes import Api, KubernetesServer, admin, standin


@pytest.fixture
async def lab() -> AsyncIterator[LabKubernetes]:
    async with LabKubernetes() as server:
        yield server


@pytest.fixture
def server(lab: LabKubernetes) -> KubernetesServer:
    return standin(lab)


@pytest.fixture
async def api(server: KubernetesServer) -> AsyncIterator[Api]:
    async with admin(server) as api:
        yield api
