"""A client that speaks the embedded broker's protocol frame by frame, right or wrong."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from shared.embedded_broker import Deliver, Frame, Publish, Published, Subscribe, Subscribed, decode, encode

DEADLINE = 240.0
Kind = TypeVar("Kind", bound=Frame)


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._published = 0

    def send(self, frame: Frame) -> None:
        self._writer.write(encode(frame))

    def send_line(self, line: bytes) -> None:
        self._writer.write(line)

    async def receive(self, kind: type[Kind]) -> Kind:
        async with asyncio.timeout(DEADLINE):
            line = await self._reader.readline()
        frame = decode(line)
        assert isinstance(frame, kind), frame
        return frame

    async def ended(self) -> None:
        async with asyncio.timeout(DEADLINE):
            assert await self._reader.read() == b""

    async def publish(self, topic: str, body: bytes) -> None:
        self._published += 1
        self.send(Publish(number=self._published, topic=topic, body=body))
        assert await self.receive(Published) == Published(number=self._published)

    async def subscribe(self, topic: str, subscription: str, prefetch: int = 0) -> None:
        self.send(Subscribe(topic=topic, subscription=subscription, prefetch=prefetch))
        await self.receive(Subscribed)

    async def delivered(self) -> Deliver:
        return await self.receive(Deliver)

    def abort(self) -> None:
        self._writer.transport.abort()

    async def close(self) -> None:
        self._writer.close()


Connect = Callable[[], Awaitable[Client]]
