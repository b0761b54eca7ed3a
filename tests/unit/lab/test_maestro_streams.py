"""How events reach subscribers, those who do not read among them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import grpc
import pytest

from lab.maestro.streams.broadcast import QUEUE_LENGTH, Streams
from lab.maestro.streams.calls import MAX_MESSAGE_BYTES, Context, Failed, require_size
from shared.maestro.wire.cloudevent_pb2 import CloudEvent, PublishRequest

TIMEOUT = 240


class Subscriber:
    """A stream as the server sees it. It takes `capacity` events and then no more, until there is capacity again."""

    def __init__(self, capacity: int | None = None) -> None:
        self.seen: list[str] = []
        self.ended: tuple[grpc.StatusCode, str] | None = None
        self._capacity = capacity
        self._news = asyncio.Condition()

    async def send_initial_metadata(self, _: Any) -> None:
        return

    async def write(self, event: CloudEvent) -> None:
        async with self._news:
            await self._news.wait_for(lambda: self._capacity is None or len(self.seen) < self._capacity)
            self.seen.append(event.id)
            self._news.notify_all()

    async def abort(self, code: grpc.StatusCode, details: str) -> None:
        self.ended = (code, details)

    async def until(self, count: int) -> list[str]:
        async with asyncio.timeout(TIMEOUT), self._news:
            await self._news.wait_for(lambda: len(self.seen) >= count)
        return self.seen


Join = Callable[[str, Subscriber], Awaitable[asyncio.Task[None]]]


@asynccontextmanager
async def broadcasting(streams: Streams) -> AsyncIterator[Join]:
    tasks = [asyncio.create_task(streams.broadcast())]

    async def join(address: str, subscriber: Subscriber) -> asyncio.Task[None]:
        tasks.append(asyncio.create_task(streams.serve(address, cast("Context", subscriber))))
        await asyncio.sleep(0)
        return tasks[-1]

    await asyncio.sleep(0)
    try:
        yield join
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def post(streams: Streams, address: str, numbers: range) -> list[str]:
    for number in numbers:
        streams.post(address, CloudEvent(id=str(number)))
    return [str(number) for number in numbers]


async def test_events_come_in_order_to_all_of_an_address_and_to_nobody_else() -> None:
    streams, one, two, other = Streams(1000.0), Subscriber(), Subscriber(), Subscriber()
    async with broadcasting(streams) as join:
        for address, subscriber in (("a", one), ("a", two), ("b", other)):
            await join(address, subscriber)
        expected = post(streams, "a", range(300))
        post(streams, "b", range(1))

        assert await one.until(300) == await two.until(300) == expected
        assert await other.until(1) == ["0"]


async def test_one_who_does_not_read_holds_everybody_up_until_it_leaves() -> None:
    streams, reader, sleeper, other = Streams(1000.0), Subscriber(), Subscriber(capacity=0), Subscriber()
    async with broadcasting(streams) as join:
        await join("a", reader)
        asleep = await join("a", sleeper)
        await join("b", other)
        held_up = QUEUE_LENGTH + 50
        expected = post(streams, "a", range(held_up))
        post(streams, "b", range(1))
        await reader.until(QUEUE_LENGTH)
        assert len(reader.seen) < held_up
        assert other.seen == []

        asleep.cancel()

        assert await reader.until(held_up) == expected
        assert await other.until(1) == ["0"]


async def test_a_cut_ends_streams_even_those_that_are_full_and_others_may_come() -> None:
    streams, reader, sleeper, late = Streams(1000.0), Subscriber(), Subscriber(capacity=1), Subscriber()
    async with broadcasting(streams) as join:
        ended = await join("a", reader)
        await join("a", sleeper)
        post(streams, "a", range(QUEUE_LENGTH + 50))
        await reader.until(QUEUE_LENGTH)

        streams.cut()
        await asyncio.wait_for(ended, TIMEOUT)
        assert reader.ended == (grpc.StatusCode.UNAVAILABLE, "Socket closed")

        await join("a", late)
        streams.post("a", CloudEvent(id="after"))
        assert (await late.until(1))[-1] == "after"


async def test_heartbeats_do_not_displace_events() -> None:
    streams, reader = Streams(0.001), Subscriber()
    async with broadcasting(streams) as join:
        await join("a", reader)
        await reader.until(3)
        streams.heartbeats_muted = True
        expected = post(streams, "a", range(3))
        seen = await reader.until(len(reader.seen) + 3)

    assert seen[-3:] == expected


def test_a_message_may_have_four_mebibytes_and_not_a_byte_more() -> None:
    def message(size: int) -> PublishRequest:
        return PublishRequest(event=CloudEvent(binary_data=b"x" * size))

    overhead = message(MAX_MESSAGE_BYTES - 100).ByteSize() - (MAX_MESSAGE_BYTES - 100)
    require_size(message(MAX_MESSAGE_BYTES - overhead))
    with pytest.raises(Failed) as failed:
        require_size(message(MAX_MESSAGE_BYTES - overhead + 1))
    assert failed.value.details == "grpc: received message larger than max (4194305 vs. 4194304)"
