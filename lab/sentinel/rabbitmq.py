"""Events to RabbitMQ, as the real Sentinel sends them.

A durable exchange named after the topic, the empty routing key, persistent messages with the event's id in a header and
no other property, except a message id, which this client library always sends. If no queue is bound yet, RabbitMQ drops
the message.
"""

import asyncio
import contextlib
from types import TracebackType
from typing import Self

import aio_pika
from aio_pika.abc import AbstractConnection, AbstractExchange
from aio_pika.exceptions import AMQPException, ChannelInvalidStateError
from yarl import URL

from lab.sentinel.events import Event
from shared.errors import Unavailable

_DEADLINE = 30.0
# What a broken connection or channel shows itself as, depending on who notices first.
_LOST = (OSError, TimeoutError, AMQPException, ChannelInvalidStateError)


class RabbitPublisher:
    """`exchange_type` must be the consumers' own: RabbitMQ refuses to declare an exchange anew with another one."""

    def __init__(self, url: str, *, exchange_type: str = "topic") -> None:
        self._url, self._exchange_type = url, exchange_type
        self._connection: AbstractConnection | None = None
        self._exchanges: dict[str, AbstractExchange] = {}

    async def __aenter__(self) -> Self:
        await self._connected()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._disconnect()

    async def publish(self, topic: str, event: Event) -> None:
        message = aio_pika.Message(
            event.body,
            message_id=event.id,
            headers={"_watermill_message_uuid": event.id},
            delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
        )
        try:
            exchange = await self._exchange(topic)
            await exchange.publish(message, routing_key="", mandatory=False, timeout=_DEADLINE)
        except _LOST as error:
            await self._disconnect()
            raise self._unavailable(error) from error
        except asyncio.CancelledError as error:
            # The library cancels what waits on a connection that breaks; nobody cancelled this task.
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            await self._disconnect()
            raise self._unavailable(error) from error

    async def _exchange(self, topic: str) -> AbstractExchange:
        if topic not in self._exchanges:
            channel = await (await self._connected()).channel(publisher_confirms=True)
            exchange = await channel.declare_exchange(topic, self._exchange_type, durable=True, timeout=_DEADLINE)
            self._exchanges[topic] = exchange
        return self._exchanges[topic]

    async def _connected(self) -> AbstractConnection:
        if self._connection is None or self._connection.is_closed:
            self._exchanges.clear()
            try:
                self._connection = await aio_pika.connect(self._url, timeout=_DEADLINE)
            except _LOST as error:
                raise self._unavailable(error) from error
        return self._connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        self._exchanges.clear()
        if connection is not None:
            with contextlib.suppress(*_LOST):
                await connection.close()

    def _unavailable(self, why: BaseException) -> Unavailable:
        host = URL(self._url).with_user(None).host_port_subcomponent
        return Unavailable(f"RabbitMQ at {host} did not take the event", why=str(why) or type(why).__name__)
