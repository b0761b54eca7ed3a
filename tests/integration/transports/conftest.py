"""The stand-in API server, which fails on purpose, and a client of it in a namespace of the test's own."""

from collections.abc import AsyncIterator

import pytest

from lab.kubernetes import EVERYTHING, LabKubernetes
from shared.kubernetes import KubernetesClient
from tests.support.kubernetes import standin, unique
from tests.support.kubernetes_client import access_of


@pytest.fixture
async def server() -> AsyncIterator[LabKubernetes]:
    async with LabKubernetes() as server:
        yield server


@pytest.fixture
async def client(server: LabKubernetes) -> AsyncIterator[KubernetesClient]:
    # Not the admin, whom the stand-in spares from faults.
    async with KubernetesClient(access_of(standin(server), server.new_token(EVERYTHING))) as client:
        yield client


@pytest.fixture
async def namespace(client: KubernetesClient) -> str:
    name = unique("test")
    await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name
