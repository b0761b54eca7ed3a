"""A wake: a request to reconcile one object, and what came with it."""

from dataclasses import dataclass
from typing import Any, Protocol

from dispatcher.engine.runs import Cause, Delivered, Event, ObjectKey


class Receipt(Protocol):
    """An unacknowledged broker message. Neither call fails: a message whose connection broke is delivered again."""

    async def ack(self) -> None:
        """The broker may forget the message."""

    async def give_back(self) -> None:
        """The broker delivers the message again, here or to another consumer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wake:
    """`delivered` is the object a watch saw change; a watch that saw a deletion delivers none.

    `background` marks wakes that repeat what was known before, such as those of a list after a restart: they let the
    others pass.
    """

    key: ObjectKey
    event: Event
    cause: Cause
    receipt: Receipt | None = None
    delivered: Delivered | None = None
    background: bool = False


def generation_of(event: Event) -> int:
    """The generation the event names, 0 where it names none."""
    generation: Any = event.data.get("generation")
    return generation if isinstance(generation, int) and not isinstance(generation, bool) else 0


def newest(known: Event, arrived: Event) -> Event:
    """The event that counts: the higher generation, and of equals the later one."""
    return known if generation_of(known) > generation_of(arrived) else arrived
