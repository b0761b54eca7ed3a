"""One client of the broker: its frames in, ours out. A client that breaks the protocol is refused and cut off."""

import asyncio
import contextlib

from lab.broker.subscriptions import Consumer, Subscription, UnknownTag
from lab.broker.topics import Topics
from shared.embedded_broker import (
    Ack,
    BrokerFrame,
    Cancel,
    Cancelled,
    Frame,
    Nack,
    Publish,
    Published,
    Refused,
    Subscribe,
    Subscribed,
    decode,
    encode,
)
from shared.errors import Invalid


class _Violation(Exception):
    """The client may not send this frame now."""


class Connection:
    def __init__(self, topics: Topics, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._topics, self._reader, self._writer = topics, reader, writer
        self._subscription: Subscription | None = None
        self._consumer: Consumer | None = None

    async def serve(self) -> None:
        """Return when the client is gone, or has been refused."""
        try:
            with contextlib.suppress(ConnectionError):
                while line := await self._reader.readline():
                    self._take(decode(line))
                    await self._writer.drain()
        except (Invalid, UnknownTag, _Violation) as error:
            self._send(Refused(reason=str(error)))
        except ValueError:  # asyncio's limit of a line
            self._send(Refused(reason="the line is longer than a frame may be"))
        finally:
            self._leave()
            self._writer.close()

    def cut(self) -> None:
        self._writer.transport.abort()

    def _take(self, frame: Frame) -> None:
        match frame:
            case Publish(number=number, topic=topic, body=body):
                self._topics.publish(topic, body)
                self._send(Published(number=number))
            case Subscribe():
                self._subscribe(frame)
            case Ack(tag=tag):
                self._held_subscription().acknowledge(self._held_consumer(), tag)
            case Nack(tag=tag, requeue=requeue):
                self._held_subscription().refuse(self._held_consumer(), tag, requeue=requeue)
            case Cancel():
                self._held_consumer().cancelled = True
                self._send(Cancelled())
            case _:
                raise _Violation(f"{frame.kind!r} is a frame of the broker, not of a client")
        self._topics.changed()

    def _subscribe(self, frame: Subscribe) -> None:
        if self._consumer is not None:
            raise _Violation("this connection has a subscription already")
        self._subscription = self._topics.subscription(frame.topic, frame.subscription)
        self._consumer = Consumer(frame.prefetch, self._send)
        self._send(Subscribed())
        self._subscription.join(self._consumer)

    def _held_subscription(self) -> Subscription:
        if self._subscription is None:
            raise _Violation("this connection has no subscription")
        return self._subscription

    def _held_consumer(self) -> Consumer:
        if self._consumer is None:
            raise _Violation("this connection has no subscription")
        return self._consumer

    def _leave(self) -> None:
        if self._subscription is not None and self._consumer is not None:
            self._subscription.leave(self._consumer)
        self._topics.changed()

    def _send(self, frame: BrokerFrame) -> None:
        if not self._writer.is_closing():
            self._writer.write(encode(frame))
