"""The watch of this adapter's works on Maestro, on all consumers: changed conditions or feedback wake their objects.

The status stream has no memory, so all works are listed at the start, after every reconnection and from time to time,
page by page, while the stream goes on being read. Of each work only its rank and a digest are kept.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from dispatcher.runtime.watching.awaiting import AwaitedDeletions
from dispatcher.runtime.watching.fingerprints import Digest, digest_of_work
from dispatcher.runtime.watching.objects import Wakes
from dispatcher.runtime.watching.owners import Owners, wake_after_deletion
from dispatcher.transports.work_objects import object_of
from shared import logs, times
from shared.errors import HyperFleetError, Transient
from shared.maestro import Feed, Rank, rank, reports_deletion
from shared.model.manifestwork import ManifestWork

RETRY_SECONDS = 5.0

log = logs.get(__name__)


class WorkSource(Protocol):
    """What is needed of `MaestroClient`."""

    @property
    def relist_interval(self) -> float: ...

    def feed(self, wants: Callable[[ManifestWork], bool]) -> AbstractAsyncContextManager[Feed]: ...

    def scan(self, *, selector: str | None = None) -> AsyncGenerator[ManifestWork, None]: ...

    def is_ours(self, work: ManifestWork) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Seen:
    rank: Rank
    digest: Digest | None


class WorkWatch:
    def __init__(
        self,
        source: WorkSource,
        owners: Owners,
        wakes: Wakes,
        awaited: AwaitedDeletions,
        *,
        label: tuple[str, str],
        now: Callable[[], datetime] = times.now,
    ) -> None:
        self._source = source
        self._owners = owners
        self._wakes = wakes
        self._awaited = awaited
        self._label = label
        self._now = now
        self._seen: dict[str, _Seen] = {}
        self._relist = asyncio.Event()
        self.healthy = False

    async def run(self) -> None:
        """For ever: a stream that Maestro refuses is tried again, for its cause may be mended."""
        while True:
            try:
                async with self._source.feed(self._is_watched) as feed, asyncio.TaskGroup() as group:
                    group.create_task(self._keep_listing(), name="list works")
                    await self._follow(feed)
            except* HyperFleetError as errors:
                self.healthy = False
                log.warning("the watch of works failed, trying again", error=str(errors.exceptions[0]))
                await asyncio.sleep(RETRY_SECONDS)

    async def _follow(self, feed: Feed) -> None:
        while True:
            batch = await feed.next(None)
            at = self._now()
            if batch.relist:
                self._relist.set()
            for work in batch.updates:
                await self._wakes.wait_for_deliveries()
                self._on_update(work, at)

    async def _keep_listing(self) -> None:
        while True:
            try:
                async with asyncio.timeout(self._source.relist_interval):
                    await self._relist.wait()
            except TimeoutError:
                pass
            self._relist.clear()
            try:
                await self._list()
                self.healthy = True
            except Transient as error:
                self.healthy = False
                log.warning("cannot list works, trying again", error=str(error))
                self._relist.set()
                await asyncio.sleep(RETRY_SECONDS)

    async def _list(self) -> None:
        before, listed = set(self._seen), set()
        async with aclosing(self._source.scan(selector="=".join(self._label))) as works:
            async for work in works:
                if self._source.is_ours(work):
                    listed.add(work.uid)
                    at = self._now()
                    await self._wakes.wait_for_deliveries()
                    self._on_seen(work, at, background=work.uid not in before)
        for uid in before - listed:
            self._on_gone(uid)

    def _is_watched(self, work: ManifestWork) -> bool:
        name, value = self._label
        return work.labels.get(name) == value and self._source.is_ours(work)

    def _on_update(self, work: ManifestWork, at: datetime) -> None:
        if reports_deletion(work):
            self._on_gone(work.uid)
        else:
            self._on_seen(work, at, background=False)

    def _on_seen(self, work: ManifestWork, at: datetime, *, background: bool) -> None:
        known = self._seen.get(work.uid)
        if known is not None and rank(work) <= known.rank:
            return
        digest = digest_of_work(work)
        self._seen[work.uid] = _Seen(rank(work), digest)
        if digest is None or (known is not None and known.digest == digest):
            return
        wake = self._owners.changed(object_of(work), at, background=background)
        if wake is not None:
            self._wakes.wake(wake)

    def _on_gone(self, uid: str) -> None:
        self._seen.pop(uid, None)
        waiting = self._awaited.see(uid)
        if waiting is not None:
            self._wakes.wake(wake_after_deletion(*waiting))
