"""A RabbitMQ that keeps its connections and says nothing any more: its consumer notices by the missing heartbeats."""

import asyncio

import pytest

from dispatcher.brokers.rabbitmq import RabbitSettings, RabbitSubscription
from lab.real.servers.rabbitmq import RealRabbitMq
from shared.errors import Unavailable

DEADLINE = 240.0


async def test_a_silent_rabbitmq_is_a_lost_connection_and_named_as_silent(real_rabbitmq: RealRabbitMq) -> None:
    settings = RabbitSettings(url=f"{real_rabbitmq.url}?heartbeat=1", topic="silent", subscription="adapter")
    connection = await RabbitSubscription(settings).connect(lambda _: None)

    with real_rabbitmq.paused():
        with pytest.raises(Unavailable) as lost:
            async with asyncio.timeout(DEADLINE):
                await connection.wait_lost()
        await connection.close()

    assert str(lost.value) == f"RabbitMQ at {settings.host} is silent: no message and no heartbeat came in time"
