"""The wire, both ways, with `hyperfleet-broker`, through which Sentinel publishes and Go adapters consume."""

import asyncio
import contextlib
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import aio_pika
import grpc
import pytest
import yaml
from aio_pika.exceptions import ChannelNotFoundEntity, PublishError
from google.pubsub_v1 import PublisherAsyncClient
from google.pubsub_v1.services.publisher.transports import PublisherGrpcAsyncIOTransport
from google.pubsub_v1.types import PubsubMessage

from dispatcher.brokers.events import parse
from dispatcher.brokers.port import Subscription
from dispatcher.brokers.pubsub import PubSubSettings, PubSubSubscription
from dispatcher.brokers.pubsub_setup import PubSubSetup, create_missing
from dispatcher.brokers.rabbitmq import RabbitSettings, RabbitSubscription
from lab.real.artifacts.go_binaries import built
from lab.real.servers.pubsub import RealPubSub
from lab.real.servers.rabbitmq import RealRabbitMq
from tests.support.brokers import SOON, Inbox
from tests.support.maestro import unique

EVENT = {
    "specversion": "1.0",
    "id": "01a1e1b6-aab7-758f-9e9a-90dad7880f3b",
    "source": "hyperfleet-sentinel",
    "type": "com.redhat.hyperfleet.cluster.reconcile",
    "datacontenttype": "application/json",
    "data": {"generation": 1, "href": "/api/hyperfleet/v1/clusters/01a1", "id": "01a1", "kind": "Cluster"},
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
}


