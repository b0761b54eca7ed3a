"""Delivers events to subscribers: one broadcaster, and a short queue per stream.

As on the real server, a subscriber that stops reading fills its own queue and then blocks the events of all others.
Events for absent subscribers are dropped.
"""

import asyncio
import uuid
from collections import deque
from collections.abc import Hashable

import grpc

from lab.maestro.streams.calls import Context, Failed
from shared.maestro.wire.cloudevent_pb2 import CloudEvent
from shared.maestro.wire.codec import HEARTBEAT_TYPE

QUEUE_LENGTH = 100


class Streams:
    """The subscribers of one port by address: a source, or a consumer and data type."""

    def __init__(self, heartbeat_seconds: float) -> None:
        self._heartbeat_seconds = heartbeat_seconds
        self._posted: asyncio.Queue[tuple[Hashable, CloudEvent]] = asyncio.Queue()
        self._mailboxes: set[_Mailbox] = set()
        self.heartbeats_muted = False
        self.headers_withheld = False

    def post(self, address: Hashable, event: CloudEvent) -> None:
        self._posted.put_nowait((address, event))

    def post_to_all(self, event: CloudEvent) -> None:
        for address in {mailbox.address for mailbox in self._mailboxes}:
            self.post(address, event)

    def cut(self) -> None:
        """End every stream as a broken connection would."""
        for mailbox in self._mailboxes:
            mailbox.close()

    async def broadcast(self) -> None:
        """Deliver posted events in order, until cancelled."""
        self._posted = asyncio.Queue()
        while True:
            address, event = await self._posted.get()
            for mailbox in [each for each in self._mailboxes if each.address == address]:
                await mailbox.put(event)

    async def serve(self, address: Hashable, context: Context) -> None:
        """One subscriber's stream, from its first header to its end."""
        mailbox = _Mailbox(address)
        self._mailboxes.add(mailbox)
        try:
            if not self.headers_withheld:
                await context.send_initial_metadata((("subscription-id", str(uuid.uuid4())),))
            await self._write(mailbox, context)
        except Failed as error:
            await context.abort(error.code, error.details)
        except grpc.aio.InternalError:
            return  # the subscriber disconnected during a write
        finally:
            self._mailboxes.discard(mailbox)
            mailbox.close()

    async def _write(self, mailbox: "_Mailbox", context: Context) -> None:
        clock = asyncio.get_running_loop().time
        beat = clock() + self._heartbeat_seconds
        while True:
            try:
                async with asyncio.timeout_at(beat):
                    event = await mailbox.take()
            except TimeoutError:
                beat += self._heartbeat_seconds
                if self.heartbeats_muted:
                    continue
                event = CloudEvent(id=str(uuid.uuid4()), spec_version="1.0", type=HEARTBEAT_TYPE)
            await context.write(event)


class _Mailbox:
    """A bounded queue; closing it wakes whoever waits at either end."""

    def __init__(self, address: Hashable) -> None:
        self.address = address
        self._events: deque[CloudEvent] = deque()
        self._closed = False
        self._filled, self._emptied = asyncio.Event(), asyncio.Event()

    async def put(self, event: CloudEvent) -> None:
        while len(self._events) >= QUEUE_LENGTH and not self._closed:
            self._emptied.clear()
            await self._emptied.wait()
        self._events.append(event)
        self._filled.set()

    async def take(self) -> CloudEvent:
        while not self._events or self._closed:
            if self._closed:
                raise Failed(grpc.StatusCode.UNAVAILABLE, "Socket closed")
            self._filled.clear()
            await self._filled.wait()
        self._emptied.set()
        return self._events.popleft()

    def close(self) -> None:
        self._closed = True
        self._filled.set()
        self._emptied.set()
