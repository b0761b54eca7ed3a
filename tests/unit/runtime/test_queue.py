"""Runs at once, deadlines, messages and shutdown."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from dispatcher.runtime.scheduling import queue as queue_module
from dispatcher.runtime.scheduling.entry import Ended, Start
from dispatcher.runtime.scheduling.pacing import Backoff, Rate
from dispatcher.runtime.scheduling.queue import Queue
from dispatcher.runtime.scheduling.schedule import Schedule
from tests.support.wakes import Message, changed, key, published

SOON = 240.0


class Engine:
    """Runs that last until they are let go, and what was seen of them."""

    def __init__(self) -> None:
        self.started: asyncio.Queue[Start] = asyncio.Queue()
        self.running: Counter[str] = Counter()
        self.most_at_once = 0
        self.gates: dict[str, asyncio.Event] = {}
        self.outcomes: dict[str, Ended | BaseException] = {}
        self.open = False

    async def __call__(self, start: Start) -> Ended:
        name = start.key.id
        self.running[name] += 1
        assert self.running[name] == 1, "one object never runs twice at once"
        self.most_at_once = max(self.most_at_once, self.running.total())
        self.started.put_nowait(start)
        try:
            if not self.open:
                await self.gates.setdefault(name, asyncio.Event()).wait()
            outcome = self.outcomes.get(name, Ended())
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome
        finally:
            self.running[name] -= 1

    async def next_start(self) -> Start:
        async with asyncio.timeout(SOON):
            return await self.started.get()

    def let_go(self, name: str) -> None:
        self.gates.setdefault(name, asyncio.Event()).set()


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
async def queue(engine: Engine) -> AsyncIterator[Queue]:
    schedule = Schedule(rate=Rate(burst=50, interval=0.01), backoff=Backoff(first=0.01, longest=0.02))
    async with Queue(engine, schedule=schedule, parallelism=3) as queue:
        yield queue


async def settled(queue: Queue) -> None:
    async with asyncio.timeout(SOON):
        while tasks := {*queue._runs, *queue._settling}:
            await asyncio.wait(tasks)


async def test_different_objects_run_at_once_up_to_the_limit(engine: Engine, queue: Queue) -> None:
    for name in "abcde":
        queue.wake(published(name))
    first = [(await engine.next_start()).key.id for _ in range(3)]
    assert first == ["a", "b", "c"]
    assert engine.started.empty()
    engine.let_go("b")
    assert (await engine.next_start()).key.id == "d"
    assert engine.most_at_once == 3


async def test_a_message_is_acknowledged_after_the_run_that_covers_it(engine: Engine, queue: Queue) -> None:
    message, later = Message(), Message()
    queue.wake(published("a", receipt=message))
    await engine.next_start()
    queue.wake(published("a", receipt=later))
    assert (message.acks, later.acks) == (0, 0)
    engine.let_go("a")
    await engine.next_start()
    assert message.acks == 1
    await settled(queue)
    assert later.acks == 1


@pytest.mark.parametrize("outcome", [Ended(failed=True), RuntimeError("bug")], ids=["failed", "crashed"])
async def test_a_message_is_acknowledged_whatever_the_outcome(
    engine: Engine, queue: Queue, outcome: Ended | Exception
) -> None:
    message = Message()
    engine.open = True
    engine.outcomes["a"] = outcome
    queue.wake(published("a", receipt=message))
    await engine.next_start()
    retry = await engine.next_start()
    assert retry.receipts == ()
    assert (message.acks, message.returns) == (1, 0)


async def test_a_run_is_cancelled_at_its_deadline_and_tried_again(engine: Engine) -> None:
    message = Message()
    schedule = Schedule(backoff=Backoff(first=0.01, longest=0.01))
    async with Queue(engine, schedule=schedule, deadline=0.05) as queue:
        queue.wake(published("a", receipt=message))
        await engine.next_start()
        await engine.next_start()
        assert message.acks == 1


async def test_a_run_that_a_library_cancels_is_tried_again(engine: Engine, queue: Queue) -> None:
    message = Message()
    engine.open = True
    engine.outcomes["a"] = asyncio.CancelledError()
    queue.wake(published("a", receipt=message))
    await engine.next_start()
    await engine.next_start()
    assert (message.acks, message.returns) == (0, 1)


async def test_the_timer_of_a_retry_wakes_an_idle_queue(engine: Engine, queue: Queue) -> None:
    engine.open = True
    engine.outcomes["a"] = Ended(failed=True)
    queue.wake(published("a"))
    await engine.next_start()
    await engine.next_start()
    engine.outcomes.clear()
    await engine.next_start()
    await settled(queue)
    assert queue.schedule.standing(key("a"), 0).failures == 0


async def test_while_all_runs_are_taken_no_timer_keeps_the_loop_busy(engine: Engine) -> None:
    schedule = Schedule(rate=Rate(burst=1, interval=0.001), backoff=Backoff(first=0.001, longest=0.001))
    async with Queue(engine, schedule=schedule, parallelism=1) as queue:
        engine.outcomes["a"] = Ended(failed=True)
        engine.let_go("a")
        queue.wake(published("a"))
        await engine.next_start()
        queue.wake(published("b"))
        while (await engine.next_start()).key.id != "b":
            pass
        assert queue._timer is None
        engine.outcomes.clear()
        engine.let_go("b")
        assert (await engine.next_start()).key.id == "a"


async def test_watches_wait_while_too_many_delivered_objects_are_kept(
    engine: Engine, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_module, "MAX_DELIVERIES", 2)
    for name in "abc":
        queue.wake(published(name))
    queue.wake(changed("a", "1"))
    await queue.wait_for_deliveries()
    queue.wake(changed("a", "2"))
    waiting = asyncio.ensure_future(queue.wait_for_deliveries())
    await asyncio.sleep(0)
    assert not waiting.done()
    engine.let_go("a")
    async with asyncio.timeout(SOON):
        await waiting


async def test_delivered_objects_whose_runs_fail_do_not_hold_the_watches_back(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_module, "MAX_DELIVERIES", 2)
    engine.open = True
    engine.outcomes = dict.fromkeys("abc", Ended(failed=True))
    async with Queue(engine, schedule=Schedule(backoff=Backoff(first=SOON, longest=SOON))) as queue:
        for name in "abc":
            queue.wake(changed(name))
        await settled(queue)
        async with asyncio.timeout(SOON):
            await queue.wait_for_deliveries()


class TestStopping:
    async def test_running_work_finishes_and_waiting_messages_go_back(self, engine: Engine, queue: Queue) -> None:
        messages = {name: Message(name) for name in "abcd"}
        for name, message in messages.items():
            queue.wake(published(name, receipt=message))
        for _ in range(3):
            await engine.next_start()
        stopping = asyncio.ensure_future(queue.stop(grace=SOON))
        await asyncio.sleep(0)
        for name in "abc":
            engine.let_go(name)
        await stopping
        assert [(each.acks, each.returns) for each in messages.values()] == [(1, 0), (1, 0), (1, 0), (0, 1)]

    async def test_what_outlasts_the_grace_period_is_cancelled_and_its_messages_go_back(
        self, engine: Engine, queue: Queue
    ) -> None:
        message = Message()
        queue.wake(published("a", receipt=message))
        await engine.next_start()
        await queue.stop(grace=0.01)
        assert (message.acks, message.returns) == (0, 1)
        assert engine.running.total() == 0

    async def test_a_run_that_was_cancelled_before_it_began_gives_its_messages_back(
        self, engine: Engine, queue: Queue
    ) -> None:
        message = Message()
        queue.wake(published("a", receipt=message))
        await queue.stop(grace=0.0)
        assert message.acks + message.returns == 1

    async def test_a_message_that_arrives_afterwards_goes_back(self, engine: Engine, queue: Queue) -> None:
        message = Message()
        await queue.stop(grace=0.0)
        queue.wake(published("a", receipt=message))
        await settled(queue)
        assert (message.acks, message.returns) == (0, 1)
        assert engine.started.empty()


async def test_beside_an_object_that_never_stops_waking_the_others_run_in_their_turn(engine: Engine) -> None:
    engine.open = True
    async with Queue(engine, schedule=Schedule(rate=Rate(burst=10_000)), parallelism=1) as queue:
        order = []
        for number in range(20):
            for _ in range(20):
                queue.wake(published("busy"))
            queue.wake(published(f"quiet-{number}"))
            order.append((await engine.next_start()).key.id)
            order.append((await engine.next_start()).key.id)
        assert {f"quiet-{number}" for number in range(19)} <= set(order)
