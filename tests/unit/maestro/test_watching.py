"""Between the stream and its watchers: nothing blocks the reader, nothing newer is lost, and lists come in time."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from shared.conditions import Condition, Status
from shared.errors import Forbidden, Unavailable
from shared.maestro.settings import MaestroSettings
from shared.maestro.stream import Batch, Feed, StatusStream
from shared.maestro.tracking import Change
from shared.maestro.works import Works
from shared.manifestwork import ManifestWork, WorkStatus

Answer = list[dict[str, Any]] | Unavailable

SETTINGS = MaestroSettings(
    grpc_server_address="127.0.0.1:1",
    http_server_address="http://127.0.0.1:1",
    source_id="s",
    insecure=True,
    timeout=0.01,
    relist_interval=0.001,
)


def word(sequence: int, uid: str = "u", *, life: int = 0, deleted: bool = False) -> ManifestWork:
    conditions = (Condition(type="Deleted", status=Status.TRUE),) if deleted else ()
    return ManifestWork(
        name="w",
        consumer="c",
        manifests=(),
        uid=uid,
        generation=1,
        created_at=datetime(2026, 1, 2, life, tzinfo=UTC),
        status=WorkStatus(sequence_id=sequence, conditions=conditions),
    )


def sequences(batch: Batch) -> list[int]:
    return [work.status.sequence_id for work in batch.updates]


class TestAFeed:
    @pytest.fixture
    def feed(self) -> Feed:
        return Feed(lambda work: work.consumer == "c")

    async def test_it_gives_what_was_offered_once(self, feed: Feed) -> None:
        feed.offer(word(1))
        assert await feed.next(1.0) == Batch(relist=False, updates=(word(1),))
        assert await feed.next(0.0) == Batch(relist=False, updates=())

    async def test_of_each_work_it_keeps_the_newest_word(self, feed: Feed) -> None:
        for each in (word(1), word(3), word(2), word(1, "other"), word(3)):
            feed.offer(each)
        assert sequences(await feed.next(1.0)) == [3, 1]

    async def test_however_much_is_offered_it_holds_two_words_per_work(self, feed: Feed) -> None:
        for sequence in range(1000):
            feed.offer(word(sequence))
            feed.offer(word(sequence, deleted=True))
        assert len((await feed.next(1.0)).updates) == 2

    async def test_a_deletion_and_the_life_after_it_come_in_their_order(self, feed: Feed) -> None:
        for each in (word(1), word(2, deleted=True), word(3, life=1)):
            feed.offer(each)
        assert sequences(await feed.next(1.0)) == [2, 3]

    async def test_what_nobody_wants_is_not_kept_and_wakes_nobody(self, feed: Feed) -> None:
        other = ManifestWork(name="w", consumer="elsewhere", manifests=())
        feed.offer(other)
        assert await feed.next(0.0) == Batch(relist=False, updates=())

    async def test_it_wakes_whoever_waits(self, feed: Feed) -> None:
        waiting = asyncio.ensure_future(feed.next(60.0))
        await asyncio.sleep(0)
        feed.offer(word(1))
        assert sequences(await waiting) == [1]

    async def test_a_wish_to_list_again_is_told_once_with_what_came(self, feed: Feed) -> None:
        feed.ask_to_relist()
        feed.offer(word(1))
        assert await feed.next(1.0) == Batch(relist=True, updates=(word(1),))
        assert not (await feed.next(0.0)).relist

    async def test_a_refusal_for_good_is_told_every_time(self, feed: Feed) -> None:
        feed.offer(word(1))
        feed.fail(Forbidden("no"))
        for _ in range(2):
            with pytest.raises(Forbidden):
                await feed.next(1.0)


class RefusingLink:
    """A link whose subscriptions are all refused for good."""

    def __init__(self) -> None:
        self.subscriptions = 0

    def subscribe(self) -> Any:
        self.subscriptions += 1
        raise Forbidden("no")


async def test_a_watcher_that_comes_after_a_refusal_is_told_it_too() -> None:
    link = RefusingLink()
    stream = StatusStream(cast("Any", link), SETTINGS)
    async with stream.feed(lambda _: True) as first:
        with pytest.raises(Forbidden):
            await first.next(5.0)
        async with stream.feed(lambda _: True) as second:
            with pytest.raises(Forbidden):
                await second.next(5.0)
    assert link.subscriptions == 2


class NoisyFeed(Feed):
    """A feed in which there is always news of one work."""

    sequence = 0

    async def next(self, patience: float | None) -> Batch:
        await asyncio.sleep(0)
        self.sequence += 1
        self.offer(word(self.sequence, "noisy"))
        return await super().next(patience)


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


async def told(answers: list[Answer], count: int) -> list[tuple[Change, str]]:
    """The first events that are told of anything but the work that is always in the news."""
    parts: dict[str, Any] = {"rest": FakeRest(answers), "link": None, "stream": FakeStream()}
    works = Works(consumer="c", owner_labels={}, settings=SETTINGS, **parts)
    seen: list[tuple[Change, str]] = []
    async with asyncio.timeout(20), contextlib.aclosing(works.watch()) as events:
        async for event in events:
            if event.work.uid != "noisy":
                seen.append((event.change, event.work.uid))
            if len(seen) == count:
                break
    return seen


async def test_a_watch_lists_again_in_time_even_when_there_is_always_news() -> None:
    answers: list[Answer] = [[bundle("a")], [bundle("a"), bundle("b")], [bundle("b")]]
    assert await told(answers, 3) == [(Change.ADDED, "a"), (Change.ADDED, "b"), (Change.DELETED, "a")]


async def test_a_list_that_fails_is_tried_again_and_takes_nothing_away() -> None:
    answers: list[Answer] = [
        [bundle("a")],
        Unavailable("down"),
        Unavailable("down"),
        [bundle("b")],
    ]
    assert await told(answers, 3) == [(Change.ADDED, "a"), (Change.DELETED, "a"), (Change.ADDED, "b")]
