"""The state of one evaluation of a path: what is left of its limit, and how it fails."""

from dataclasses import dataclass
from typing import Any

from shared.languages.errors import EvaluationError, LimitExceeded, MissingKey, shown
from shared.languages.jsonpath.limits import MAX_STEPS


@dataclass(frozen=True, slots=True)
class Span:
    """Where in the author's text a step stands."""

    start: int
    end: int


class Evaluation:
    """One evaluation: the source it belongs to, and how many more values it may look at."""

    __slots__ = ("_left", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self._left = MAX_STEPS

    def spend(self, steps: int, span: Span) -> None:
        self._left -= steps
        if self._left < 0:
            raise LimitExceeded(
                f"the path does too much: more than {MAX_STEPS:,} steps on this document",
                source=self.source,
                offset=span.start,
                fragment=self.source[span.start : span.end],
                hint="select less: name the keys instead of `..` and `[*]`, or use CEL",
            )

    def failure(self, problem: str, span: Span, met: Any, *, missing: bool = False) -> EvaluationError:
        kind = MissingKey if missing else EvaluationError
        fragment = self.source[span.start : span.end]
        return kind(problem, source=self.source, offset=span.start, fragment=fragment, met=shown(met))
