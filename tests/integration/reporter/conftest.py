"""The stand-in API server, one per test; `lab` is it from the inside, where faults are set and requests counted."""

from collections.abc import AsyncIterator

import pytest

from lab.kubernetes import LabKubernetes
from tests.contracts.kubernetes_ground import Ground, ground_of
from tests.integration.kubernetes.conftest import api

__all__ = ["api"]


@pytest.fixture
async def lab() -> AsyncIterator[LabKubernetes]:
    async with LabKubernetes() as server:
        yield server


@pytest.fixture
def kube(lab: LabKubernetes) -> Ground:
    return ground_of(lab)
