"""Sentinel's events on a real RabbitMQ: the topology and the properties of the Go library, and a broker that returns."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import uuid4

import aio_pika
import pytest
from aio_pika.abc import AbstractQueue

from lab.real.servers.rabbitmq import RealRabbitMq
from lab.sentinel.events import Event, reconcile_event
from lab.sentinel.rabbitmq import RabbitPublisher
from shared.errors import Unavailable

DEADLINE = 240.0


@pytest.fixture
def event() -> Event:
    cluster = {"kind": "Cluster", "id": "c1", "href": "/api/hyperfleet/v1/clusters/c1", "generation": 1}
    return reconcile_event(cluster, datetime(2026, 1, 1, tzinfo=UTC))


@contextlib.asynccontextmanager
async def bound_queue(real_rabbitmq: RealRabbitMq, topic: str) -> AsyncIterator[AbstractQueue]:
    """A queue as an adapter declares it."""
    async with await aio_pika.connect(real_rabbitmq.url) as connection:
        channel = await connection.channel()
        exchange = await channel.declare_exchange(topic, "topic", durable=True)
        queue = await channel.declare_queue(f"{topic}-adapter", durable=True)
        await queue.bind(exchange, routing_key="")
        yield queue


async def publish_when_it_is_back(publisher: RabbitPublisher, topic: str, event: Event) -> None:
    """As Sentinel does with every poll: a server that greets may refuse a little longer."""
    async with asyncio.timeout(DEADLINE):
        while True:
            try:
                return await publisher.publish(topic, event)
            except Unavailable:
                await asyncio.sleep(0.2)


async def test_an_event_has_the_properties_that_the_go_library_sends(real_rabbitmq: RealRabbitMq, event: Event) -> None:
    topic = f"clusters-{uuid4()}"
    async with bound_queue(real_rabbitmq, topic) as queue, RabbitPublisher(real_rabbitmq.url) as publisher:
        await publisher.publish(topic, event)

        message = await queue.get(timeout=DEADLINE, no_ack=True)

        assert message.body == event.body
        assert message.headers == {"_watermill_message_uuid": event.id}
        assert (message.exchange, message.routing_key) == (topic, "")
        assert message.delivery_mode == aio_pika.DeliveryMode.PERSISTENT
        assert (message.content_type, message.content_encoding, message.timestamp, message.type) == (None,) * 4
        assert message.message_id == event.id


async def test_an_event_without_a_queue_is_dropped(real_rabbitmq: RealRabbitMq, event: Event) -> None:
    topic = f"clusters-{uuid4()}"
    async with RabbitPublisher(real_rabbitmq.url) as publisher:
        await publisher.publish(topic, event)

    async with bound_queue(real_rabbitmq, topic) as queue:
        assert await queue.get(fail=False) is None


async def test_an_exchange_of_another_type_is_reported(real_rabbitmq: RealRabbitMq, event: Event) -> None:
    topic = f"clusters-{uuid4()}"
    async with (
        bound_queue(real_rabbitmq, topic),
        RabbitPublisher(real_rabbitmq.url, exchange_type="fanout") as publisher,
    ):
        with pytest.raises(Unavailable, match="PRECONDITION_FAILED"):
            await publisher.publish(topic, event)


async def test_a_rabbitmq_that_was_away_gets_the_next_events(real_rabbitmq: RealRabbitMq, event: Event) -> None:
    """What it was sent and declared just before it was killed may be lost, so both are done again."""
    topic = f"clusters-{uuid4()}"
    async with RabbitPublisher(real_rabbitmq.url) as publisher:
        await publisher.publish(topic, event)
        real_rabbitmq.kill()
        with pytest.raises(Unavailable):
            await publisher.publish(topic, event)

        real_rabbitmq.start()

        await publish_when_it_is_back(publisher, topic, event)
        async with bound_queue(real_rabbitmq, topic) as queue:
            await publisher.publish(topic, event)
            assert (await queue.get(timeout=DEADLINE, no_ack=True)).body == event.body


async def test_a_rabbitmq_that_is_not_there_is_an_error() -> None:
    with pytest.raises(Unavailable) as refused:
        async with RabbitPublisher("amqp://somebody:secret@127.0.0.1:1/"):
            pass

    assert "127.0.0.1:1" in str(refused.value)
    assert "secret" not in str(refused.value)
