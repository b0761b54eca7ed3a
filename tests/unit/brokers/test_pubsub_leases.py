"""Leases of Pub/Sub messages: each message is acknowledged or given back, whatever cuts the calls short."""

import asyncio
from dataclasses import dataclass, field

import pytest
from google.api_core.exceptions import ServiceUnavailable

from dispatcher.brokers.pubsub_leases import MAX_IDS_PER_REQUEST, Leases
from tests.support.leaping import LeapingLoop


@dataclass
class Calls:
    """`answered` lets a call end; `error` is what it ends with. `extended` says when, which and for how long."""

    acknowledged: list[str] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)
    extended: list[tuple[float, str, int]] = field(default_factory=list)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    error: Exception | None = None

    async def acknowledge(self, ids: list[str]) -> None:
        await self._call()
        self.acknowledged += ids

    async def give_back(self, ids: list[str]) -> None:
        await self._call()
        self.returned += ids

    async def extend(self, ids: list[str], seconds: int) -> None:
        self.extended += [(asyncio.get_running_loop().time(), each, seconds) for each in ids]

    async def _call(self) -> None:
        self.started.set()
        await self.answered.wait()
        if self.error is not None:
            raise self.error


@pytest.fixture
def calls() -> Calls:
    return Calls()


@pytest.fixture
def leases(calls: Calls) -> Leases:
    return Leases(calls, deadline=60)


def take(leases: Leases, count: int) -> list[str]:
    ids = [f"m{number}" for number in range(count)]
    for each in ids:
        leases.take(each)
    return ids


def test_a_message_is_extended_three_times_in_each_deadline_until_it_is_acknowledged(calls: Calls) -> None:
    calls.answered.set()

    async def story() -> None:
        leases = Leases(calls, deadline=60)
        running = asyncio.create_task(leases.run())
        leases.take("short")
        leases.take("long")
        await asyncio.sleep(30)
        leases.ack("short")
        await asyncio.sleep(60)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        runner.run(story())
    assert [(round(at), each) for at, each, _ in calls.extended if each == "short"] == [(20, "short")]
    assert [(round(at), seconds) for at, each, seconds in calls.extended if each == "long"] == [
        (20, 60),
        (40, 60),
        (60, 60),
        (80, 60),
    ]


async def test_an_acknowledgement_that_is_cut_short_is_sent_by_the_last_flush(calls: Calls, leases: Leases) -> None:
    ids = take(leases, MAX_IDS_PER_REQUEST + 1)
    for each in ids:
        leases.ack(each)
    running = asyncio.create_task(leases.run())
    await calls.started.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

    calls.answered.set()
    leases.give_all_back()
    await leases.flush()

    assert (calls.acknowledged, calls.returned) == (ids, [])


async def test_what_is_acknowledged_during_a_flush_is_sent_by_the_next(calls: Calls, leases: Leases) -> None:
    first, second = take(leases, 2)
    leases.ack(first)
    flushing = asyncio.create_task(leases.flush())
    await calls.started.wait()
    leases.ack(second)
    calls.answered.set()
    await flushing
    await leases.flush()
    assert calls.acknowledged == [first, second]


async def test_what_pubsub_refuses_is_not_sent_for_ever(calls: Calls, leases: Leases) -> None:
    (message,) = take(leases, 1)
    leases.ack(message)
    calls.error = ServiceUnavailable("away")  # type: ignore[no-untyped-call]
    calls.answered.set()
    await leases.flush()
    calls.error = None
    await leases.flush()
    assert calls.acknowledged == []


async def test_a_message_ends_once(calls: Calls, leases: Leases) -> None:
    (message,) = take(leases, 1)
    leases.ack(message)
    leases.give_back(message)
    calls.answered.set()
    await leases.flush()
    assert (calls.acknowledged, calls.returned, leases.held) == ([message], [], 0)
