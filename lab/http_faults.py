"""Injected faults of a stand-in that speaks HTTP: a given number of times, for the requests that match a pattern."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """Respond with this status. A `body` that is not a string is sent as JSON; without one, the server's own error."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True, slots=True)
class Hang:
    """Never respond."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Close the connection without a response."""


@dataclass(frozen=True, slots=True)
class LoseAnswer:
    """Carry the request out, then close the connection without a response."""


@dataclass(frozen=True, slots=True)
class Delay:
    """Carry the request out after a delay."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Hold:
    """Carry the request out once `released` is set."""

    released: asyncio.Event


Fault = Answer | Hang | Cut | LoseAnswer | Delay | Hold


@dataclass(slots=True)
class _Planned:
    method: str | None
    path: re.Pattern[str]
    fault: Fault
    times: int


class Faults:
    """The faults of one server. `method` and `path` (a regular expression) select the requests.

    `times` 0 means every such request, until `clear`.
    """

    def __init__(self) -> None:
        self._planned: list[_Planned] = []

    def fail(
        self,
        status: int,
        *,
        method: str | None = None,
        path: str = "",
        times: int = 1,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
    ) -> None:
        self._set(Answer(status, headers or {}, body), method, path, times)

    def hang(self, *, method: str | None = None, path: str = "", times: int = 1) -> None:
        self._set(Hang(), method, path, times)

    def cut(self, *, method: str | None = None, path: str = "", times: int = 1) -> None:
        self._set(Cut(), method, path, times)

    def lose_answer(self, *, method: str | None = None, path: str = "", times: int = 1) -> None:
        self._set(LoseAnswer(), method, path, times)

    def delay(self, seconds: float, *, method: str | None = None, path: str = "", times: int = 1) -> None:
        self._set(Delay(seconds), method, path, times)

    def hold(self, *, method: str | None = None, path: str = "", times: int = 1) -> asyncio.Event:
        """Requests wait until the event that comes back is set."""
        released = asyncio.Event()
        self._set(Hold(released), method, path, times)
        return released

    def clear(self) -> None:
        """Remove all faults that have not occurred yet."""
        self._planned.clear()

    def next(self, method: str, path: str) -> Fault | None:
        for planned in self._planned:
            if planned.method in {None, method} and planned.path.search(path):
                planned.times -= 1
                if planned.times == 0:
                    self._planned.remove(planned)
                return planned.fault
        return None

    def _set(self, fault: Fault, method: str | None, path: str, times: int) -> None:
        self._planned.append(_Planned(method, re.compile(path), fault, times))
