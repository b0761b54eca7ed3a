"""The embedded broker on a port of loopback. Subscriptions and their messages outlive a crash, as durable queues do."""

import asyncio
from types import TracebackType
from typing import Self

from lab.broker.connection import Connection
from lab.broker.subscriptions import Subscription
from lab.broker.topics import Topics
from lab.loopback import HOST, ReservedPort
from shared.embedded_broker import MAX_LINE


class LabBroker:
    """One broker. `kill` and `start` keep its port, its subscriptions and every message not yet acknowledged."""

    def __init__(self, *, port: int = 0) -> None:
        self._topics = Topics()
        self._wanted_port = port
        self._port: ReservedPort | None = None
        self._server: asyncio.Server | None = None
        self._connections: dict[Connection, asyncio.Task[None]] = {}

    @property
    def port(self) -> int:
        assert self._port is not None, "the broker has a port once it is entered"
        return self._port.number

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    async def __aenter__(self) -> Self:
        self._port = ReservedPort(self._wanted_port)
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.kill()
        if self._port is not None:
            self._port.release()

    async def start(self) -> None:
        """Listen on the same port as before."""
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, HOST, self.port, limit=MAX_LINE)

    async def kill(self) -> None:
        """A crash: every connection breaks and nobody listens."""
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        self.cut()
        await asyncio.gather(*self._connections.values(), return_exceptions=True)
        await server.wait_closed()

    def cut(self) -> None:
        """Break every connection; clients may return at once."""
        for connection in list(self._connections):
            connection.cut()

    def subscribe(self, topic: str, subscription: str) -> None:
        """Make the subscription without a consumer, so that messages are kept for one that comes later."""
        self._topics.subscription(topic, subscription)

    def publish(self, topic: str, body: bytes) -> None:
        self._topics.publish(topic, body)

    def waiting(self, topic: str, subscription: str) -> int:
        """How many messages wait for a consumer that takes them."""
        return len(self._of(topic, subscription).waiting)

    def unacknowledged(self, topic: str, subscription: str) -> int:
        """How many messages consumers hold and have not acknowledged."""
        return self._of(topic, subscription).unacknowledged

    def consumers(self, topic: str, subscription: str) -> int:
        return len(self._of(topic, subscription).consumers)

    async def until_consumed(self, topic: str, subscription: str) -> None:
        """Return when every message of the subscription was acknowledged."""
        found = self._of(topic, subscription)
        await self._topics.until(lambda: not found.waiting and not found.unacknowledged)

    async def until_consumers(self, topic: str, subscription: str, count: int = 1) -> None:
        """Return when at least so many consumers compete for the subscription."""
        found = self._of(topic, subscription)
        await self._topics.until(lambda: len(found.consumers) >= count)

    async def until_held(self, topic: str, subscription: str, count: int = 1) -> None:
        """Return when consumers hold at least so many unacknowledged messages."""
        found = self._of(topic, subscription)
        await self._topics.until(lambda: found.unacknowledged >= count)

    async def until_waiting(self, topic: str, subscription: str, count: int = 1) -> None:
        """Return when at least so many messages wait for a consumer."""
        found = self._of(topic, subscription)
        await self._topics.until(lambda: len(found.waiting) >= count)

    def _of(self, topic: str, subscription: str) -> Subscription:
        return self._topics.subscription(topic, subscription)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(self._topics, reader, writer)
        task = asyncio.current_task()
        assert task is not None
        self._connections[connection] = task
        try:
            await connection.serve()
        finally:
            del self._connections[connection]
