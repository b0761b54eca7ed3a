"""From a broker's message to a wake, or to an acknowledgement where no run is needed."""

import time
from collections.abc import Callable, Iterable
from typing import Protocol

from dispatcher.brokers.events import parse
from dispatcher.brokers.port import Message
from dispatcher.engine.runs import Cause, Event, ObjectKey
from dispatcher.observability.metrics import Metrics
from dispatcher.runtime.scheduling.wakes import Receipt, Wake
from shared import logs
from shared.errors import Invalid

SHOWN_BYTES = 200
CONVERSION = "conversion"

log = logs.get(__name__)


class Wakes(Protocol):
    def wake(self, wake: Wake) -> None: ...

    def acknowledge(self, receipt: Receipt) -> None: ...


class Intake:
    """`kinds` are those that are handled, all where it is empty. `on_event` hears of every event that wakes."""

    def __init__(
        self,
        wakes: Wakes,
        metrics: Metrics,
        *,
        kinds: Iterable[str] = (),
        on_event: Callable[[ObjectKey, Event], None] = lambda _key, _event: None,
    ) -> None:
        self._wakes = wakes
        self._metrics = metrics
        self._kinds = frozenset(kind.lower() for kind in kinds)
        self._on_event = on_event
        self._consumed = metrics.messages_consumed()
        self._duration = metrics.message_duration()

    def deliver(self, message: Message) -> None:
        self._consumed.inc()
        try:
            key, event = parse(message.body)
        except Invalid as error:
            self._metrics.broker_errors(CONVERSION).inc()
            shown = message.body[:SHOWN_BYTES].decode(errors="backslashreplace")
            log.warning("a message is no event and is acknowledged", error=str(error), body=shown)
            self._wakes.acknowledge(message)
            return
        if self._kinds and key.kind.lower() not in self._kinds:
            self._metrics.events_ignored(key.kind).inc()
            self._wakes.acknowledge(message)
            return
        self._on_event(key, event)
        receipt = _Timed(message, self._duration.observe)
        self._wakes.wake(Wake(key=key, event=event, cause=Cause.EVENT, receipt=receipt))


class _Timed:
    """A message that measures how long it took until it was acknowledged."""

    __slots__ = ("_message", "_observe", "_since")

    def __init__(self, message: Message, observe: Callable[[float], None]) -> None:
        self._message = message
        self._observe = observe
        self._since = time.monotonic()

    async def ack(self) -> None:
        self._observe(time.monotonic() - self._since)
        await self._message.ack()

    async def give_back(self) -> None:
        await self._message.give_back()
