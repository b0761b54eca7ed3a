"""A watch of one kind on Kubernetes: a change worth reporting wakes its object, and so does an awaited deletion."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from datetime import datetime
from typing import Protocol

from dispatcher.engine.ports import Object
from dispatcher.runtime.scheduling.wakes import Wake
from dispatcher.runtime.watching.awaiting import AwaitedDeletions
from dispatcher.runtime.watching.fingerprints import Digest, digest_of_object
from dispatcher.runtime.watching.owners import Owners, wake_after_deletion
from shared import times
from shared.kubernetes import Change, WatchEvent


class Wakes(Protocol):
    """Where wakes go; `wait_for_deliveries` holds a watch back while too many objects are kept in memory."""

    def wake(self, wake: Wake) -> None: ...

    async def wait_for_deliveries(self) -> None: ...


class EventSource(Protocol):
    """A watch of `shared.kubernetes`: it lists, watches and resumes for ever. `synced` is set after the first list."""

    synced: asyncio.Event

    def events(self) -> AsyncGenerator[WatchEvent, None]: ...


class ObjectWatch:
    """Remembers a digest of each object, so that only what changed wakes. Wakes of the first list are background."""

    def __init__(
        self,
        owners: Owners,
        wakes: Wakes,
        awaited: AwaitedDeletions,
        *,
        now: Callable[[], datetime] = times.now,
    ) -> None:
        self._owners = owners
        self._wakes = wakes
        self._awaited = awaited
        self._now = now
        self._digests: dict[str, Digest | None] = {}

    async def run(self, source: EventSource) -> None:
        async with aclosing(source.events()) as events:
            async for event in events:
                if event.change is Change.DELETED:
                    self._on_deleted(event.object)
                else:
                    await self._wakes.wait_for_deliveries()
                    self._on_seen(event.object, background=not source.synced.is_set())

    def _on_seen(self, found: Object, *, background: bool) -> None:
        uid, digest = _uid(found), digest_of_object(found)
        if self._digests.get(uid) == digest:
            self._digests[uid] = digest
            return
        self._digests[uid] = digest
        wake = self._owners.changed(found, self._now(), background=background) if digest is not None else None
        if wake is not None:
            self._wakes.wake(wake)

    def _on_deleted(self, found: Object) -> None:
        self._digests.pop(_uid(found), None)
        waiting = self._awaited.see(_uid(found))
        wake = wake_after_deletion(*waiting) if waiting is not None else self._owners.expired(found)
        if wake is not None:
            self._wakes.wake(wake)


def _uid(found: Object) -> str:
    return str(found.get("metadata", {}).get("uid", ""))
