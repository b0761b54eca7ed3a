"""What can be made to go wrong, on purpose: a counted number of times, for the requests a pattern names.

The admin is spared, so that a test can look on and set things up while others fail.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer with this status; a `body` that is no text is sent as JSON, and none means the usual Status object."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer, for as long as the caller waits."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection is closed with no answer."""


@dataclass(frozen=True, slots=True)
class LoseAnswer:
    """The request is carried out, and the caller never learns it."""


@dataclass(frozen=True, slots=True)
class Delay:
    """The request is carried out later."""

    seconds: float


Fault = Answer | Hang | Cut | LoseAnswer | Delay


@dataclass(slots=True)
class _Trap:
    method: str | None
    path: re.Pattern[str]
    fault: Fault
    times: int


class Faults:
    """The faults of one server. `method` and `path` (a pattern searched in the path) say which requests are meant."""

    def __init__(self, *, cut_watches: Callable[[], None], expire_history: Callable[[], None]) -> None:
        self.cut_watches = cut_watches
        self.expire_history = expire_history
        self._traps: list[_Trap] = []

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

    def clear(self) -> None:
        """Forget all that has not happened yet."""
        self._traps.clear()

    def next(self, method: str, path: str) -> Fault | None:
        for trap in self._traps:
            if trap.method in (None, method) and trap.path.search(path):
                trap.times -= 1
                if not trap.times:
                    self._traps.remove(trap)
                return trap.fault
        return None

    def _set(self, fault: Fault, method: str | None, path: str, times: int) -> None:
        self._traps.append(_Trap(method, re.compile(path), fault, times))
