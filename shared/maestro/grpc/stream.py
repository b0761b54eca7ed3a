"""The status stream: one subscription per client, read by one task, shared by all watchers.

The reader does nothing but read and hand over, because a subscriber that stops reading blocks Maestro's broadcast for
everybody. Each watcher has a `Feed`. The stream has no history: after every (re)connection every feed lists again.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable

import grpc

from shared.backoff import Backoff
from shared.errors import HyperFleetError, Misconfigured, Permanent, Transient, Unavailable
from shared.maestro.config.settings import MaestroSettings
from shared.maestro.grpc.channel import GrpcChannel, StatusCall
from shared.maestro.grpc.refusals import from_grpc
from shared.maestro.wire.cloudevent_pb2 import CloudEvent
from shared.maestro.wire.codec import HEARTBEAT_TYPE, Envelope, Undecodable, work_in_status
from shared.maestro.works.feed import Feed
from shared.model.manifestwork import ManifestWork

# Older servers send no headers before the first event; new ones at once.
HEADER_GRACE_SECONDS = 1.0
RECONNECT = Backoff(first=0.5, longest=30.0)

log = logging.getLogger(__name__)


class StatusStream:
    """The subscription. It is open while there is a feed, and reconnects by itself until it is refused for good."""

    def __init__(self, channel: GrpcChannel, settings: MaestroSettings) -> None:
        self._channel = channel
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
        failures, was_connected = 0, False
        while True:
            try:
                async for _ in self._read_once():
                    failures = 0
            except Permanent as error:
                if not (was_connected and isinstance(error, Misconfigured)):
                    self._refuse(error)
                    return
                # Certificates of server and client are renewed at different moments.
                log.warning("Maestro's status stream cannot be opened again yet: %s", error)
            except Transient as error:
                log.warning("Maestro's status stream broke, reconnecting: %s", error)
            finally:
                was_connected = was_connected or self._connected
                self._connected = False
            await asyncio.sleep(RECONNECT.delay(failures))
            failures += 1

    async def _read_once(self) -> AsyncIterator[None]:
        """One connection, from subscribing to its end; yields whenever Maestro shows that it is alive."""
        call = self._channel.subscribe()
        try:
            await self._await_headers(call)
            self._connected = True
            for feed in self._feeds:
                feed.ask_to_relist()
            while not self._channel.refresh():
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
            raise await self._end_of(call)

    async def _read_event(self, call: StatusCall) -> Envelope:
        timeout = self._settings.server_healthiness_timeout or None
        try:
            async with asyncio.timeout(timeout):
                event = await call.read()
        except TimeoutError:
            raise Unavailable(f"no event or heartbeat from Maestro for {timeout:g} s") from None
        except grpc.aio.AioRpcError as error:
            raise self._refusal(error.code(), error.details()) from error
        if not isinstance(event, CloudEvent):  # grpc.aio.EOF
            raise await self._end_of(call)
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

    async def _end_of(self, call: StatusCall) -> HyperFleetError:
        code, details = await call.code(), await call.details()
        if code is grpc.StatusCode.OK:
            return Unavailable("Maestro ended the status stream")
        return self._refusal(code, details)

    def _refusal(self, code: grpc.StatusCode, details: str | None) -> HyperFleetError:
        return from_grpc("subscribing to status", code, details or "", self._settings.grpc_names)
