"""The loop: read everything, decide on each resource, publish what is due; at once, and then at every interval.

It keeps no memory of what it published, as the real one does not: a resource is announced at every poll for as long as
the rules say so.
"""

import asyncio
import contextlib
from collections import Counter, deque
from collections.abc import Callable
from datetime import datetime
from types import TracebackType
from typing import Self

import aiohttp

from lab.sentinel.decision import Reason, decide
from lab.sentinel.events import Event, reconcile_event
from lab.sentinel.publishing import Publisher
from lab.sentinel.reading import ResourceReader
from lab.sentinel.settings import Sentinel
from shared import times
from shared.errors import HyperFleetError

_API_TIMEOUT = aiohttp.ClientTimeout(total=10)
# A Sentinel that runs for hours must not keep all its events.
REMEMBERED = 10_000


class LabSentinel:
    """Entered, it polls until it is left. `poll` is one turn of the loop, for tests that turn it by hand.

    `events` are the latest published ones, `reasons` counts why, `last_error` is what ended the last poll, if anything.
    Other intervals in `settings` count from the next poll on.
    """

    def __init__(
        self,
        settings: Sentinel,
        publisher: Publisher,
        *,
        clock: Callable[[], datetime] = times.now,
        polling: bool = True,
    ) -> None:
        self.events: deque[Event] = deque(maxlen=REMEMBERED)
        self.reasons: Counter[Reason] = Counter()
        self.last_error: HyperFleetError | None = None
        self.settings, self._publisher, self._clock, self._polling = settings, publisher, clock, polling
        self._news = asyncio.Event()
        self._lifetime = contextlib.AsyncExitStack()
        self._reader: ResourceReader | None = None

    async def __aenter__(self) -> Self:
        """Raises Unavailable where the API or the broker does not answer."""
        settings = self.settings
        async with contextlib.AsyncExitStack() as lifetime:
            http = await lifetime.enter_async_context(aiohttp.ClientSession(timeout=_API_TIMEOUT))
            self._reader = ResourceReader(
                http,
                settings.api_url,
                settings.resource_type,
                page_size=settings.page_size,
                selector=settings.selector,
            )
            await self._reader.probe()
            await lifetime.enter_async_context(self._publisher)
            if self._polling:
                loop = asyncio.create_task(self._run(), name=f"sentinel-{settings.resource_type}")
                lifetime.push_async_callback(_ended, loop)
            self._lifetime = lifetime.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._lifetime.aclose()

    async def poll(self) -> list[Event]:
        """The events of one turn, published in the order of the list."""
        assert self._reader is not None, "a Sentinel polls once it is entered"
        settings, published = self.settings, list[Event]()
        async for resource in self._reader.all():
            reason = decide(resource, self._clock(), debounce=settings.debounce, stale=settings.stale)
            if reason is None:
                continue
            event = reconcile_event(
                resource, self._clock(), owner_references=settings.owner_references, tracing=settings.tracing
            )
            await self._publisher.publish(settings.topic, event)
            published.append(event)
            self._note(event, reason)
        return published

    async def until_published(self, wanted: Callable[[Event], bool] = lambda _: True) -> Event:
        """The first event so far, or from now on, that is wanted."""
        while True:
            for event in self.events:
                if wanted(event):
                    return event
            await self._news.wait()

    async def until_failed(self) -> HyperFleetError:
        """What ended the last poll, or the next one that fails."""
        while self.last_error is None:
            await self._news.wait()
        return self.last_error

    async def _run(self) -> None:
        while True:
            try:
                await self.poll()
                self.last_error = None
            except HyperFleetError as error:
                self.last_error = error
                self._changed()
            await asyncio.sleep(self.settings.poll_interval.total_seconds())

    def _note(self, event: Event, reason: Reason) -> None:
        self.events.append(event)
        self.reasons[reason] += 1
        self._changed()

    def _changed(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
