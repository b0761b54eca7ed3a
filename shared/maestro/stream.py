"""The status stream: one subscription per client, read by one task, shared by all watchers.

The reader does nothing but read and hand over, because a subscriber that stops reading blocks Maestro's broadcast for
everybody. Each watcher has a `Feed`, which keeps only the newest word per work, so a slow watcher costs memory in
proportion to its works and time to nobody. The stream has no memory: after every (re)connection the feeds are told to
list again.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import grpc

from shared.errors import HyperFleetError, Permanent, Transient, Unavailable
from shared.maestro import refusals
from shared.maestro.codec import HEARTBEAT_TYPE, Envelope, Undecodable, work_in_status
from shared.maestro.link import Link, StatusCall
from shared.maestro.settings import MaestroSettings
from shared.maestro.tracking import rank, reports_deletion
from shared.maestro.wire.cloudevent_pb2 import CloudEvent
from shared.manifestwork import ManifestWork

# Older servers send no headers before the first event; new ones at once.
HEADER_GRACE_SECONDS = 1.0
FIRST_RECONNECT_SECONDS = 0.5
MAX_RECONNECT_SECONDS = 30.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Batch:
    """What came since the last look: whether to list again, and the newest word per work, oldest first."""

    relist: bool
    updates: tuple[ManifestWork, ...]


class Feed:
    """One watcher's end of the stream: never blocks the reader, never holds more than two words per work."""

    def __init__(self, wants: Callable[[ManifestWork], bool]) -> None:
        self._wants = wants
        self._news = asyncio.Event()
        self._relist = False
        self._failure: Permanent | None = None
        # A deletion and a later life of the same work are two facts, so they are kept apart.
        self._pending: dict[tuple[str, bool], ManifestWork] = {}

    async def next(self, patience: float | None) -> Batch:
        """The next news; an empty batch when there was none for `patience` seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._news.wait()
        if self._failure is not None:
            raise self._failure
        batch = Batch(relist=self._relist, updates=tuple(self._pending.values()))
        self._relist = False
        self._pending.clear()
        self._news.clear()
        return batch

    def offer(self, work: ManifestWork) -> None:
        if not self._wants(work):
            return
        key = (work.uid, reports_deletion(work))
        if key not in self._pending or rank(work) > rank(self._pending[key]):
            self._pending.pop(key, None)  # the newest word comes last, also after a deletion
            self._pending[key] = work
        self._news.set()

    def ask_to_relist(self) -> None:
        self._relist = True
        self._news.set()

    def fail(self, error: Permanent) -> None:
        self._failure = error
        self._news.set()


class StatusStream:
    """The subscription. It is open while there is a feed, and reconnects by itself until it is refused for good."""

    def __init__(self, link: Link, settings: MaestroSettings) -> None:
        self._link = link
        self._settings = settings
        self._feeds: set[Feed] = set()
        self._reader: asyncio.Task[None] | None = None
        self._connected = False

    @contextlib.asynccontextmanager
    async def feed(self, wants: Callable[[ManifestWork], bool]) -> AsyncIterator[Feed]:
        feed = Feed(wants)
        self._feeds.add(feed)
        if self._connected:
            feed.ask_to_relist()
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._read_until_refused(), name="maestro-status-stream")
        try:
            yield feed
        finally:
            self._feeds.discard(feed)
            if not self._feeds:
                await self.close()

    async def close(self) -> None:
        reader, self._reader = self._reader, None
        self._connected = False
        if reader is not None:
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reader

    async def _read_until_refused(self) -> None:
        failures = 0
        while True:
            try:
                async for _ in self._read_once():
                    failures = 0
            except Permanent as error:
                self._refuse(error)
                return
            except Transient as error:
                log.warning("Maestro's status stream broke, connecting again: %s", error)
            finally:
                self._connected = False
            delay = min(MAX_RECONNECT_SECONDS, FIRST_RECONNECT_SECONDS * 2**failures)
            failures += 1
            await asyncio.sleep(random.uniform(0, delay))  # noqa: S311 - spreads load, guards nothing

    async def _read_once(self) -> AsyncIterator[None]:
        """One connection, from subscribing to its end; yields whenever Maestro shows that it is alive."""
        call = self._link.subscribe()
        try:
            await self._await_headers(call)
            self._connected = True
            for feed in self._feeds:
                feed.ask_to_relist()
            while not self._link.refresh():
                self._hand_over(await self._read_event(call))
                yield
        finally:
            call.cancel()

    async def _await_headers(self, call: StatusCall) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HEADER_GRACE_SECONDS):
                # Shielded, because cancelling this wait would cancel the whole call.
                await asyncio.shield(asyncio.ensure_future(call.initial_metadata()))
        if call.done():
            raise await _end_of(call)

    async def _read_event(self, call: StatusCall) -> Envelope:
        patience = self._settings.server_healthiness_timeout or None
        try:
            async with asyncio.timeout(patience):
                event = await call.read()
        except TimeoutError:
            raise Unavailable(f"no sign of life from Maestro for {patience:g} s") from None
        except grpc.aio.AioRpcError as error:
            raise refusals.from_grpc("subscribing to status", error.code(), error.details() or "") from error
        if not isinstance(event, CloudEvent):  # grpc.aio.EOF
            raise await _end_of(call)
        return Envelope.from_proto(event)

    def _hand_over(self, envelope: Envelope) -> None:
        if envelope.type == HEARTBEAT_TYPE:
            return
        try:
            work = work_in_status(envelope)
        except Undecodable as error:
            log.warning("a status event of Maestro cannot be read and is left out: %s", error)
            return
        for feed in self._feeds:
            feed.offer(work)

    def _refuse(self, error: Permanent) -> None:
        for feed in self._feeds:
            feed.fail(error)


async def _end_of(call: StatusCall) -> HyperFleetError:
    code, details = await call.code(), await call.details()
    if code is grpc.StatusCode.OK:
        return Unavailable("Maestro ended the status stream")
    return refusals.from_grpc("subscribing to status", code, details or "")
