"""The embedded broker of the lab and of tests, over loopback TCP. The protocol is `shared.embedded_broker`."""

import asyncio
import contextlib
from dataclasses import dataclass

from dispatcher.brokers.port import Deliver
from shared.embedded_broker import (
    MAX_LINE,
    Ack,
    Cancel,
    Cancelled,
    ClientFrame,
    Frame,
    Nack,
    Refused,
    Subscribe,
    Subscribed,
    decode,
    encode,
)
from shared.embedded_broker import Deliver as DeliverFrame
from shared.errors import Invalid, Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSettings:
    """`address` is host:port."""

    address: str
    topic: str
    subscription: str
    prefetch_count: int = 128


class EmbeddedSubscription:
    def __init__(self, settings: EmbeddedSettings) -> None:
        self._settings = settings

    @property
    def description(self) -> str:
        settings = self._settings
        return f"subscription {settings.subscription!r} of topic {settings.topic!r} at {settings.address}"

    async def connect(self, deliver: Deliver) -> "EmbeddedConnection":
        settings = self._settings
        host, _, port = settings.address.rpartition(":")
        try:
            reader, writer = await asyncio.open_connection(host, int(port), limit=MAX_LINE)
        except OSError as error:
            raise Unavailable(f"no connection to the embedded broker at {settings.address}", why=str(error)) from error
        connection = EmbeddedConnection(reader, writer, deliver)
        subscribe = Subscribe(
            topic=settings.topic, subscription=settings.subscription, prefetch=settings.prefetch_count
        )
        try:
            await connection.start(subscribe)
        except BaseException:
            await connection.close()
            raise
        return connection


class EmbeddedConnection:
    """One reader task hands deliveries over; it ends with the connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, deliver: Deliver) -> None:
        self._reader = reader
        self._writer = writer
        self._deliver = deliver
        self._cancelled = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None

    async def start(self, subscribe: Subscribe) -> None:
        self.send(subscribe)
        answer = await self._next_frame()
        if not isinstance(answer, Subscribed):
            raise Unavailable("the embedded broker did not accept the subscription", why=str(answer))
        self._reading = asyncio.create_task(self._read(), name="embedded-broker")

    def send(self, frame: ClientFrame) -> None:
        if not self._writer.is_closing():
            self._writer.write(encode(frame))

    async def wait_lost(self) -> None:
        assert self._reading is not None
        await asyncio.shield(self._reading)

    async def stop(self) -> None:
        self.send(Cancel())
        await self._cancelled.wait()

    async def close(self) -> None:
        with contextlib.suppress(OSError):
            await self._writer.drain()
        self._writer.close()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})
            _ = self._reading.cancelled() or self._reading.exception()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def _read(self) -> None:
        while True:
            match await self._next_frame():
                case DeliverFrame(tag=tag, body=body):
                    self._deliver(EmbeddedMessage(self, tag, body))
                case Cancelled():
                    self._cancelled.set()

    async def _next_frame(self) -> Frame:
        try:
            line = await self._reader.readline()
            if not line:
                raise Unavailable("the embedded broker closed the connection")
            frame = decode(line)
        except (OSError, ValueError, Invalid) as error:
            raise Unavailable("the connection to the embedded broker broke", why=str(error)) from error
        if isinstance(frame, Refused):
            raise Unavailable("the embedded broker refused us", why=frame.reason)
        return frame


class EmbeddedMessage:
    def __init__(self, connection: EmbeddedConnection, tag: int, body: bytes) -> None:
        self._connection = connection
        self._tag = tag
        self.body = body

    async def ack(self) -> None:
        self._connection.send(Ack(tag=self._tag))

    async def give_back(self) -> None:
        self._connection.send(Nack(tag=self._tag, requeue=True))
