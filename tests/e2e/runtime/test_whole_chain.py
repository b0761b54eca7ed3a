"""A cluster in the real HyperFleet API, events over RabbitMQ, Jobs on a real Kubernetes API server, the status back.

Only Sentinel and the containers of the Jobs are ours.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from lab.real.servers.hyperfleet_api import RealHyperFleetApi
from lab.real.servers.postgres import Postgres
from lab.real.servers.rabbitmq import RealRabbitMq
from lab.sentinel import LabSentinel, Sentinel
from lab.sentinel.rabbitmq import RabbitPublisher
from tests.support.dispatcher import ENVIRONMENT, SOON, DispatcherProcess, JobWorker, cluster_client
from tests.support.hyperfleet_api import Api
from tests.support.kubernetes import KubernetesServer
from tests.support.servers import real_postgres
from tests.support.small_adapter import ADAPTER, TOPIC, write_files

__all__ = ["real_postgres"]


@pytest.fixture
def hyperfleet_api(real_postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealHyperFleetApi]:
    folder = tmp_path_factory.mktemp("api")
    server = RealHyperFleetApi(folder, real_postgres, "chain", required_adapters={"Cluster": [ADAPTER], "NodePool": []})
    server.prepare()
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def api(hyperfleet_api: RealHyperFleetApi) -> AsyncIterator[Api]:
    async with httpx.AsyncClient(base_url=hyperfleet_api.url, timeout=120) as http:
        yield Api(http)


async def test_a_cluster_is_reconciled_changed_and_finalized(
    hyperfleet_api: RealHyperFleetApi,
    api: Api,
    rabbitmq: RealRabbitMq,
    real_kubernetes: KubernetesServer,
    tmp_path: Path,
) -> None:
    arguments = write_files(
        tmp_path,
        api_url=hyperfleet_api.url,
        kubeconfig=str(tmp_path / "kubeconfig"),
        broker={"broker": {"type": "rabbitmq", "rabbitmq": {"url": rabbitmq.url}}},
    )
    settings = Sentinel(
        api_url=hyperfleet_api.url,
        topic=TOPIC,
        poll_interval=timedelta(seconds=0.5),
        debounce=timedelta(seconds=1),
        page_size=100,
    )
    async with (
        cluster_client(tmp_path, real_kubernetes) as client,
        DispatcherProcess(arguments, ENVIRONMENT) as dispatcher,
        JobWorker(client),
    ):
        await dispatcher.serving()
        async with LabSentinel(settings, RabbitPublisher(rabbitmq.url)):
            cluster = await api.create_cluster()
            await _until_reconciled(api, cluster, generation=1)
            await api.patch(cluster, spec={"size": 2})
            await _until_reconciled(api, cluster, generation=2)
            await api.delete(cluster)
            async with asyncio.timeout(SOON):
                while not await api.is_gone(cluster):  # noqa: ASYNC110 - the API has no events
                    await asyncio.sleep(0.2)
        assert await dispatcher.terminate() == 0


async def _until_reconciled(api: Api, cluster: dict[str, Any], *, generation: int) -> None:
    seen: Any = None
    try:
        async with asyncio.timeout(SOON):
            while (seen := _reconciled(await api.reread(cluster))) != (generation, "True"):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
    except TimeoutError:
        raise AssertionError(f"generation {generation} is not reconciled; the API says {seen}") from None


def _reconciled(cluster: dict[str, Any]) -> tuple[int, str]:
    found = next(each for each in cluster["status"]["conditions"] if each["type"] == "Reconciled")
    return cluster["generation"], found["status"]
