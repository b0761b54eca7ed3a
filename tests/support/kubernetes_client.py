"""Our Kubernetes client on an API server under test."""

from collections.abc import AsyncIterator

import pytest

from lab.kubernetes import LabKubernetes
from shared.kubernetes import Access, FixedAccess, KubernetesClient
from tests.support.kubernetes import KubernetesServer, standin, unique


def access_of(server: KubernetesServer, token: str = "") -> FixedAccess:
    """The admin's, or that of another token."""
    authorization = f"Bearer {token or server.admin_token}"
    return FixedAccess(Access(server=server.url, authorization=authorization, ca_file=server.ca_file))


@pytest.fixture
async def server(servers: str, request: pytest.FixtureRequest) -> AsyncIterator[KubernetesServer]:
    """The stand-in, one per test, or the real one."""
    if servers == "real":
        yield request.getfixturevalue("real_kubernetes")
        return
    async with LabKubernetes() as running:
        yield standin(running)


@pytest.fixture
async def client(server: KubernetesServer) -> AsyncIterator[KubernetesClient]:
    async with KubernetesClient(access_of(server)) as client:
        yield client


@pytest.fixture
async def namespace(client: KubernetesClient) -> str:
    """One of the test's own."""
    name = unique("test")
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name
