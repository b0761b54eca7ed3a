"""What each step of a path selects.

A step takes the values selected so far and gives the next ones, in document order. Every step and every value looked
at is paid for from the run's budget, so that no path, however it multiplies its results, and no document, however deep,
can keep the process busy; nothing here recurses along the document.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from shared.languages.errors import EvaluationError, LimitExceeded, shown
from shared.languages.jsonpath.comparison import COMPARISONS, Incomparable
from shared.languages.jsonpath.evaluation import Evaluation, Span

# A step over one value takes as long as five values more in the same step.
_STEP_COST = 5
# `isinstance` asks the first one first, and a plain dict answers ten times as fast as the abstract class.
_OBJECT = (dict, Mapping)


class Step(Protocol):
    """One step of a path."""

    @property
    def span(self) -> Span: ...

    def select(self, values: list[Any], run: Evaluation, /) -> list[Any]: ...


def advance(step: Step, values: list[Any], run: Evaluation) -> list[Any]:
    run.spend(_STEP_COST + len(values), step.span)
    return step.select(values, run)


def walk(steps: tuple[Step, ...], values: list[Any], run: Evaluation) -> list[Any]:
    for step in steps:
        values = advance(step, values, run)
    return values


@dataclass(frozen=True, slots=True)
class Field:
    """`.name`: the key of every object that has it. Having it nowhere is an error; having nothing to look in is not."""

    name: str
    span: Span

    def select(self, values: list[Any], run: Evaluation) -> list[Any]:
        found = [value[self.name] for value in values if isinstance(value, _OBJECT) and self.name in value]
        if values and not found:
            raise run.failure(f"no key {self.name!r}", self.span, values[0], missing=True)
        return found


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`.*`: everything inside. The inside of a text is its bytes, as Go has it."""

    span: Span

    def select(self, values: list[Any], run: Evaluation) -> list[Any]:
        found: list[Any] = []
        for value in values:
            inside = _inside(value)
            run.spend(len(inside), self.span)
            found.extend(inside)
        return found


@dataclass(frozen=True, slots=True)
class Descent:
    """`..`: every object, list and text at any depth that is not empty, outermost first."""

    span: Span

    def select(self, values: list[Any], run: Evaluation) -> list[Any]:
        found: list[Any] = []
        ahead = values[::-1]
        while ahead:
            value = ahead.pop()
            if isinstance(value, str):
                found.extend([value] if value else ())
            elif inside := _inside(value):
                run.spend(len(inside), self.span)
                found.append(value)
                ahead.extend(reversed(inside))
        return found


@dataclass(frozen=True, slots=True)
class Slice:
    """`[start:stop:step]`; a bound of None is the list's own."""

    start: int | None
    stop: int | None
    step: int
    span: Span

    def select(self, values: list[Any], run: Evaluation) -> list[Any]:
        found: list[Any] = []
        for value in values:
            if value is None:
                continue
            if not isinstance(value, list | tuple):
                raise run.failure("only a list has an index", self.span, value)
            start, stop = self._bounds(len(value))
            if start == stop:
                # client-go ends the whole step at the first empty slice, so the lists behind it are not looked at.
                return found
            self._check(start, stop, value, run)
            run.spend(stop - start, self.span)
            found.extend(value[start : stop : self.step])
        return found

    def _bounds(self, length: int) -> tuple[int, int]:
        start = self.start or 0
        stop = length if self.stop is None else self.stop
        return start + length if start < 0 else start, stop + length if stop < 0 else stop

    def _check(self, start: int, stop: int, value: Sequence[Any], run: Evaluation) -> None:
        for index, inside in ((start, 0 <= start < len(value)), (stop - 1, 0 <= stop <= len(value))):
            if not inside:
                raise run.failure(f"no index {index} in {shown(value)}", self.span, value, missing=True)
        if start > stop:
            raise run.failure(f"the slice starts at {start}, behind its end {stop}", self.span, value)


@dataclass(frozen=True, slots=True)
class Index:
    """`[n]`: one element, counted from the end when negative."""

    at: int
    span: Span

    def select(self, values: list[Any], run: Evaluation) -> list[Any]:
        found: list[Any] = []
        for value in values:
            if value is None:
                continue
            if not isinstance(value, list | tuple):
                raise run.failure("only a list has an index", self.span, value)
            if not -len(value) <= self.at < len(value):
                raise run.failure(f"no index {self.at} in {shown(value)}", self.span, value, missing=True)
            found.append(value[self.at])
        return found


@dataclass(frozen=True, slots=True)
class Union:
    """`[a,b]`: what each branch selects, one branch after the other."""

    branches: tuple[tuple[Step, ...], ...]
    span: Span

    def select(self, values: list[Any], run: Evaluation) -> list[Any]:
        return [value for branch in self.branches for value in walk(branch, values, run)]


@dataclass(frozen=True, slots=True)
class Literal:
    """A number or a boolean stands for each value selected so far; a quoted text stands for all of them together."""

    value: str | float | bool
    span: Span

    def select(self, values: list[Any], _run: Evaluation) -> list[Any]:
        return [self.value] if isinstance(self.value, str) else [self.value] * len(values)


@dataclass(frozen=True, slots=True)
class Exists:
    """`[?(path)]`: the elements in which the path leads somewhere."""

    path: tuple[Step, ...]
    span: Span

    def select(self, values: list[Any], run: Evaluation) -> list[Any]:
        return [element for element in _elements(values, self.span, run) if self._holds(element, run)]

    def _holds(self, element: Any, run: Evaluation) -> bool:
        values = [element]
        for step in self.path:
            try:
                values = advance(step, values, run)
            except LimitExceeded:
                raise
            except EvaluationError:
                # In client-go a path that broke elsewhere than at a missing key has led somewhere.
                return not isinstance(step, Field)
        return bool(values)


@dataclass(frozen=True, slots=True)
class Compare:
    """`[?(left operator right)]`: the elements for which the comparison holds; both sides start at the element."""

    left: tuple[Step, ...]
    operator: str
    right: tuple[Step, ...]
    span: Span

    def select(self, values: list[Any], run: Evaluation) -> list[Any]:
        return [element for element in _elements(values, self.span, run) if self._holds(element, run)]

    def _holds(self, element: Any, run: Evaluation) -> bool:
        sides = []
        for path in (self.left, self.right):
            side = walk(path, [element], run)
            if not side:
                return False
            if len(side) > 1:
                raise run.failure(f"a filter compares one value, not {len(side)}", self.span, side)
            sides.append(side[0])
        left, right = sides
        try:
            return COMPARISONS[self.operator](left, right)
        except Incomparable:
            problem = f"cannot compare {shown(left)} {self.operator} {shown(right)}"
            raise run.failure(problem, self.span, element) from None


def _elements(values: list[Any], span: Span, run: Evaluation) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if not isinstance(value, list | tuple):
            raise run.failure("only a list can be filtered", span, value)
        run.spend(len(value), span)
        found.extend(value)
    return found


def _inside(value: Any) -> Sequence[Any]:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, list | tuple):
        return value
    if isinstance(value, _OBJECT):
        return list(value.values())
    return ()
