"""A watch of one kind on Kubernetes: a change worth reporting wakes its object, and so does an awaited deletion."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from typing import Protocol

from dispatcher.engine.ports import Object
from dispatcher.runtime.scheduling.wakes import Wake
from dispatcher.runtime.watching.awaiting import AwaitedDeletions
from dispatcher.runtime.watching.expiring import Expiring
from dispatcher.runtime.watching.fingerprints import Digest, digest_of_object
from dispatcher.runtime.watching.last_seen import LastSeen
from dispatcher.runtime.watching.owners import Owners, wake_after_deletion
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
    """Remembers a digest of each object, so that only what changed wakes. Wakes of the first list are background.

    `expiring` is what a former watch of this kind has left, `last_seen` what is kept for reports about other objects.
    """

    def __init__(
        self,
        owners: Owners,
        wakes: Wakes,
        awaited: AwaitedDeletions,
        expiring: Expiring,
        last_seen: LastSeen,
    ) -> None:
        self._owners = owners
        self._wakes = wakes
        self._awaited = awaited
        self._expiring = expiring
        self._last_seen = last_seen
        self._digests: dict[str, Digest | None] = {}

    async def run(self, source: EventSource) -> None:
        clock = asyncio.get_running_loop().time
        self._expiring.resume(clock())
        self._last_seen.clear()
        catching_up = asyncio.create_task(self._catch_up(source), name="look for missed deletions")
        try:
            await self._follow(source)
        finally:
            catching_up.cancel()
            self._expiring.pause(clock())

    async def _catch_up(self, source: EventSource) -> None:
        await source.synced.wait()
        for wake in self._expiring.missed(self._digests):
            self._wakes.wake(wake)

    async def _follow(self, source: EventSource) -> None:
        async with aclosing(source.events()) as events:
            async for event in events:
                if event.change is Change.DELETED:
                    self._on_deleted(event.object)
                else:
                    await self._wakes.wait_for_deliveries()
                    self._on_seen(event.object, event.at, background=not source.synced.is_set())

    def _on_seen(self, found: Object, at: datetime, *, background: bool) -> None:
        uid, digest = _uid(found), digest_of_object(found)
        self._expiring.see(uid, found)
        if uid in self._digests and self._digests[uid] == digest:
            return
        is_first = not background and self._digests.get(uid) is None
        self._digests[uid] = digest
        if digest is None:
            return
        wake = self._owners.changed(found, at, background=background, is_first=is_first)
        if wake is not None:
            self._wakes.wake(wake)

    def _on_deleted(self, found: Object) -> None:
        uid = _uid(found)
        self._digests.pop(uid, None)
        waiting, expired = self._awaited.see(uid), self._expiring.gone(uid, found)
        self._keep_last_seen(found, awaited=waiting is not None)
        wake = wake_after_deletion(*waiting) if waiting is not None else expired
        if wake is not None:
            self._wakes.wake(wake)

    def _keep_last_seen(self, found: Object, *, awaited: bool) -> None:
        """Not of what was deleted on purpose, nor where the watch has missed how it was."""
        gone = self._owners.gone(found)
        if gone is None:
            return
        key, resource, last = gone
        if awaited or digest_of_object(found) is None:
            self._last_seen.forget(key, resource)
        else:
            self._last_seen.keep(key, resource, last)


def _uid(found: Object) -> str:
    return str(found.get("metadata", {}).get("uid", ""))
