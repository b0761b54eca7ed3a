"""The stand-in Maestro with one management cluster, and the adapter as a process that knows them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lab.maestro import LabMaestro
from lab.maestro.agent import Agent
from shared.maestro import MaestroClient, MaestroSettings, Works
from tests.support.adapter import Adapter

CONSUMER = "us-east-mgmt-01"


@pytest.fixture
async def maestro() -> AsyncIterator[LabMaestro]:
    async with LabMaestro(heartbeat_seconds=1.0) as server:
        yield server


@pytest.fixture
def adapter(maestro: LabMaestro, tmp_path: Path) -> Adapter:
    return Adapter(
        tmp_path,
        {
            "MAESTRO_API_URL": maestro.rest_url,
            "MAESTRO_GRPC_URL": maestro.grpc_address,
            "MAESTRO_INSECURE": "true",
            "MANAGEMENT_CLUSTER_CONSUMER": CONSUMER,
        },
    )


@pytest.fixture
async def client(maestro: LabMaestro) -> AsyncIterator[MaestroClient]:
    settings = MaestroSettings(
        grpc_server_address=maestro.grpc_address,
        http_server_address=maestro.rest_url,
        source_id="controlplane-adapter",
        insecure=True,
    )
    async with MaestroClient(settings) as connected:
        await connected.consumers.create(CONSUMER)
        yield connected


@pytest.fixture
def works(client: MaestroClient) -> Works:
    return client.works(CONSUMER)


@pytest.fixture
async def agent(maestro: LabMaestro, works: Works) -> AsyncIterator[Agent]:
    async with Agent(maestro.broker_address, works.consumer) as connected:
        yield connected
