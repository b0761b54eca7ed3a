"""A compiled path: what it reads of a document, and what the values it selects amount to."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from shared.languages.clock import Clock, system_clock
from shared.languages.errors import LimitExceeded, MissingKey
from shared.languages.json_size import JsonSize
from shared.languages.jsonpath.evaluation import Evaluation
from shared.languages.jsonpath.limits import MAX_RESULT
from shared.languages.jsonpath.parser import SPACE, Action, Loop, Part, parse
from shared.languages.jsonpath.steps import Field, Step, Union, walk

_MISSING, _ELSEWHERE = object(), object()


@dataclass(frozen=True, slots=True)
class Program:
    """Immutable and re-entrant. `free_variables` are the top-level keys the path asks for by name."""

    source: str
    free_variables: frozenset[str]
    parts: tuple[Part, ...] = field(repr=False)
    functions: frozenset[str] = frozenset()
    _names: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """The keys, where the path is nothing but keys, as nearly all are."""

    def evaluate(self, document: Any, *, clock: Clock = system_clock) -> Any:  # noqa: ARG002 - a path reads no clock
        """Nothing, or nothing but white space, is None; one value is that value; several are a flat list."""
        if self._names:
            value = _at(document, self._names)
            if value is not _ELSEWHERE and value is not _MISSING:
                return None if isinstance(value, str) and not value.strip(SPACE) else value
        values = _collect(self.parts, document, Evaluation(self.source))
        if len(values) > 1:
            self._check_size(values)
        if all(isinstance(value, str) and not value.strip(SPACE) for value in values):
            return None
        return values[0] if len(values) == 1 else values

    def get(self, document: Any) -> Any:
        """The same, and None also where there is no such key."""
        if self._names and _at(document, self._names) is _MISSING:
            return None
        try:
            return self.evaluate(document)
        except MissingKey:
            return None

    def render(self, document: Any) -> str:
        """The text that `kubectl -o jsonpath` prints: spaces only between the values of one pair of braces."""
        return "".join(_rendered(self.parts, document, Evaluation(self.source)))

    def _check_size(self, values: list[Any]) -> None:
        size = JsonSize(MAX_RESULT)
        if not all(map(size.takes, values)):
            raise LimitExceeded(
                f"the result is more than {MAX_RESULT:,} characters of JSON",
                source=self.source,
                fragment=self.source,
                hint="select less: it holds the same values many times",
            )


def compile_jsonpath(source: str) -> Program:
    """A bare path (`a.b`, `.a.b`) means `{.a.b}`. Raises Rejected."""
    parts = parse(source)
    return Program(source, frozenset(_top_level(parts)), parts, _names=_keys(parts))


def _keys(parts: tuple[Part, ...]) -> tuple[str, ...]:
    match parts:
        case (Action(steps),):
            names = tuple(step.name for step in steps if isinstance(step, Field))
            return names if len(names) == len(steps) else ()
    return ()


def _at(document: Any, names: tuple[str, ...]) -> Any:
    """The value below these keys, or _MISSING; _ELSEWHERE where the way leads through other than plain objects."""
    value = document
    for name in names:
        if type(value) is not dict:
            return _ELSEWHERE
        value = value.get(name, _MISSING)
        if value is _MISSING:
            return _MISSING
    return value


def _collect(parts: tuple[Part, ...], root: Any, run: Evaluation) -> list[Any]:
    values: list[Any] = []
    for part in parts:
        match part:
            case Action(steps):
                values.extend(walk(steps, [root], run))
            case Loop(steps, body):
                for element in walk(steps, [root], run):
                    values.extend(_collect(body, element, run))
            case text:
                values.append(text)
    return values


def _rendered(parts: tuple[Part, ...], root: Any, run: Evaluation) -> Iterator[str]:
    for part in parts:
        match part:
            case Action(steps):
                yield " ".join(map(_printed, walk(steps, [root], run)))
            case Loop(steps, body):
                for element in walk(steps, [root], run):
                    yield from _rendered(body, element, run)
            case text:
                yield text


def _printed(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _top_level(parts: tuple[Part, ...]) -> Iterator[str]:
    for part in parts:
        if not isinstance(part, str):
            yield from _first_names(part.steps)


def _first_names(steps: tuple[Step, ...]) -> Iterator[str]:
    match steps[:1]:
        case (Field(name),):
            yield name
        case (Union(branches),):
            for branch in branches:
                yield from _first_names(branch)
