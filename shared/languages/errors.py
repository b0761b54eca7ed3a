"""The errors of the languages: what is wrong, and where in the source.

    LanguageError
    ├── Rejected          found at load: the source cannot mean anything; nothing was evaluated
    └── EvaluationError   found at run time: this source met a value it cannot work with
        ├── MissingKey    it asked for something that is not there; a configured default may take its place
        └── LimitExceeded the evaluation was stopped by a limit

All point into the source with a line, a column and a caret, so that a mistake is easy to see.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

# A manifest on one line is unreadable below an error; this much around the caret is.
_SHOWN_BEFORE_CARET, _SHOWN_AFTER_CARET = 60, 40
_SHOWN_TEXT, _SHOWN_KEYS = 60, 8


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a source text; lines and columns start at 1, columns count characters."""

    line: int
    column: int

    @classmethod
    def of(cls, source: str, offset: int) -> "Position":
        before = source[: max(0, min(offset, len(source)))]
        return cls(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)


class LanguageError(Exception):
    """A mistake in, or met by, an author's source text."""

    def __init__(self, problem: str, *, source: str, offset: int = 0, hint: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.source = source
        self.offset = max(0, min(offset, len(source)))
        self.hint = hint

    @property
    def position(self) -> Position:
        return Position.of(self.source, self.offset)

    def __str__(self) -> str:
        position = self.position
        return f"line {position.line}, column {position.column}: {self.problem}"

    def explain(self) -> str:
        """The full explanation: the problem, the source line, a caret below it, and a hint if there is one."""
        parts = [str(self), *_pointed_at(self.source, self.offset, self._width())]
        if self.hint:
            parts.append(f"hint: {self.hint}")
        return "\n".join(parts)

    def _width(self) -> int:
        """How many characters the caret underlines."""
        return 1


class Rejected(LanguageError):
    """The source is refused at load."""


class EvaluationError(LanguageError):
    """The evaluation failed; `fragment` is the part of the source that failed and `met` the value it met, shortened."""

    def __init__(
        self,
        problem: str,
        *,
        source: str,
        offset: int = 0,
        hint: str | None = None,
        fragment: str = "",
        met: str = "",
    ) -> None:
        super().__init__(problem, source=source, offset=offset, hint=hint)
        self.fragment = fragment
        self.met = met

    def explain(self) -> str:
        text = super().explain()
        if not self.met or self.met in self.problem:
            return text
        return f"{text}\nmet: {self.met}"

    def _width(self) -> int:
        return len(self.fragment) if self.fragment and self.source.startswith(self.fragment, self.offset) else 1


class MissingKey(EvaluationError):
    """A key or an index that is not there."""


class LimitExceeded(EvaluationError):
    """The evaluation was stopped by a limit on steps, depth, iterations or growth."""


def shown(value: Any) -> str:
    """A value an evaluation met, short enough for a message however large it is; foreign objects are not touched."""
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            return f'"{value}"' if len(value) <= _SHOWN_TEXT else f'"{value[:_SHOWN_TEXT]}…" ({len(value)} characters)'
        case float():
            return str(value)
        case int():
            return str(value) if abs(value) < 10**_SHOWN_TEXT else "a very large number"
        case list() | tuple():
            return f"a list of {len(value)}" if value else "an empty list"
        case Mapping():
            keys = [key if isinstance(key, str) else "?" for key in islice(value, _SHOWN_KEYS)]
            more = ["…"] if len(value) > len(keys) else []
            return f"an object with the keys {', '.join(keys + more)}" if keys else "an empty object"
    return "a value that is not JSON"


def _pointed_at(source: str, offset: int, width: int) -> tuple[str, str]:
    """The line of `offset`, cut to what fits a terminal, and the caret line below it."""
    start = source.rfind("\n", 0, offset) + 1
    end = source.find("\n", offset)
    end = len(source) if end < 0 else end
    first = max(start, offset - _SHOWN_BEFORE_CARET)
    last = min(end, offset + _SHOWN_AFTER_CARET)
    before = ("…" if first > start else "") + source[first:offset]
    line = before + source[offset:last] + ("…" if last < end else "")
    indent = "".join("\t" if c == "\t" else " " for c in before)
    return f"  {line}", f"  {indent}{'^' * max(1, min(width, last - offset))}"
