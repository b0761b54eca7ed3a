"""A subscription that stays connected, or says for how long it was not."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import pytest

from dispatcher.brokers import consuming
from dispatcher.brokers.consuming import BrokerLost, Consumer
from dispatcher.brokers.port import Deliver
from shared.errors import Misconfigured, Unavailable

SOON = 240.0


class FakeConnection:
    def __init__(self) -> None:
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.stopped = False
        self.closed = False

    async def wait_lost(self) -> None:
        await asyncio.shield(self.lost)

    async def stop(self) -> None:
        self.stopped = True

    async def close(self) -> None:
        self.closed = True


@dataclass
class FakeSubscription:
    """Connects, or fails, as the list says; at its end it connects."""

    failures: list[BaseException] = field(default_factory=list)
    connections: list[FakeConnection] = field(default_factory=list)
    attempts: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    description: str = "the fake"

    async def connect(self, deliver: Deliver) -> FakeConnection:
        self.attempts += 1
        self.news.set()
        if self.failures:
            raise self.failures.pop(0)
        connection = FakeConnection()
        self.connections.append(connection)
        return connection

    async def until(self, happened: Callable[[], bool]) -> None:
        async with asyncio.timeout(SOON):
            while not happened():
                self.news.clear()
                await self.news.wait()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consuming, "FIRST_RECONNECT_SECONDS", 0.001)
    monkeypatch.setattr(consuming, "MAX_RECONNECT_SECONDS", 0.002)


@pytest.fixture
def subscription() -> FakeSubscription:
    return FakeSubscription()


@contextlib.asynccontextmanager
async def consuming_from(
    subscription: FakeSubscription, give_up_after: float = 3600
) -> AsyncIterator[tuple[Consumer, asyncio.Task[None]]]:
    async with Consumer(subscription, lambda _: None, give_up_after=give_up_after) as consumer:
        task = asyncio.create_task(consumer.run())
        yield consumer, task
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(
    "failure",
    [Unavailable("down"), Misconfigured("other type"), asyncio.CancelledError()],
    ids=["transient", "permanent", "a library's own cancellation"],
)
async def test_it_connects_again_until_it_succeeds(subscription: FakeSubscription, failure: BaseException) -> None:
    subscription.failures = [failure] * 3
    async with consuming_from(subscription) as (consumer, _):
        await subscription.until(lambda: bool(subscription.connections))
        await asyncio.sleep(0)
        assert consumer.connected
        assert subscription.attempts == 4


async def test_a_lost_connection_is_closed_and_replaced(subscription: FakeSubscription) -> None:
    async with consuming_from(subscription) as (consumer, _):
        await subscription.until(lambda: len(subscription.connections) == 1)
        await asyncio.sleep(0)
        subscription.connections[0].lost.set_exception(Unavailable("cut"))
        await subscription.until(lambda: len(subscription.connections) == 2)
        assert subscription.connections[0].closed
        await asyncio.sleep(0)
        assert consumer.connected
    assert subscription.connections[1].closed


async def test_it_gives_up_after_too_long_without_a_connection(subscription: FakeSubscription) -> None:
    subscription.failures = [Unavailable("down")] * 10_000
    async with consuming_from(subscription, give_up_after=0.05) as (consumer, task):
        with pytest.raises(BrokerLost, match="the fake"):
            await task
        assert not consumer.connected


async def test_time_with_a_connection_does_not_count(subscription: FakeSubscription) -> None:
    async with consuming_from(subscription, give_up_after=0.0) as (_, task):
        await subscription.until(lambda: len(subscription.connections) == 1)
        subscription.connections[0].lost.set_exception(Unavailable("cut"))
        with pytest.raises(BrokerLost, match="for 0 s"):
            await task


async def test_a_stopped_consumer_keeps_its_connection_for_acknowledgements(subscription: FakeSubscription) -> None:
    async with Consumer(subscription, lambda _: None) as consumer:
        task = asyncio.create_task(consumer.run())
        await subscription.until(lambda: bool(subscription.connections))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await consumer.stop()
        (connection,) = subscription.connections
        assert (connection.stopped, connection.closed) == (True, False)
    assert connection.closed


async def test_an_attempt_to_connect_is_progress(subscription: FakeSubscription) -> None:
    subscription.failures = [Unavailable("down")]
    async with consuming_from(subscription) as (consumer, _):
        await subscription.until(lambda: subscription.attempts >= 1)
        assert consumer.seconds_without_attempt() < SOON
        await subscription.until(lambda: bool(subscription.connections))
        await asyncio.sleep(0)
        assert consumer.seconds_without_attempt() == 0


async def test_a_broker_that_does_not_answer_is_not_waited_for_for_ever(
    subscription: FakeSubscription, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consuming, "CONNECT_TIMEOUT_SECONDS", 0.001)

    async def hang(_deliver: Deliver) -> FakeConnection:
        subscription.attempts += 1
        subscription.news.set()
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    monkeypatch.setattr(subscription, "connect", hang)
    async with consuming_from(subscription):
        await subscription.until(lambda: subscription.attempts >= 3)
