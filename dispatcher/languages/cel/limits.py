"""How much an expression may ask for before it is stopped: the numbers, and the account one evaluation keeps of them.

A step is roughly the work of one node of the expression (about a tenth of a microsecond). Code without loops is
bounded by its own length, so only what repeats is charged: each round of a comprehension by the weight of its body,
each function by the size of the data it walks. Growth counts what an evaluation makes, not what it was given.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dispatcher.languages.cel.failure import LimitReached

Clock = Callable[[], datetime]

# Strings shorter than this are as cheap as the node that made them; counting them would cost more than they do.
UNCOUNTED_TEXT = 32

# Steps for what takes Python code rather than one instruction of a machine: to compare two values, to visit one.
COMPARING = 5
VISITING = 10

# A list slot and what it points to weigh about as much as this many characters.
ELEMENT_WEIGHT = 8


def system_clock() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`source` and `depth` are checked when compiling, the others while evaluating."""

    source: int = 100_000
    depth: int = 100
    iterations: int = 100_000
    steps: int = 2_000_000
    growth: int = 16 * 1024 * 1024


class Evaluation:
    """One run of a program: its variables, the values bound by comprehensions, its clock and what is left to spend.

    `patterns` keeps the regular expressions it has computed.
    """

    __slots__ = ("_clock", "_limits", "_now", "bound", "growth", "iterations", "patterns", "steps", "variables")

    def __init__(self, variables: Mapping[str, Any], slots: int, limits: Limits, clock: Clock) -> None:
        self.variables = variables
        self.bound: list[Any] = [None] * slots
        self.steps = limits.steps
        self.iterations = limits.iterations
        self.growth = limits.growth
        self.patterns: dict[str, Any] = {}
        self._limits = limits
        self._clock = clock
        self._now: datetime | None = None

    def now(self) -> datetime:
        """The same instant for the whole evaluation, so that two calls of `now()` agree."""
        if self._now is None:
            self._now = self._clock()
        return self._now

    def spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise LimitReached(f"the expression needs more than {self._limits.steps:,} steps")

    def iterate(self, rounds: int, weight: int) -> None:
        self.iterations -= rounds
        if self.iterations < 0:
            raise LimitReached(f"the expression loops more than {self._limits.iterations:,} times")
        self.spend(rounds * weight)

    def grow(self, size: int) -> None:
        self.growth -= size
        if self.growth < 0:
            raise LimitReached(f"the expression makes more than {self._limits.growth:,} characters of data")

    def grow_text(self, size: int) -> None:
        if size > UNCOUNTED_TEXT:
            self.grow(size)

    def grow_list(self, length: int) -> None:
        self.grow(length * ELEMENT_WEIGHT)
