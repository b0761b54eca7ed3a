"""RabbitMQ, with the topology of the Go library, so that Go and Python adapters can replace each other.

A durable exchange named after the topic, a durable queue `<topic>-<subscription>` without arguments, bound with the
empty routing key. Declaring with other arguments is refused by RabbitMQ when the queue or exchange exists.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import aio_pika
import aiormq.exceptions
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage, AbstractQueue
from yarl import URL

from dispatcher.brokers.port import Deliver
from shared.errors import Forbidden, HyperFleetError, Misconfigured, Unauthenticated, Unavailable
from shared.redaction import redact_text

HEARTBEAT_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class RabbitSettings:
    """`exchange` and `queue` are the topic where they are empty. The queue's name always ends with the subscription."""

    url: str = field(repr=False)
    topic: str
    subscription: str
    exchange: str = ""
    exchange_type: str = "topic"
    queue: str = ""
    prefetch_count: int = 128
    consumer_tag: str = ""

    @property
    def exchange_name(self) -> str:
        return self.exchange or self.topic

    @property
    def queue_name(self) -> str:
        return f"{self.queue or self.topic}-{self.subscription}"

    @property
    def host(self) -> str:
        url = URL(self.url)
        return f"{url.host}:{url.port}" if url.port else str(url.host)


class RabbitSubscription:
    def __init__(self, settings: RabbitSettings, *, connection_name: str = "hyperfleet-adapter") -> None:
        self._settings = settings
        self._name = connection_name

    @property
    def description(self) -> str:
        return f"queue {self._settings.queue_name!r} of RabbitMQ at {self._settings.host}"

    async def connect(self, deliver: Deliver) -> "RabbitConnection":
        with _translated(self._settings):
            connection = await aio_pika.connect(
                _with_heartbeat(URL(self._settings.url)),
                client_properties={"connection_name": self._name},
            )
            try:
                return await self._consume(connection, deliver)
            except BaseException:
                await connection.close()
                raise

    async def _consume(self, connection: AbstractConnection, deliver: Deliver) -> "RabbitConnection":
        settings = self._settings
        channel = await connection.channel(publisher_confirms=False)
        await channel.set_qos(settings.prefetch_count)
        exchange = await channel.declare_exchange(settings.exchange_name, settings.exchange_type, durable=True)
        queue = await channel.declare_queue(settings.queue_name, durable=True)
        await queue.bind(exchange, routing_key="")
        consumer = RabbitConnection(settings, connection, channel, queue)
        await consumer.start(deliver)
        return consumer


class RabbitConnection:
    """A channel with its consumer. The connection, the channel or the consumer alone may be ended by the broker."""

    def __init__(
        self, settings: RabbitSettings, connection: AbstractConnection, channel: AbstractChannel, queue: AbstractQueue
    ) -> None:
        self._settings = settings
        self._connection = connection
        self._channel = channel
        self._queue = queue
        self._tag = ""
        self._lost: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()

    async def start(self, deliver: Deliver) -> None:
        underlay = await self._channel.get_underlay_channel()
        underlay.on_consumer_cancel_callbacks.add(self._on_consumer_cancelled)
        self._connection.close_callbacks.add(self._on_closed)
        self._channel.close_callbacks.add(self._on_closed)

        async def receive(message: AbstractIncomingMessage) -> None:
            deliver(RabbitMessage(message))

        self._tag = await self._queue.consume(receive, consumer_tag=self._settings.consumer_tag or None)

    async def wait_lost(self) -> None:
        error = await asyncio.shield(self._lost)
        raise _translate(error, self._settings) if error else Unavailable("RabbitMQ closed the connection")

    async def stop(self) -> None:
        with _translated(self._settings):
            await self._queue.cancel(self._tag)

    async def close(self) -> None:
        with contextlib.suppress(*_LOST):
            await self._connection.close()

    def _on_closed(self, _sender: Any, error: BaseException | None) -> None:
        self._end(error)

    def _on_consumer_cancelled(self, _frame: Any) -> None:
        self._end(Unavailable(f"RabbitMQ ended the consumer of {self._settings.queue_name!r}", why="the queue is gone"))

    def _end(self, error: BaseException | None) -> None:
        if not self._lost.done():
            self._lost.set_result(error)


class RabbitMessage:
    def __init__(self, message: AbstractIncomingMessage) -> None:
        self._message = message

    @property
    def body(self) -> bytes:
        return self._message.body

    async def ack(self) -> None:
        with contextlib.suppress(*_LOST):
            await self._message.ack()

    async def give_back(self) -> None:
        with contextlib.suppress(*_LOST):
            await self._message.nack(requeue=True)


def _with_heartbeat(url: URL) -> URL:
    """Heartbeats as the URL asks for them, or often enough that a dead connection is soon noticed."""
    return url if "heartbeat" in url.query else url.update_query(heartbeat=HEARTBEAT_SECONDS)


# aiormq raises RuntimeError and its subclasses where a connection ends while it is used.
_LOST = (aiormq.exceptions.AMQPError, RuntimeError, OSError)


@contextlib.contextmanager
def _translated(settings: RabbitSettings) -> Iterator[None]:
    try:
        yield
    except _LOST as error:
        raise _translate(error, settings) from error


def _translate(error: BaseException, settings: RabbitSettings) -> HyperFleetError:
    why = redact_text(str(error)) or type(error).__name__
    match error:
        case HyperFleetError():
            return error
        case aiormq.exceptions.ChannelPreconditionFailed():
            what = f"RabbitMQ has {settings.exchange_name!r} or {settings.queue_name!r} with other properties"
            remedy = "set broker.rabbitmq.exchange_type to the publisher's, or delete the queue or exchange once"
            return Misconfigured(what, why=why, remedy=remedy)
        case aiormq.exceptions.ChannelAccessRefused():
            remedy = "give the user the rights configure, write and read on the exchange and the queue"
            return Forbidden(f"RabbitMQ refuses access to {settings.queue_name!r}", why=why, remedy=remedy)
        case aiormq.exceptions.AuthenticationError() | aiormq.exceptions.ProbableAuthenticationError():
            remedy = "correct user, password and virtual host in broker.rabbitmq.url"
            return Unauthenticated(f"RabbitMQ at {settings.host} refuses the login", why=why, remedy=remedy)
        case asyncio.CancelledError():  # aiormq cancels its reader where heartbeats are missing
            return Unavailable(f"RabbitMQ at {settings.host} is silent", why="no message and no heartbeat came in time")
        case _:
            return Unavailable(f"no connection to RabbitMQ at {settings.host}", why=why)
