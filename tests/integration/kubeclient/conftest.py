"""The stand-in API server, one per test, and a client of it in a namespace of the test's own."""

import uuid
from collections.abc import AsyncIterator

import pytest

from lab.kubernetes import EVERYTHING, LabKubernetes
from shared.kubernetes import Access, FixedAccess, KubernetesClient


@pytest.fixture
async def server() -> AsyncIterator[LabKubernetes]:
    async with LabKubernetes(bookmark_seconds=1) as server:
        yield server


@pytest.fixture
async def client(server: LabKubernetes) -> AsyncIterator[KubernetesClient]:
    # Not the admin, whom the stand-in spares from faults.
    token = server.new_token(EVERYTHING)
    access = Access(server=server.url, authorization=f"Bearer {token}", ca_file=server.ca_file)
    async with KubernetesClient(FixedAccess(access)) as client:
        yield client


@pytest.fixture
async def namespace(client: KubernetesClient) -> str:
    name = f"test-{uuid.uuid4().hex[:8]}"
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name
