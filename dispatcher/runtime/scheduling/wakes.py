"""A wake: a request to reconcile one object, and what came with it."""

from dataclasses import dataclass, replace
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

    A watch that cannot say which resource changed delivers none either; with `observe_only` the run writes nothing.
    `background` marks wakes that repeat what was known before, such as those of a list after a restart: they let the
    others pass.
    """

    key: ObjectKey
    event: Event
    cause: Cause
    receipt: Receipt | None = None
    delivered: Delivered | None = None
    observe_only: bool = False
    background: bool = False


def generation_of(event: Event) -> int:
    """The generation the event names, 0 where it names none."""
    generation: Any = event.data.get("generation")
    return generation if isinstance(generation, int) and not isinstance(generation, bool) else 0


def newest(known: Event, arrived: Event) -> Event:
    """The event that counts: the higher generation, and of equals, or where it names none, the later one."""
    return known if 0 < generation_of(arrived) < generation_of(known) else arrived


def renewed(known: Event, shown: Event) -> Event:
    """The known event, with what a watched object shows where that was made for a higher generation.

    Another replica has had the event of that generation.
    """
    if not 0 < generation_of(known) < generation_of(shown):
        return known
    return replace(known, data={**known.data, **shown.data})
