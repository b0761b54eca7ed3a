"""Runs what the schedule starts: at most `parallelism` objects at once, each within a deadline.

The queue has no loop of its own. A wake, the end of a run and the schedule's next timer each start what is due. It owns
the tasks of its runs; leaving its context ends them all.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Self

from dispatcher.runtime.scheduling.entry import Ended, Start
from dispatcher.runtime.scheduling.schedule import Schedule
from dispatcher.runtime.scheduling.wakes import Receipt, Wake
from shared import logs

DEFAULT_PARALLELISM = 16
DEFAULT_DEADLINE_SECONDS = 300.0
# A delivered object is a whole Kubernetes object; watches wait while this many of them are kept for their first run.
MAX_DELIVERIES = 512

log = logs.get(__name__)

Reconcile = Callable[[Start], Awaitable[Ended]]


class Queue:
    """Others may read `schedule`, for metrics and for people; only the queue changes it."""

    def __init__(
        self,
        reconcile: Reconcile,
        *,
        schedule: Schedule | None = None,
        parallelism: int = DEFAULT_PARALLELISM,
        deadline: float = DEFAULT_DEADLINE_SECONDS,
        on_wake: Callable[[Wake], None] = lambda _: None,
    ) -> None:
        self.schedule = schedule or Schedule()
        self._reconcile = reconcile
        self._parallelism = parallelism
        self._deadline = deadline
        self._on_wake = on_wake
        self._runs: dict[asyncio.Task[None], tuple[Start, float]] = {}
        self._settling: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._may_deliver = asyncio.Event()
        self._may_deliver.set()
        self._stopping = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop(grace=0.0)

    def wake(self, wake: Wake) -> None:
        """Ask for a run of an object. After `stop` a message goes back to the broker."""
        if self._stopping:
            self._settle([wake.receipt] if wake.receipt is not None else [], _give_back)
            return
        self._on_wake(wake)
        self._settle(self.schedule.wake(wake, _now()), _ack)
        self._start_due()

    def acknowledge(self, receipt: Receipt) -> None:
        """Settle a message that needs no run."""
        self._settle([receipt], _ack)

    async def wait_for_deliveries(self) -> None:
        """Return when the queue takes further delivered objects."""
        await self._may_deliver.wait()

    @property
    def running(self) -> int:
        return len(self._runs)

    def longest_run(self) -> float:
        """Seconds since the oldest of the present runs started."""
        return max((_now() - started for _, started in self._runs.values()), default=0.0)

    async def stop(self, *, grace: float) -> None:
        """Start nothing more, give waiting messages back, and let running work finish for `grace` seconds.

        What runs longer is cancelled, and its messages go back to the broker too.
        """
        self._stopping = True
        if self._timer is not None:
            self._timer.cancel()
        self._settle(self.schedule.release(), _give_back)
        if self._runs:
            _, late = await asyncio.wait(set(self._runs), timeout=grace)
            for run in late:
                run.cancel()
            if late:
                log.warning("the grace period ended before all runs did", cancelled_runs=len(late))
                await asyncio.wait(late)
        while self._settling:
            await asyncio.wait(set(self._settling))

    def _start_due(self) -> None:
        while len(self._runs) < self._parallelism and not self._stopping:
            start = self.schedule.start(_now())
            if start is None:
                break
            run = asyncio.create_task(self._run(start), name=f"run {start.key}")
            self._runs[run] = start, _now()
            run.add_done_callback(self._on_run_done)
        if self.schedule.deliveries < MAX_DELIVERIES:
            self._may_deliver.set()
        else:
            self._may_deliver.clear()
        self._set_timer()

    def _set_timer(self) -> None:
        """While all runs are taken, the end of one of them starts what is due."""
        due = self.schedule.next_due() if len(self._runs) < self._parallelism else None
        if self._timer is not None:
            if self._timer.when() == due:
                return
            self._timer.cancel()
            self._timer = None
        if due is not None and not self._stopping:
            self._timer = asyncio.get_running_loop().call_at(due, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._start_due()

    def _on_run_done(self, run: asyncio.Task[None]) -> None:
        start, _ = self._runs.pop(run)
        if run.cancelled():
            self._settle(start.receipts, _give_back)
            if not self._stopping:  # a library's own cancellation, which must not block the object
                self._settle(self.schedule.end(start.key, Ended(failed=True), _now()), _ack)
        self._start_due()

    async def _run(self, start: Start) -> None:
        ended = await self._within_deadline(start)
        settled = self.schedule.end(start.key, ended, _now())
        await _each((*start.receipts, *settled), _ack)

    async def _within_deadline(self, start: Start) -> Ended:
        limit = asyncio.timeout(self._deadline)
        try:
            async with limit:
                return await self._reconcile(start)
        except Exception as error:
            if isinstance(error, TimeoutError) and limit.expired():
                log.warning("the run was cancelled at its deadline", object=str(start.key), seconds=self._deadline)
            else:
                log.exception("the run failed unexpectedly", object=str(start.key))
        return Ended(failed=True)

    def _settle(self, receipts: Iterable[Receipt], how: Callable[[Receipt], Awaitable[None]]) -> None:
        receipts = tuple(receipts)
        if receipts:
            task = asyncio.create_task(_each(receipts, how), name="settle messages")
            self._settling.add(task)
            task.add_done_callback(self._settling.discard)


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _ack(receipt: Receipt) -> None:
    await receipt.ack()


async def _give_back(receipt: Receipt) -> None:
    await receipt.give_back()


async def _each(receipts: Iterable[Receipt], how: Callable[[Receipt], Awaitable[None]]) -> None:
    for receipt in receipts:
        await how(receipt)