@pytest.fixture(scope="module")
def rabbitmq(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealRabbitMq]:
    server = RealRabbitMq(tmp_path_factory.mktemp("rabbitmq"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def pubsub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealPubSub]:
    server = RealPubSub(tmp_path_factory.mktemp("pubsub"))
    server.prepare()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def topic() -> str:
    return unique("topic")


class GoLibrary:
    """The Go program, as publisher and consumer, with one broker's configuration."""

    def __init__(
        self, folder: Path, broker: Mapping[str, object], environment: Mapping[str, str] | None = None
    ) -> None:
        self._binary = built("broker-wire", "hyperfleet.io/lab/broker-wire")
        config = folder / "broker.yaml"
        config.write_text(yaml.safe_dump({"broker": dict(broker)}))
        self._environment = os.environ | {"BROKER_CONFIG_FILE": str(config)} | dict(environment or {})

    async def publish(self, topic: str, *events: Mapping[str, object]) -> None:
        async with self._process("publish", topic) as process:
            assert process.stdin is not None
            for each in events:
                process.stdin.write(json.dumps(dict(each)).encode() + b"\n")
                assert await self.line(process) == "published"

    @contextlib.asynccontextmanager
    async def consuming(self, topic: str, subscription: str) -> AsyncIterator[Process]:
        async with self._process("consume", topic, subscription) as process:
            assert await self.line(process) == "subscribed"
            yield process

    async def line(self, process: Process) -> str:
        assert process.stdout is not None
        async with asyncio.timeout(SOON):
            return (await process.stdout.readline()).decode().strip()

    @contextlib.asynccontextmanager
    async def _process(self, *arguments: str) -> AsyncIterator[Process]:
        process = await asyncio.create_subprocess_exec(
            self._binary, *arguments, stdin=PIPE, stdout=PIPE, env=self._environment
        )
        try:
            yield process
        finally:
            assert process.stdin is not None
            process.stdin.close()
            async with asyncio.timeout(SOON):
                await process.communicate()


async def publish_once_bound(url: str, topic: str, message: aio_pika.Message) -> None:
    """The Go library says `subscribed` before its queue is bound; until then RabbitMQ returns what is published."""
    async with asyncio.timeout(SOON), await aio_pika.connect(url) as connection:
        while True:
            with contextlib.suppress(ChannelNotFoundEntity, PublishError):
                async with connection.channel(on_return_raises=True) as channel:
                    await (await channel.get_exchange(topic)).publish(message, routing_key="")
                    return
            await asyncio.sleep(0.05)


class TestRabbitMq:
    @pytest.fixture
    def library(self, rabbitmq: RealRabbitMq, tmp_path: Path) -> GoLibrary:
        return GoLibrary(tmp_path, {"type": "rabbitmq", "rabbitmq": {"url": rabbitmq.url, "exchange_type": "topic"}})

    @pytest.fixture
    def subscription(self, rabbitmq: RealRabbitMq, topic: str) -> Subscription:
        return RabbitSubscription(RabbitSettings(url=rabbitmq.url, topic=topic, subscription="dns"))

    async def test_we_read_what_the_go_library_publishes(
        self, library: GoLibrary, subscription: Subscription, topic: str
    ) -> None:
        inbox = Inbox()
        connection = await subscription.connect(inbox.deliver)
        await library.publish(topic, EVENT)
        (message,) = await inbox.until(1)
        key, event = parse(message.body)
        assert str(key) == "Cluster/01a1"
        assert event.data == EVENT["data"]
        assert event.extensions == {"traceparent": EVENT["traceparent"]}
        await message.ack()
        await connection.close()

    async def test_the_go_library_reads_what_we_publish_as_sentinel_would(
        self, library: GoLibrary, rabbitmq: RealRabbitMq, topic: str
    ) -> None:
        async with library.consuming(topic, "dns") as consumer:
            headers = {"_watermill_message_uuid": str(EVENT["id"])}
            message = aio_pika.Message(json.dumps(EVENT).encode(), headers=dict(headers), delivery_mode=2)
            await publish_once_bound(rabbitmq.url, topic, message)
            assert json.loads(await library.line(consumer)) == EVENT

    async def test_either_takes_over_the_queue_of_the_other(
        self, library: GoLibrary, subscription: Subscription, topic: str
    ) -> None:
        """Declared with any other argument, RabbitMQ would close the channel."""
        async with library.consuming(topic, "dns"):
            pass
        inbox = Inbox()
        connection = await subscription.connect(inbox.deliver)
        await library.publish(topic, EVENT)
        (message,) = await inbox.until(1)
        await message.give_back()
        await connection.close()
        async with library.consuming(topic, "dns") as consumer:
            assert json.loads(await library.line(consumer)) == EVENT


def setup_of(topic: str) -> PubSubSetup:
    return PubSubSetup(project="p", topic=topic, subscription=topic, create_topic=True, create_subscription=True)


class TestPubSub:
    @pytest.fixture
    def library(self, pubsub: RealPubSub, tmp_path: Path) -> GoLibrary:
        settings = {"project_id": "p", "create_topic_if_missing": True, "create_subscription_if_missing": True}
        environment = {"PUBSUB_EMULATOR_HOST": pubsub.address}
        return GoLibrary(tmp_path, {"type": "googlepubsub", "googlepubsub": settings}, environment)

    async def test_we_read_what_the_go_library_publishes(
        self, library: GoLibrary, pubsub: RealPubSub, topic: str
    ) -> None:
        settings = PubSubSettings(project="p", subscription=topic, emulator=pubsub.address)
        inbox = Inbox()
        connection = await PubSubSubscription(
            settings, prepare=lambda channel: create_missing(setup_of(topic), channel)
        ).connect(inbox.deliver)
        await library.publish(topic, EVENT)
        (message,) = await inbox.until(1)
        _, event = parse(message.body)
        assert event.data == EVENT["data"]
        await message.ack()
        await connection.close()

    async def test_the_go_library_reads_what_we_publish_as_sentinel_would(
        self, library: GoLibrary, pubsub: RealPubSub, topic: str
    ) -> None:
        async with grpc.aio.insecure_channel(pubsub.address) as channel:
            publisher = PublisherAsyncClient(transport=PublisherGrpcAsyncIOTransport(channel=channel))
            path = f"projects/p/topics/{topic}"
            await create_missing(setup_of(topic), channel)
            async with library.consuming(topic, topic) as consumer:
                attributes = {"_watermill_message_uuid": str(EVENT["id"])}
                message = PubsubMessage(data=json.dumps(EVENT).encode(), attributes=attributes)
                await publisher.publish(topic=path, messages=[message])
                assert json.loads(await library.line(consumer)) == EVENT
