"""One rendering: what it has written, what it may still spend, and the variables alive in it.

A program is immutable and shared; everything that changes while it runs is here, so any number of renderings can go
on at once.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from dispatcher.languages.gotemplate.limits import (
    CHARACTERS_PER_STEP,
    ELEMENTS_PER_STEP,
    MAX_DEPTH,
    MAX_STEPS,
    Buffer,
    Overrun,
)
from dispatcher.languages.gotemplate.values import printable

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


def weight(values: Iterable[object]) -> int:
    """The steps that long texts and lists cost a function that takes or makes them."""
    steps = 0
    for value in values:
        if isinstance(value, str):
            steps += len(value) // CHARACTERS_PER_STEP
        elif isinstance(value, list | tuple):
            steps += len(value) // ELEMENTS_PER_STEP
    return steps


class Run:
    __slots__ = ("clock", "depth", "output", "steps", "variables")

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.output = Buffer()
        self.steps = MAX_STEPS
        self.depth = 0
        self.variables: list[Any] = []

    def spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise Overrun(f"the template takes more than {MAX_STEPS} steps", hint="a loop or a template calls too much")

    def written(self, function: Callable[..., None], values: list[Any]) -> str:
        """What a function writes, whose every piece is a step."""
        buffer = Buffer(self.steps)
        function(buffer, *values)
        self.spend(self.steps - buffer.pieces)
        return buffer.take()

    def descend(self, levels: int) -> None:
        self.depth += levels
        if self.depth > MAX_DEPTH:
            raise Overrun(f"templates call each other deeper than {MAX_DEPTH} levels")

    def take(self) -> str:
        """What was written since the last time."""
        return printable(self.output.take())
