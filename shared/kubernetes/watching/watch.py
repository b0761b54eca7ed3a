"""A watch that never ends by itself: list, then watch, then resume, for as long as somebody asks for events.

                     ┌────────────── the server has forgotten our version (410), or the resync is due ─────────────┐
                     ▼                                                                                             │
    list page by page ──▶ changes against what is known ──▶ watch from the list's version ──▶ ended: watch again ──┘
                     ▲                                                  │
                     └───────────── failed: wait, jittered ◀────────────┘ (resumes at the last version it can)

`synced` is set once everything that was there at the start has been delivered. `healthy` is False from a failure until
the server answers again; nothing is lost meanwhile, because versions and lists fill the gap.
"""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import replace

from shared import times
from shared.errors import HyperFleetError, Invalid
from shared.kubernetes.client import KubernetesClient, StreamEvent
from shared.kubernetes.http.refusals import Expired
from shared.kubernetes.objects import Selection, version_of
from shared.kubernetes.watching.backoff import Backoff
from shared.kubernetes.watching.known import Key, Known, WatchEvent, key_of

RESYNC_SECONDS = 600.0
# The server ends each watch after about this long; spread, so that a fleet's watches do not all begin anew at once.
STREAM_SECONDS = (240.0, 300.0)
# A watch that ends sooner than this without an event is a failure of something on the way.
SHORTEST_STREAM_SECONDS = 1.0

log = logging.getLogger(__name__)


class Watch:
    """One selection. Use `events` once; it raises only what no waiting can mend, an invalid selector."""

    def __init__(
        self,
        client: KubernetesClient,
        selection: Selection,
        *,
        resync_seconds: float = RESYNC_SECONDS,
        backoff: Backoff | None = None,
    ) -> None:
        self.selection = selection
        self.synced = asyncio.Event()
        self.healthy = False
        self.known = Known(selection.api_version, selection.kind)
        self._client = client
        self._resync_seconds = resync_seconds
        self._resync_at = 0.0
        self._backoff = backoff or Backoff()
        self._version = ""

    async def events(self) -> AsyncGenerator[WatchEvent, None]:
        """Every change, beginning with all that is there as ADDED."""
        while True:
            try:
                async with aclosing(self._round()) as events:
                    async for event in events:
                        yield event
            except Invalid:
                raise
            except Expired as error:
                log.info("listing %s again: %s", self.selection, error)
                self._version = ""
                await asyncio.sleep(self._backoff.next())
            except HyperFleetError as error:
                self.healthy = False
                wait = self._backoff.next()
                log.warning("the watch of %s failed, trying again in %.1f s: %s", self.selection, wait, error)
                await asyncio.sleep(wait)

    async def _round(self) -> AsyncGenerator[WatchEvent, None]:
        """One list where it is needed, then one watch until the server ends it."""
        now = asyncio.get_running_loop().time
        if not self._version or now() >= self._resync_at:
            async with aclosing(self._list()) as listed:
                async for event in listed:
                    yield event
        started, quiet = now(), True
        seconds = max(1.0, min(self._resync_at - started, random.uniform(*STREAM_SECONDS)))  # noqa: S311 - no secret
        async with self._client.stream(self.selection, since=self._version, seconds=seconds) as changes:
            self._answered()
            async for change in changes:
                quiet = False
                for event in self._follow(change):
                    yield event
        if quiet and now() - started < SHORTEST_STREAM_SECONDS:
            await asyncio.sleep(self._backoff.next())

    async def _list(self) -> AsyncGenerator[WatchEvent, None]:
        """The version is taken over at the very end: a list that broke off is begun anew."""
        listed: set[Key] = set()
        version = self._version = ""
        async with aclosing(self._client.pages(self.selection)) as pages:
            async for page in pages:
                self._answered()
                version, at = page.version, times.now()
                for document in page.items:
                    listed.add(key_of(document))
                    for event in self.known.seen(document):
                        yield replace(event, at=at)
        for event in self.known.missing(listed):
            yield event
        self._version = version
        self._resync_at = asyncio.get_running_loop().time() + self._resync_seconds * random.uniform(0.8, 1.0)  # noqa: S311
        self.synced.set()

    def _follow(self, change: StreamEvent) -> Iterator[WatchEvent]:
        match change.change:
            case "ADDED" | "MODIFIED":
                yield from self.known.seen(change.object)
            case "DELETED":
                yield from self.known.deleted(change.object)
        self._version = version_of(change.object) or self._version

    def _answered(self) -> None:
        self.healthy = True
        self._backoff.reset()
