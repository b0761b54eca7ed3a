"""What the dispatcher needs from a broker: messages of one subscription, each acknowledged or given back.

A subscription is connected as often as its connection breaks (`consuming`). Every connection declares what it needs, so
a broker that lost its memory gets its queues back.
"""

from collections.abc import Callable
from typing import Protocol


class Message(Protocol):
    """One delivery. Neither call fails: a message whose connection broke is delivered again by the broker."""

    @property
    def body(self) -> bytes: ...

    async def ack(self) -> None:
        """The broker may forget the message."""

    async def give_back(self) -> None:
        """The broker delivers the message again, here or to another consumer."""


Deliver = Callable[[Message], None]


class Connection(Protocol):
    """A consumer that is connected."""

    async def wait_lost(self) -> None:
        """Raises what ended the connection, when it has ended."""

    async def stop(self) -> None:
        """Take no further deliveries. Messages that were delivered can still be acknowledged."""

    async def close(self) -> None:
        """The broker gets back what is not acknowledged."""


class Subscription(Protocol):
    @property
    def description(self) -> str:
        """Which subscription of which broker, without secrets."""

    async def connect(self, deliver: Deliver) -> Connection:
        """Declare what is needed and begin to consume. Raises errors of `shared.errors`."""
