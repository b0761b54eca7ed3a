"""Between the stream and its watchers: nothing blocks the reader, nothing newer is lost, and lists come in time."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from shared.errors import Forbidden, Unavailable
from shared.maestro.config.settings import MaestroSettings
from shared.maestro.grpc.stream import StatusStream
from shared.maestro.works.feed import Batch, Feed
from shared.maestro.works.tracking import Change
from shared.maestro.works.works import Works
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestWork, WorkStatus

Answer = list[dict[str, Any]] | Unavailable

SETTINGS = MaestroSettings(
    grpc_server_address="127.0.0.1:1",
    http_server_address="http://127.0.0.1:1",
    source_id="s",
    insecure=True,
    timeout=0.01,
    relist_interval=0.001,
)


def status(sequence: int, uid: str = "u", *, incarnation: int = 0, deleted: bool = False) -> ManifestWork:
    conditions = (Condition(type="Deleted", status=Status.TRUE),) if deleted else ()
    return ManifestWork(
        name="w",
        consumer="c",
        manifests=(),
        uid=uid,
        generation=1,
        created_at=datetime(2026, 1, 2, incarnation, tzinfo=UTC),
        status=WorkStatus(sequence_id=sequence, conditions=conditions),
    )


def sequences(batch: Batch) -> list[int]:
    return [work.status.sequence_id for work in batch.updates]


class TestAFeed:
    @pytest.fixture
    def feed(self) -> Feed:
        return Feed(lambda work: work.consumer == "c")

    async def test_it_gives_what_was_offered_once(self, feed: Feed) -> None:
        feed.offer(status(1))
        assert await feed.next(1.0) == Batch(relist=False, updates=(status(1),))
        assert await feed.next(0.0) == Batch(relist=False, updates=())

    async def test_of_each_work_it_keeps_the_latest_status(self, feed: Feed) -> None:
        for each in (status(1), status(3), status(2), status(1, "other"), status(3)):
            feed.offer(each)
        assert sequences(await feed.next(1.0)) == [3, 1]

    async def test_however_much_is_offered_it_holds_two_words_per_work(self, feed: Feed) -> None:
        for sequence in range(1000):
            feed.offer(status(sequence))
            feed.offer(status(sequence, deleted=True))
        assert len((await feed.next(1.0)).updates) == 2

    async def test_a_deletion_and_the_incarnation_after_it_come_in_their_order(self, feed: Feed) -> None:
        for each in (status(1), status(2, deleted=True), status(3, incarnation=1)):
            feed.offer(each)
        assert sequences(await feed.next(1.0)) == [2, 3]

    async def test_what_nobody_wants_is_not_kept_and_wakes_nobody(self, feed: Feed) -> None:
        other = ManifestWork(name="w", consumer="elsewhere", manifests=())
        feed.offer(other)
        assert await feed.next(0.0) == Batch(relist=False, updates=())

    async def test_it_wakes_whoever_waits(self, feed: Feed) -> None:
        waiting = asyncio.ensure_future(feed.next(60.0))
        await asyncio.sleep(0)
        feed.offer(status(1))
        assert sequences(await waiting) == [1]

    async def test_a_request_to_list_again_comes_once_with_what_came(self, feed: Feed) -> None:
        feed.ask_to_relist()
        feed.offer(status(1))
        assert await feed.next(1.0) == Batch(relist=True, updates=(status(1),))
        assert not (await feed.next(0.0)).relist

    async def test_a_refusal_for_good_is_reported_every_time(self, feed: Feed) -> None:
        feed.offer(status(1))
        feed.fail(Forbidden("no"))
        for _ in range(2):
            with pytest.raises(Forbidden):
                await feed.next(1.0)


class RefusingChannel:
    """A channel whose subscriptions are all refused for good."""

    def __init__(self) -> None:
        self.subscriptions = 0

    def subscribe(self) -> Any:
        self.subscriptions += 1
        raise Forbidden("no")


async def test_a_watcher_that_comes_after_a_refusal_gets_it_too() -> None:
    channel = RefusingChannel()
    stream = StatusStream(cast("Any", channel), SETTINGS)
    async with stream.feed(lambda _: True) as first:
        with pytest.raises(Forbidden):
            await first.next(5.0)
        async with stream.feed(lambda _: True) as second:
            with pytest.raises(Forbidden):
                await second.next(5.0)
    assert channel.subscriptions == 2


class NoisyFeed(Feed):
    """A feed in which there is always news of one work."""

    sequence = 0

    async def next(self, timeout: float | None) -> Batch:
        await asyncio.sleep(0)
        self.sequence += 1
        self.offer(status(self.sequence, "noisy"))
        return await super().next(timeout)


class FakeStream:
    """A stream that is connected from the beginning."""

    @contextlib.asynccontextmanager
    async def feed(self, wants: Callable[[ManifestWork], bool]) -> AsyncIterator[Feed]:
        feed = NoisyFeed(wants)
        feed.ask_to_relist()
        yield feed


class FakeRest:
    """A server that gives one answer after the other to those who list, and the last one from then on."""

    def __init__(self, answers: list[Answer]) -> None:
        self._answers = answers

    async def get(self, _what: str, _path: str, _parameters: dict[str, str]) -> dict[str, Any]:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Unavailable):
            raise answer
        return {"items": answer}


def bundle(uid: str) -> dict[str, Any]:
    return {"id": uid, "version": 1, "consumer_name": "c", "metadata": {"name": uid}}


async def events(answers: list[Answer], count: int) -> list[tuple[Change, str]]:
    """The first events of any work but the one that changes all the time."""
    parts: dict[str, Any] = {"rest": FakeRest(answers), "grpc": lambda: SimpleNamespace(stream=FakeStream())}
    works = Works(consumer="c", owner_labels={}, settings=SETTINGS, **parts)
    seen: list[tuple[Change, str]] = []
    async with asyncio.timeout(240), contextlib.aclosing(works.watch()) as events:
        async for event in events:
            if event.work.uid != "noisy":
                seen.append((event.change, event.work.uid))
            if len(seen) == count:
                break
    return seen


async def test_a_watch_lists_again_in_time_even_when_there_is_always_news() -> None:
    answers: list[Answer] = [[bundle("a")], [bundle("a"), bundle("b")], [bundle("b")]]
    assert await events(answers, 3) == [(Change.ADDED, "a"), (Change.ADDED, "b"), (Change.DELETED, "a")]


async def test_a_list_that_fails_is_tried_again_and_takes_nothing_away() -> None:
    answers: list[Answer] = [
        [bundle("a")],
        Unavailable("down"),
        Unavailable("down"),
        [bundle("b")],
    ]
    assert await events(answers, 3) == [(Change.ADDED, "a"), (Change.DELETED, "a"), (Change.ADDED, "b")]
