"""What a watcher has not read yet of the status stream: the latest status per work.

A slow watcher costs memory in proportion to its works and delays nobody.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from shared.errors import Permanent
from shared.maestro.works.tracking import rank, reports_deletion
from shared.model.manifestwork import ManifestWork


@dataclass(frozen=True, slots=True)
class Batch:
    """What came since the last batch: whether to list again, and the latest status per work, oldest first."""

    relist: bool
    updates: tuple[ManifestWork, ...]


class Feed:
    """One watcher's end of the stream: never blocks the reader, never holds more than two statuses per work."""

    def __init__(self, wants: Callable[[ManifestWork], bool]) -> None:
        self._wants = wants
        self._changed = asyncio.Event()
        self._relist = False
        self._failure: Permanent | None = None
        # A deletion and a later incarnation of the same work are two facts, so they are kept apart.
        self._pending: dict[tuple[str, bool], ManifestWork] = {}

    async def next(self, timeout: float | None) -> Batch:
        """The next batch; an empty one when nothing came for `timeout` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._changed.wait()
        if self._failure is not None:
            raise self._failure
        batch = Batch(relist=self._relist, updates=tuple(self._pending.values()))
        self._relist = False
        self._pending.clear()
        self._changed.clear()
        return batch

    def offer(self, work: ManifestWork) -> None:
        if not self._wants(work):
            return
        key = (work.uid, reports_deletion(work))
        if key not in self._pending or rank(work) > rank(self._pending[key]):
            self._pending.pop(key, None)  # the latest status comes last, also after a deletion
            self._pending[key] = work
        self._changed.set()

    def ask_to_relist(self) -> None:
        self._relist = True
        self._changed.set()

    def fail(self, error: Permanent) -> None:
        self._failure = error
        self._changed.set()
