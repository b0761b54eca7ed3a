"""A connection that breaks while an event is on its way."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from lab.sentinel.events import Event, reconcile_event
from lab.sentinel.rabbitmq import RabbitPublisher
from shared.errors import Unavailable


class Exchange:
    """An exchange whose every publish ends in one outcome."""

    def __init__(self, outcome: Any) -> None:
        self._outcome = outcome
        self.asked = asyncio.Event()

    async def publish(self, *_: Any, **__: Any) -> None:
        self.asked.set()
        await self._outcome()


class Publisher(RabbitPublisher):
    def __init__(self, exchange: Exchange) -> None:
        super().__init__("amqp://127.0.0.1:1/")
        self._only = exchange

    async def _exchange(self, _: str) -> Any:
        return self._only


@pytest.fixture
def event() -> Event:
    cluster = {"kind": "Cluster", "id": "c1", "href": "/api/hyperfleet/v1/clusters/c1", "generation": 1}
    return reconcile_event(cluster, datetime(2026, 1, 1, tzinfo=UTC))


async def test_what_the_library_cancels_is_a_broker_that_is_away(event: Event) -> None:
    async def cancelled() -> None:
        raise asyncio.CancelledError

    with pytest.raises(Unavailable, match="did not take the event"):
        await Publisher(Exchange(cancelled)).publish("topic", event)


async def test_a_publisher_that_is_cancelled_ends(event: Event) -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    exchange = Exchange(forever)
    task = asyncio.create_task(Publisher(exchange).publish("topic", event))
    await exchange.asked.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
