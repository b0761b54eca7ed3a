"""Where events go: a port, the embedded broker behind it, and (in `rabbitmq`) RabbitMQ."""

import asyncio
import itertools
from types import TracebackType
from typing import Protocol, Self

from lab.sentinel.events import Event
from shared.embedded_broker import MAX_LINE, Publish, Published, decode, encode
from shared.errors import Unavailable

_DEADLINE = 30.0


class Publisher(Protocol):
    """Publishes to topics. A lost connection is made anew for the next event."""

    async def __aenter__(self) -> Self:
        """Raises Unavailable where nobody answers."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def publish(self, topic: str, event: Event) -> None:
        """Return when the broker has the event. Raises Unavailable where it may not have it."""


class EmbeddedPublisher:
    """To the embedded broker at `host:port`."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._numbers = itertools.count(1)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> Self:
        await self._connected()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._disconnect()

    async def publish(self, topic: str, event: Event) -> None:
        reader, writer = await self._connected()
        number = next(self._numbers)
        try:
            writer.write(encode(Publish(number=number, topic=topic, body=event.body)))
            async with asyncio.timeout(_DEADLINE):
                line = await reader.readline()
        except (OSError, TimeoutError) as error:
            self._disconnect()
            raise self._unavailable(error) from error
        except BaseException:
            self._disconnect()
            raise
        if not line or decode(line) != Published(number=number):
            self._disconnect()
            raise self._unavailable(line.decode().strip() or "the connection was closed")

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            host, _, port = self._address.rpartition(":")
            try:
                self._streams = await asyncio.open_connection(host, int(port), limit=MAX_LINE)
            except OSError as error:
                raise self._unavailable(error) from error
        return self._streams

    def _disconnect(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    def _unavailable(self, why: object) -> Unavailable:
        return Unavailable(f"the embedded broker at {self._address} did not take the event", why=str(why))
