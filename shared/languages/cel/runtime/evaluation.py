"""The state of one evaluation of an expression: its variables, its clock and what is left of its limits."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from shared.languages.cel.limits import ELEMENT_WEIGHT, UNCOUNTED_TEXT, Limits
from shared.languages.cel.runtime.failure import LimitReached
from shared.languages.clock import Clock


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
