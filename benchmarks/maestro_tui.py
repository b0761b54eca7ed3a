"""maestro-cli tui: time on the clock and of the CPU from a change to the repainted screen, with 3,000 works."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, Self

from textual.pilot import Pilot
from textual.widgets import Input

from maestro_cli.tui.app import MaestroApp
from maestro_cli.tui.table import RowTable
from shared.maestro import Change, WorkEvent
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestWork, WorkStatus

WORKS, CONSUMER = 3000, "mgmt-01"
TIMES = 200
BUDGET_MS = 100.0
SIZE = (180, 60)


@dataclass(frozen=True, slots=True)
class Moment:
    """Milliseconds on the clock, and of CPU that this process took."""

    clock: float
    cpu: float

    @classmethod
    def now(cls) -> Self:
        return cls(time.perf_counter() * 1000, time.process_time() * 1000)

    def since(self, before: "Moment") -> "Moment":
        return Moment(self.clock - before.clock, self.cpu - before.cpu)


class Works:
    """A stream that begins with all works and goes on with what `change` puts into it."""

    def __init__(self) -> None:
        self._events: asyncio.Queue[WorkEvent] = asyncio.Queue()
        for number in range(WORKS):
            self._events.put_nowait(WorkEvent(change=Change.ADDED, work=_work(number)))

    def change(self, number: int, generation: int) -> None:
        work = replace(_work(number), generation=generation)
        self._events.put_nowait(WorkEvent(change=Change.MODIFIED, work=work))

    async def watch(self) -> AsyncGenerator[WorkEvent, None]:
        while True:
            yield await self._events.get()


def _work(number: int) -> ManifestWork:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"a{number}", "namespace": "default"}}
    conditions = tuple(
        Condition(type=each, status=Status.TRUE, observed_generation=1) for each in ("Applied", "Available")
    )
    return ManifestWork(
        name=f"hyperfleet-cluster-{number:05}-nodepool",
        consumer=CONSUMER,
        manifests=(manifest,),
        labels={"hyperfleet.io/cluster-id": f"c{number}"},
        generation=1,
        status=WorkStatus(conditions=conditions),
    )


def main() -> None:
    asyncio.run(_measure())


async def _measure() -> None:
    works = Works()

    async def consumers() -> list[Any]:
        return [SimpleNamespace(name=CONSUMER)]

    client: Any = SimpleNamespace(consumers=SimpleNamespace(list=consumers), works=lambda _: works)
    app = MaestroApp(client)
    busy = f"{os.getloadavg()[0]:.1f} processes run on {os.cpu_count()} CPUs"
    print(f"\nmaestro-cli tui: milliseconds until the screen is repainted, {WORKS} works; {busy}\n")
    print(f"{'':<34} {'on the clock':^26} {'of the CPU':^26}")
    print(f"{'change':<34} {' '.join(f'{each:>8}' for each in ('p50', 'p99', 'largest') * 2)}")
    started = Moment.now()
    async with app.run_test(size=SIZE) as pilot:
        table = app.query_one("#works", RowTable)
        while len(table.keys) < WORKS:
            await _repainted(pilot)
        shown_after = Moment.now().since(started)
        print(f"{'all works are shown (once)':<34} {shown_after.clock:>26.0f} {shown_after.cpu:>26.0f}")
        generations = iter(range(2, 10**6))

        async def status() -> None:
            works.change(5, next(generations))
            await asyncio.sleep(0)

        async def burst() -> None:
            generation = next(generations)
            for number in range(100):
                works.change(number * 7, generation)
            await asyncio.sleep(0)

        async def key(name: str) -> None:
            app.simulate_key(name)

        async def type_filter() -> None:
            shown = app.query_one("#filter", Input)
            shown.value = "" if shown.value else "cluster-0"

        await _show(pilot, "a status arrives", status)
        await _show(pilot, "100 statuses arrive at once", burst)
        await _show(pilot, "the cursor moves", lambda: key("down"))
        await _show(pilot, "a page further", lambda: key("pagedown"))
        await _show(pilot, "the filter changes", type_filter, times=TIMES // 4)


async def _show(pilot: Pilot[None], what: str, change: Callable[[], Awaitable[None]], times: int = TIMES) -> None:
    taken: list[Moment] = []
    await change()
    await _repainted(pilot)
    for _ in range(times):
        started = Moment.now()
        await change()
        await _repainted(pilot)
        taken.append(Moment.now().since(started))
    clock, cpu = _spread(each.clock for each in taken), _spread(each.cpu for each in taken)
    verdict = "" if clock[1] < BUDGET_MS else f"  above {BUDGET_MS:.0f}"
    print(f"{what:<34} {' '.join(f'{each:>8.1f}' for each in (*clock, *cpu))}{verdict}")


def _spread(values: Iterable[float]) -> tuple[float, float, float]:
    """p50, p99 and the largest."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)], ordered[-1]


async def _repainted(pilot: Pilot[None]) -> None:
    done = asyncio.Event()
    pilot.app.screen.call_after_refresh(done.set)
    await done.wait()
