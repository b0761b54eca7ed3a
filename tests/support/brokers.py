"""A broker for the contract suite, whichever it is, and a consumer that collects what it gets."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import aio_pika
import grpc
from google.pubsub_v1 import PublisherAsyncClient
from google.pubsub_v1.services.publisher.transports import PublisherGrpcAsyncIOTransport
from google.pubsub_v1.types import PubsubMessage

from dispatcher.brokers.embedded import EmbeddedSettings, EmbeddedSubscription
from dispatcher.brokers.port import Message, Subscription
from dispatcher.brokers.pubsub import PubSubSettings, PubSubSubscription
from dispatcher.brokers.pubsub_setup import PubSubSetup, create_missing
from dispatcher.brokers.rabbitmq import RabbitSettings, RabbitSubscription
from lab.broker import LabBroker
from lab.real.servers.pubsub import RealPubSub
from lab.real.servers.rabbitmq import RealRabbitMq
from tests.support.maestro import Cutter, unique
from tests.support.pubsub_server import PubSubServer

TOPIC = "hyperfleet-clusters"

# Generous, because the machine may be slow; nothing waits this long unless it is broken.
SOON = 240.0


class MakeSubscription(Protocol):
    def __call__(self, name: str = "adapter", *, prefetch: int = 100, lease: int = 600) -> Subscription:
        """`lease` is how many seconds a message is held, where the test's own server measures them."""


@dataclass(frozen=True, kw_only=True)
class BrokerServer:
    """One topic. `kill` and `start` are a crash and a return that keeps messages, as a durable broker does.

    `has_flow_control` is False for a broker that delivers without regard to the prefetch.
    """

    subscription: MakeSubscription
    publish: Callable[[bytes], Awaitable[None]]
    kill: Callable[[], Awaitable[None]]
    start: Callable[[], Awaitable[None]]
    has_flow_control: bool = True


def small_pubsub_settings(
    server: PubSubServer, subscription: str, *, lease: int = 600, prefetch: int = 100
) -> PubSubSettings:
    """A machine that stalls outlasts the seconds of the product. Our own server answers every call, and at once."""
    return PubSubSettings(
        project="p",
        subscription=subscription,
        emulator=server.address,
        ack_deadline_seconds=lease,
        max_outstanding_messages=prefetch,
        header_grace_seconds=SOON,
        call_timeout_seconds=SOON,
        stop_timeout_seconds=SOON,
    )


@asynccontextmanager
async def embedded(topic: str = TOPIC) -> AsyncIterator[BrokerServer]:
    """The lab's broker."""
    async with LabBroker() as server:

        def subscription(name: str = "adapter", *, prefetch: int = 100, lease: int = 600) -> Subscription:
            settings = EmbeddedSettings(address=server.address, topic=topic, subscription=name, prefetch_count=prefetch)
            return EmbeddedSubscription(settings)

        async def publish(body: bytes) -> None:
            server.publish(topic, body)

        yield BrokerServer(subscription=subscription, publish=publish, kill=server.kill, start=server.start)


@asynccontextmanager
async def small_pubsub(topic: str = TOPIC) -> AsyncIterator[BrokerServer]:
    """Pub/Sub in the test's own process."""
    async with PubSubServer() as server:

        def subscription(name: str = "adapter", *, prefetch: int = 100, lease: int = 600) -> Subscription:
            settings = small_pubsub_settings(server, name, lease=lease, prefetch=prefetch)
            server.subscribe(topic, settings.path)
            return PubSubSubscription(settings)

        async def publish(body: bytes) -> None:
            await server.publish(topic, body)

        yield BrokerServer(subscription=subscription, publish=publish, kill=server.kill, start=server.start)


@asynccontextmanager
async def rabbitmq(server: RealRabbitMq) -> AsyncIterator[BrokerServer]:
    """A topic of its own on the real RabbitMQ; publishes as Sentinel's library does."""
    topic = unique("topic")

    def subscription(name: str = "adapter", *, prefetch: int = 100, lease: int = 600) -> Subscription:
        return RabbitSubscription(
            RabbitSettings(url=server.url, topic=topic, subscription=name, prefetch_count=prefetch)
        )

    async def publish(body: bytes) -> None:
        async with await aio_pika.connect(server.url) as connection, connection.channel() as channel:
            exchange = await channel.get_exchange(topic)
            message = aio_pika.Message(body, delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
            await exchange.publish(message, routing_key="", mandatory=False)

    # In the thread of the tests, because a server ends with the thread that started it.
    async def kill() -> None:
        server.kill()

    async def start() -> None:
        server.start()

    yield BrokerServer(subscription=subscription, publish=publish, kill=kill, start=start)


@asynccontextmanager
async def google_pubsub(server: RealPubSub) -> AsyncIterator[BrokerServer]:
    """Google's fake server, behind a relay: it forgets everything when it ends, so only connections to it break."""
    topic = unique("topic")
    async with Cutter(server.address) as relay, grpc.aio.insecure_channel(server.address) as channel:
        publisher = PublisherAsyncClient(transport=PublisherGrpcAsyncIOTransport(channel=channel))

        def subscription(name: str = "adapter", *, prefetch: int = 100, lease: int = 600) -> Subscription:
            settings = PubSubSettings(
                project="p",
                subscription=f"{topic}-{name}",
                emulator=relay.address,
                ack_deadline_seconds=10,
                max_outstanding_messages=prefetch,
            )
            setup = PubSubSetup(
                project="p", topic=topic, subscription=f"{topic}-{name}", create_topic=True, create_subscription=True
            )
            return PubSubSubscription(settings, prepare=partial(create_missing, setup))

        async def publish(body: bytes) -> None:
            await publisher.publish(topic=f"projects/p/topics/{topic}", messages=[PubsubMessage(data=body)])

        async def kill() -> None:
            relay.cut()

        async def start() -> None:
            relay.mend()

        yield BrokerServer(subscription=subscription, publish=publish, kill=kill, start=start, has_flow_control=False)


@dataclass
class Inbox:
    """What was delivered, in order."""

    messages: list[Message] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def deliver(self, message: Message) -> None:
        self.messages.append(message)
        self.news.set()

    @property
    def bodies(self) -> list[bytes]:
        return [message.body for message in self.messages]

    async def until(self, count: int) -> list[Message]:
        try:
            async with asyncio.timeout(SOON):
                while len(self.messages) < count:
                    self.news.clear()
                    await self.news.wait()
        except TimeoutError:
            raise AssertionError(f"waited for {count} messages, got {self.bodies}") from None
        return self.messages[:count]
