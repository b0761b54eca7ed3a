"""Following works: every change of them, or one state of one of them. The stream is a hint, REST is the truth."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared import times
from shared.errors import DeadlineExceeded, Transient
from shared.maestro.config.settings import MaestroSettings
from shared.maestro.works.reading import LabelSelector, WorkReader
from shared.maestro.works.selectors import Selector
from shared.maestro.works.tracking import Tracker, WorkEvent
from shared.model.manifestwork import ManifestWork

if TYPE_CHECKING:  # whoever only reads does not load gRPC
    from shared.maestro.grpc.stream import StatusStream

# While a state is awaited, the work is read at least this often. A list that failed is tried again after these.
READ_AGAIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Watcher:
    """`stream` opens the status stream when it is first called."""

    settings: MaestroSettings
    reader: WorkReader
    stream: "Callable[[], StatusStream]"

    async def watch(self, selector: LabelSelector, name: str | None) -> AsyncGenerator[WorkEvent, None]:
        chosen = Selector.of(selector)
        uid = self.reader.ownership.id_of(name) if name else None

        def wants(work: ManifestWork) -> bool:
            return work.uid == uid if uid else work.consumer == self.reader.ownership.consumer

        tracker = Tracker(lambda work: chosen.matches(work.labels))
        clock = asyncio.get_running_loop().time
        async with self.stream().feed(wants) as feed:
            relist, due = False, clock() + self.settings.relist_interval
            while True:
                batch = await feed.next(READ_AGAIN_SECONDS if relist else max(0.0, due - clock()))
                relist = relist or batch.relist or clock() >= due
                if relist:
                    try:
                        listed = await self._present(name, chosen)
                    except Transient:
                        continue  # the stream logs its reconnection; the list is tried again
                    relist, due = False, clock() + self.settings.relist_interval
                    for event in tracker.replace(listed):
                        yield event
                for update in batch.updates:
                    for event in tracker.update(update):
                        yield event

    async def wait(
        self,
        name: str,
        reached: Callable[[ManifestWork | None], bool],
        timeout: float,
        meanwhile: Callable[[ManifestWork | None], Awaitable[None]] | None = None,
    ) -> ManifestWork | None:
        """The work once `reached` holds for it; `meanwhile` is called with every state for which it does not."""
        uid = self.reader.ownership.id_of(name)
        work: ManifestWork | None = None
        try:
            async with asyncio.timeout(timeout), self.stream().feed(lambda each: each.uid == uid) as feed:
                while True:
                    work = await self.reader.find(name)
                    if reached(work):
                        return work
                    if meanwhile is not None:
                        await meanwhile(work)
                    await feed.next(READ_AGAIN_SECONDS)
        except TimeoutError:
            what = f"waited {timeout:g} s for work {name!r} on {self.reader.ownership.consumer}"
            raise DeadlineExceeded(what, why=_last_status(work)) from None

    async def _present(self, name: str | None, chosen: Selector) -> Sequence[ManifestWork]:
        if name is not None:
            work = await self.reader.find(name)
            return [] if work is None else [work]
        async with aclosing(self.reader.scan(chosen)) as scanned:
            return [work async for work in scanned]


def _last_status(work: ManifestWork | None) -> str:
    if work is None:
        return "there is no such work"
    conditions = [f"{each.type}={each.status} {each.message}".strip() for each in work.status.conditions]
    state = f"being deleted since {times.to_seconds(work.deleted_at)}" if work.deleted_at else "still there"
    return f"it is {state}; its last conditions: {', '.join(conditions) or 'none'}"
