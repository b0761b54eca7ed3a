"""What the watch of works makes of a list: news of works that are known are urgent, works not known before are not."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from dispatcher.runtime.scheduling.wakes import Wake
from dispatcher.runtime.watching.awaiting import AwaitedDeletions
from dispatcher.runtime.watching.owners import Owners
from dispatcher.runtime.watching.works import WorkWatch
from shared.maestro import Feed
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestWork, WorkStatus
from tests.support.adapters import resource
from tests.support.maestro import TIMEOUT, some_work
from tests.support.wakes import deletion_of_work, event, key

LABEL = ("hyperfleet.io/managed-by", "dns")
WORK = resource("work", "ManifestWork", "work.open-cluster-management.io/v1", transport="maestro")


class Listed:
    """A Maestro whose works are found by listing alone."""

    def __init__(self, *works: ManifestWork, relist_interval: float = 300.0) -> None:
        self.works = list(works)
        self.relist_interval = relist_interval
        self.lists = asyncio.Semaphore(0)
        self._feed = Feed(lambda _: True)

    @contextlib.asynccontextmanager
    async def feed(self, _wants: Callable[[ManifestWork], bool]) -> AsyncIterator[Feed]:
        yield self._feed

    async def scan(self, *, selector: str | None = None) -> AsyncGenerator[ManifestWork, None]:
        assert selector == "=".join(LABEL)
        for work in self.works:
            yield work
        self.lists.release()

    def is_ours(self, work: ManifestWork) -> bool:
        return bool(work.uid)

    def status_of(self, work: ManifestWork) -> None:
        """A status of the stream."""
        self._feed.offer(work)

    async def list_again(self) -> None:
        self._feed.ask_to_relist()
        async with asyncio.timeout(TIMEOUT):
            await self.lists.acquire()


class Wakes:
    """`clock` goes on while a watch is held back."""

    def __init__(self) -> None:
        self.woken: list[Wake] = []
        self.clock = datetime(2026, 1, 2, tzinfo=UTC)
        self.came = asyncio.Semaphore(0)

    def wake(self, wake: Wake) -> None:
        self.woken.append(wake)
        self.came.release()

    async def wait_for_deliveries(self) -> None:
        self.clock += timedelta(minutes=1)


def work(uid: str, *, sequence: int = 1, reason: str = "AppliedManifestWorkComplete") -> ManifestWork:
    annotations = {"hyperfleet.io/event": json.dumps({"kind": "Cluster", "id": uid}), "hyperfleet.io/generation": "1"}
    condition = Condition(type="Applied", status=Status.TRUE, reason=reason)
    described = some_work("w", labels=dict([LABEL]), annotations=annotations)
    return replace(described, uid=uid, status=WorkStatus(conditions=(condition,), sequence_id=sequence))


@contextlib.asynccontextmanager
async def watching(source: Listed, wakes: Wakes, awaited: AwaitedDeletions) -> AsyncIterator[None]:
    watch = WorkWatch(source, Owners([WORK]), wakes, awaited, label=LABEL, now=lambda: wakes.clock)
    task = asyncio.create_task(watch.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_what_the_first_list_shows_waits_behind_events_and_what_changed_since_does_not() -> None:
    source, wakes = Listed(work("a")), Wakes()
    async with watching(source, wakes, AwaitedDeletions()):
        await source.list_again()
        source.works = [work("a", sequence=2, reason="AppliedManifestWorkFailed"), work("b")]
        await source.list_again()
    assert [(wake.key, wake.background) for wake in wakes.woken] == [
        (key("a"), True),
        (key("a"), False),
        (key("b"), True),
    ]


async def test_the_same_status_is_no_news_however_often_it_is_listed() -> None:
    source, wakes = Listed(work("a")), Wakes()
    async with watching(source, wakes, AwaitedDeletions()):
        await source.list_again()
        source.works = [work("a", sequence=2)]
        await source.list_again()
        await source.list_again()
    assert [wake.key for wake in wakes.woken] == [key("a")]


async def test_a_work_is_observed_when_it_arrives_however_long_the_queue_holds_the_watch_back() -> None:
    source, wakes = Listed(work("a")), Wakes()
    began = wakes.clock
    async with watching(source, wakes, AwaitedDeletions()):
        await source.list_again()
        source.status_of(work("b"))
        source.status_of(work("c"))
        async with asyncio.timeout(TIMEOUT):
            for _ in range(3):
                await wakes.came.acquire()
    times = [wake.delivered.at - began for wake in wakes.woken if wake.delivered is not None]
    assert times == [timedelta(minutes=minutes) for minutes in (0, 1, 1)]


async def test_a_work_that_is_no_longer_listed_wakes_who_waits_for_its_deletion() -> None:
    source, wakes, awaited = Listed(work("a"), work("b")), Wakes(), AwaitedDeletions()
    awaited.expect(key("a"), event("a"), [deletion_of_work("w", "a")])
    async with watching(source, wakes, awaited):
        await source.list_again()
        source.works = []
        await source.list_again()
    assert [(wake.key, wake.delivered) for wake in wakes.woken[2:]] == [(key("a"), None)]


async def test_works_are_listed_as_often_as_the_settings_say_without_a_reason() -> None:
    source, wakes = Listed(work("a"), relist_interval=0.001), Wakes()
    async with watching(source, wakes, AwaitedDeletions()), asyncio.timeout(TIMEOUT):
        for _ in range(3):
            await source.lists.acquire()
