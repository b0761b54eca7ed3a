"""The state of one rendering: its output, its variables and what is left of its limits.

A program is immutable and shared; everything that changes while it runs is here, so any number of renderings can go
on at once.
"""

from collections.abc import Callable, Iterable
from typing import Any

from shared.languages.clock import Clock
from shared.languages.gotemplate.limits import (
    CHARACTERS_PER_STEP,
    ELEMENTS_PER_STEP,
    MAX_DEPTH,
    MAX_STEPS,
    MAX_TEXT,
)
from shared.languages.gotemplate.runtime.failure import LimitReached
from shared.languages.gotemplate.runtime.values import printable


def weight(values: Iterable[object]) -> int:
    """The steps that long texts and lists cost a function that takes or makes them."""
    steps = 0
    for value in values:
        if isinstance(value, str):
            steps += len(value) // CHARACTERS_PER_STEP
        elif isinstance(value, list | tuple):
            steps += len(value) // ELEMENTS_PER_STEP
    return steps


class Buffer:
    """A text that is being made piece by piece, and refuses to become too long or to be made of too many pieces."""

    __slots__ = ("_parts", "_remaining", "pieces")

    def __init__(self, pieces: int = MAX_STEPS) -> None:
        self.pieces = pieces
        self._parts: list[str] = []
        self._remaining = MAX_TEXT

    def write(self, text: str) -> None:
        self._parts.append(text)
        self.count(text)

    def count(self, text: str) -> None:
        """Reckon with a text that was made elsewhere."""
        self._remaining -= len(text)
        self.pieces -= 1
        if self._remaining < 0:
            raise LimitReached(f"the text grows beyond {MAX_TEXT} characters")
        if self.pieces < 0:
            raise LimitReached(f"the text is made of more than {MAX_STEPS} pieces")

    def take(self) -> str:
        """The text so far; its length still counts."""
        text = "".join(self._parts)
        self._parts.clear()
        return text


class Evaluation:
    """`variables` are those of the template that runs now, `output` is what all of them wrote."""

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
            raise LimitReached(
                f"the template takes more than {MAX_STEPS} steps", hint="a loop or a template calls too much"
            )

    def written(self, function: Callable[..., None], values: list[Any]) -> str:
        """What a function writes, whose every piece is a step."""
        buffer = Buffer(self.steps)
        function(buffer, *values)
        self.spend(self.steps - buffer.pieces)
        return buffer.take()

    def descend(self, levels: int) -> None:
        self.depth += levels
        if self.depth > MAX_DEPTH:
            raise LimitReached(f"templates call each other deeper than {MAX_DEPTH} levels")

    def take(self) -> str:
        """What was written since the last time."""
        return printable(self.output.take())
