"""Injected faults, each for a given number of calls.

A fault waits for the next call it applies to. `clear` removes all that have not occurred yet.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc

from lab.maestro.streams.broadcast import Streams
from shared.maestro.wire.cloudevent_pb2 import CloudEvent


@dataclass(frozen=True, slots=True)
class FailPublish:
    code: grpc.StatusCode
    details: str


@dataclass(frozen=True, slots=True)
class LoseAnswer:
    """Carry the request out, then fail the call."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Never respond."""


@dataclass(frozen=True, slots=True)
class FailRest:
    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cut:
    """Close the connection without a response."""


PublishFault = FailPublish | LoseAnswer | Hang
RestFault = FailRest | Hang | Cut
Fault = TypeVar("Fault")


class Faults:
    """The faults of one server. Faults of publishing and of streams affect sources, not agents."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams
        self._publish: deque[PublishFault] = deque()
        self._rest: deque[RestFault] = deque()
        self._conflicts: deque[None] = deque()
        self._none_planned = asyncio.Event()
        self._none_planned.set()

    def fail_publish(self, code: grpc.StatusCode, details: str, times: int = 1) -> None:
        self._plan(self._publish, FailPublish(code, details), times)

    def hang_publish(self, times: int = 1) -> None:
        self._plan(self._publish, Hang(), times)

    def lose_publish_answer(self, times: int = 1) -> None:
        self._plan(self._publish, LoseAnswer(), times)

    def conflict_before_publish(self, times: int = 1) -> None:
        """Another writer increments the version just before the next update is handled."""
        self._plan(self._conflicts, None, times)

    def fail_rest(
        self, status: int, body: Any = None, headers: Mapping[str, str] | None = None, times: int = 1
    ) -> None:
        """Respond with this status; a `body` that is neither string nor bytes is sent as JSON."""
        self._plan(self._rest, FailRest(status, body, headers or {}), times)

    def hang_rest(self, times: int = 1) -> None:
        self._plan(self._rest, Hang(), times)

    def cut_rest(self, times: int = 1) -> None:
        self._plan(self._rest, Cut(), times)

    def cut_streams(self) -> None:
        self._streams.cut()

    def mute_heartbeats(self, on: bool = True) -> None:  # noqa: FBT001, FBT002 - reads as a switch
        self._streams.heartbeats_muted = on

    def withhold_stream_headers(self, on: bool = True) -> None:  # noqa: FBT001, FBT002 - reads as a switch
        """Send no headers before the first event, as older servers do."""
        self._streams.headers_withheld = on

    def send_on_streams(self, event: CloudEvent) -> None:
        """Send any event, valid or not, to every subscriber."""
        self._streams.post_to_all(event)

    def clear(self) -> None:
        for planned in (self._publish, self._rest, self._conflicts):
            planned.clear()
        self._none_planned.set()
        self.mute_heartbeats(on=False)
        self.withhold_stream_headers(on=False)

    async def have_occurred(self) -> None:
        """Wait until every planned fault has occurred."""
        await self._none_planned.wait()

    def next_publish(self) -> PublishFault | None:
        return self._next(self._publish)

    def next_rest(self) -> RestFault | None:
        return self._next(self._rest)

    def next_update_conflicts(self) -> bool:
        due = bool(self._conflicts)
        self._next(self._conflicts)
        return due

    def _plan(self, planned: deque[Fault], fault: Fault, times: int) -> None:
        planned.extend([fault] * times)
        self._none_planned.clear()

    def _next(self, planned: deque[Fault]) -> Fault | None:
        fault = planned.popleft() if planned else None
        if not (self._publish or self._rest or self._conflicts):
            self._none_planned.set()
        return fault
