"""Which message goes to which consumer, and what becomes of it. Pure: sending is the consumer's own."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from shared.embedded_broker import Deliver


@dataclass(frozen=True, slots=True)
class Message:
    body: bytes
    redelivered: bool = False


class UnknownTag(LookupError):
    """The consumer holds no delivery of that tag."""


class Consumer:
    """One connection's share of a subscription: what it holds unacknowledged, at most `prefetch` messages (0: any)."""

    def __init__(self, prefetch: int, send: Callable[[Deliver], None]) -> None:
        self.held: dict[int, Message] = {}
        self.cancelled = False
        self._prefetch, self._send = prefetch, send
        self._last_tag = 0

    @property
    def takes_more(self) -> bool:
        return not self.cancelled and (not self._prefetch or len(self.held) < self._prefetch)

    def take(self, message: Message) -> None:
        self._last_tag += 1
        self.held[self._last_tag] = message
        self._send(Deliver(tag=self._last_tag, body=message.body, redelivered=message.redelivered))

    def give_back(self, tag: int) -> Message:
        try:
            return self.held.pop(tag)
        except KeyError:
            raise UnknownTag(f"delivery {tag} is not held by this connection") from None


class Subscription:
    """A queue of messages and the consumers that compete for them, the longest waiting one first."""

    def __init__(self) -> None:
        self.waiting: deque[Message] = deque()
        self.consumers: deque[Consumer] = deque()

    @property
    def unacknowledged(self) -> int:
        return sum(len(consumer.held) for consumer in self.consumers)

    def add(self, body: bytes) -> None:
        self.waiting.append(Message(body))
        self._distribute()

    def join(self, consumer: Consumer) -> None:
        self.consumers.append(consumer)
        self._distribute()

    def leave(self, consumer: Consumer) -> None:
        """Put what it held to the front, in the order of its deliveries."""
        self.consumers.remove(consumer)
        self._put_back(list(consumer.held.values()))

    def acknowledge(self, consumer: Consumer, tag: int) -> None:
        consumer.give_back(tag)
        self._distribute()

    def refuse(self, consumer: Consumer, tag: int, *, requeue: bool) -> None:
        message = consumer.give_back(tag)
        self._put_back([message] if requeue else [])

    def _put_back(self, messages: list[Message]) -> None:
        self.waiting.extendleft(replace(message, redelivered=True) for message in reversed(messages))
        self._distribute()

    def _distribute(self) -> None:
        while self.waiting and (consumer := self._next_consumer()):
            consumer.take(self.waiting.popleft())

    def _next_consumer(self) -> Consumer | None:
        for consumer in self.consumers:
            if consumer.takes_more:
                self.consumers.remove(consumer)
                self.consumers.append(consumer)
                return consumer
        return None
