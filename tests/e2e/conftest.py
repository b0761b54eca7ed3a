"""The real API server, and the admin's requests to it in a namespace of each test."""

from collections.abc import AsyncIterator

import pytest

from tests.support.kubernetes import Api, KubernetesServer, admin
from tests.support.servers import real_kubernetes

__all__ = ["real_kubernetes"]


@pytest.fixture
async def api(real_kubernetes: KubernetesServer) -> AsyncIterator[Api]:
    async with admin(real_kubernetes) as api:
        yield api
