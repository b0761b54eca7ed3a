"""What stops an evaluation from the inside, before it becomes an error for the author.

    Halt                  carries the node it happened at, set by the innermost node it passes
    ├── Failure           CEL's error value: `&&`, `||`, `all` and `exists` may absorb it
    │   └── Missing       a key, index or variable that is not there
    └── LimitReached      nothing absorbs it

These are cheap to raise and hold no text positions; `program` turns the one that leaves an evaluation into an
`EvaluationError` with fragment, caret and hint.
"""

from typing import Any, Final

from shared.languages.cel.parsing.syntax import Node

NOTHING: Final = object()


class Halt(Exception):
    """`met` is the value it met, described only when the error is raised."""

    def __init__(self, problem: str, *, met: Any = NOTHING, hint: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.met = met
        self.hint = hint
        self.node: Node | None = None


class Failure(Halt):
    """An error of the expression with these values."""


class Missing(Failure):
    """Something was asked for that is not there."""


class LimitReached(Halt):
    """The evaluation has used up what it may."""
