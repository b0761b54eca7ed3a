"""The queue of passes: each bridge once, never twice at a time, again after a failure."""

import asyncio
import contextlib

import pytest

from dpu_bridge.api.bridge import Key
from dpu_bridge.operator.reconcile import queue as queues
from dpu_bridge.operator.reconcile.queue import WorkQueue
from shared.backoff import Backoff
from shared.errors import Unavailable

KEY = ("ns", "a")


@contextlib.asynccontextmanager
async def running(queue: WorkQueue, perform: queues.Pass):  # type: ignore[no-untyped-def]  # noqa: ANN201
    task = asyncio.create_task(queue.run(perform))
    try:
        async with asyncio.timeout(240):
            yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_many_wakes_are_one_pass() -> None:
    seen: asyncio.Queue[Key] = asyncio.Queue()
    queue = WorkQueue(resync=3600)
    for _ in range(5):
        queue.add(KEY)
    queue.add(("ns", "b"))

    async def perform(key: Key) -> None:
        seen.put_nowait(key)

    async with running(queue, perform):
        assert {await seen.get(), await seen.get()} == {KEY, ("ns", "b")}
        await asyncio.sleep(0)
        assert seen.empty()


async def test_a_wake_during_a_pass_is_another_pass_afterwards() -> None:
    queue = WorkQueue(resync=3600)
    running_now, most, passes = 0, 0, asyncio.Queue[int]()

    async def perform(key: Key) -> None:
        nonlocal running_now, most
        running_now += 1
        most = max(most, running_now)
        if passes.empty():
            queue.add(key)
        await asyncio.sleep(0)
        running_now -= 1
        passes.put_nowait(1)

    queue.add(KEY)
    async with running(queue, perform):
        await passes.get()
        await passes.get()
    assert most == 1


async def test_a_failed_pass_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "RETRY", Backoff(first=0.001, longest=0.001))
    queue, attempts = WorkQueue(resync=3600), asyncio.Queue[int]()

    async def perform(_: Key) -> None:
        attempts.put_nowait(1)
        raise Unavailable("the API server does not answer")

    queue.add(KEY)
    async with running(queue, perform):
        for _ in range(3):
            await attempts.get()


async def test_a_pass_says_when_it_wants_to_look_again() -> None:
    queue, passes = WorkQueue(resync=3600), asyncio.Queue[int]()

    async def perform(_: Key) -> float:
        passes.put_nowait(1)
        return 0.001

    queue.add(KEY)
    async with running(queue, perform):
        for _ in range(3):
            await passes.get()
