"""RabbitMQ and a Kubernetes API server, both real, around a dispatcher; the HyperFleet API is the stand-in."""

import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aio_pika
import pytest
from aio_pika.abc import AbstractConnection

from dispatcher.brokers.rabbitmq import RabbitSettings, RabbitSubscription
from lab.api import LabApi
from lab.real.servers.rabbitmq import RealRabbitMq
from lab.sentinel import Publisher
from lab.sentinel.rabbitmq import RabbitPublisher
from tests.support.dispatcher import System, cluster_client
from tests.support.kubernetes import KubernetesServer
from tests.support.small_adapter import ADAPTER, TOPIC


class RabbitBroker:
    """The real RabbitMQ. `kill` and `start` keep its durable queues."""

    def __init__(self, server: RealRabbitMq) -> None:
        self._server = server
        self._connection: AbstractConnection | None = None

    @property
    def section(self) -> dict[str, Any]:
        return {"type": "rabbitmq", "rabbitmq": {"url": self._server.url, "exchange_type": "topic"}}

    async def declare(self) -> None:
        """The adapter's queue, empty, so that nothing that is published before it starts is dropped."""
        settings = RabbitSettings(url=self._server.url, topic=TOPIC, subscription=ADAPTER)
        connection = await RabbitSubscription(settings).connect(lambda _: None)
        await connection.close()
        async with await aio_pika.connect(self._server.url) as admin, admin.channel() as channel:
            await (await channel.get_queue(settings.queue_name)).purge()

    async def publish(self, body: bytes) -> None:
        if self._connection is None or self._connection.is_closed:
            self._connection = await aio_pika.connect(self._server.url)
            self._channel = await self._connection.channel()
        exchange = await self._channel.get_exchange(TOPIC, ensure=False)
        await exchange.publish(aio_pika.Message(body, delivery_mode=2), routing_key="")

    def publisher(self) -> Publisher:
        return RabbitPublisher(self._server.url)

    async def kill(self) -> None:
        await self.close()
        self._server.kill()

    async def start(self) -> None:
        self._server.start()

    async def close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(Exception):
                await self._connection.close()


@pytest.fixture(scope="session")
def rabbitmq(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealRabbitMq]:
    server = RealRabbitMq(tmp_path_factory.mktemp("rabbitmq"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def system(tmp_path: Path, rabbitmq: RealRabbitMq, real_kubernetes: KubernetesServer) -> AsyncIterator[System]:
    broker = RabbitBroker(rabbitmq)
    await broker.declare()
    async with (
        LabApi(required_adapters={"Cluster": [ADAPTER]}) as api,
        cluster_client(tmp_path, real_kubernetes) as client,
    ):
        yield System(tmp_path, api, broker, real_kubernetes, client)
    await broker.close()
