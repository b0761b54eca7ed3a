"""Very many works after a restart: they are all reported, and whatever is new passes them."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager

from dispatcher.runtime.scheduling.entry import Ended, Start
from dispatcher.runtime.scheduling.queue import MAX_DELIVERIES, Queue
from dispatcher.runtime.watching.awaiting import AwaitedDeletions
from dispatcher.runtime.watching.owners import Owners
from dispatcher.runtime.watching.works import WorkWatch
from shared.maestro import Feed
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestWork, WorkStatus
from tests.support.adapters import resource
from tests.support.wakes import published

WORKS = 10_000
LABEL = ("hyperfleet.io/managed-by", "dns")
APPLIED = Condition(type="Applied", status=Status.TRUE, observed_generation=1)


class ManyWorks:
    """A Maestro with very many works, which all have a status."""

    relist_interval = 300.0

    @asynccontextmanager
    async def feed(self, wants: Callable[[ManifestWork], bool]) -> AsyncIterator[Feed]:
        feed = Feed(wants)
        feed.ask_to_relist()
        yield feed

    async def scan(self, *, selector: str | None = None) -> AsyncGenerator[ManifestWork, None]:
        for number in range(WORKS):
            if number % 100 == 0:
                await asyncio.sleep(0)  # a page
            yield ManifestWork(
                name=f"w-{number}",
                consumer="mgmt",
                manifests=(),
                uid=f"u-{number}",
                generation=1,
                labels=dict([LABEL]),
                annotations={"hyperfleet.io/event": json.dumps({"kind": "Cluster", "id": f"c-{number}"})},
                status=WorkStatus(conditions=(APPLIED,), sequence_id=1),
            )

    def is_ours(self, work: ManifestWork) -> bool:
        return True


async def test_an_event_after_a_restart_passes_ten_thousand_works() -> None:
    order: list[str] = []
    most = 0
    half, all_done, answered = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def reconcile(start: Start) -> Ended:
        nonlocal most
        order.append(start.key.id)
        most = max(most, queue.schedule.deliveries)
        await asyncio.sleep(0)
        if len(order) >= WORKS // 2:
            half.set()
        if start.key.id == "new":
            answered.set()
        if len(order) >= WORKS + 1:
            all_done.set()
        return Ended()

    source = resource("work", "ManifestWork", transport="maestro")
    async with Queue(reconcile, parallelism=16) as queue:
        watch = WorkWatch(ManyWorks(), Owners([source]), queue, AwaitedDeletions(), label=LABEL)
        task = asyncio.create_task(watch.run())
        async with asyncio.timeout(600):
            await half.wait()
            before = len(order)
            queue.wake(published("new"))
            await answered.wait()
            assert order.index("new") - before <= 2 * 16
            await all_done.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert set(order) == {"new", *(f"c-{number}" for number in range(WORKS))}
    assert most <= MAX_DELIVERIES
