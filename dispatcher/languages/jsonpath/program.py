"""A compiled path: what it reads of a document, and what the values it selects amount to."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dispatcher.languages.jsonpath.parsing import SPACE, Action, Loop, Part, parse
from dispatcher.languages.jsonpath.steps import Field, Run, Step, Union, walk

# Enough for every key of a 10 MB document, and well below a second.
BUDGET = 1_000_000


@dataclass(frozen=True, slots=True)
class Program:
    """Immutable and re-entrant. `free_variables` are the top-level keys the path asks for by name."""

    source: str
    free_variables: frozenset[str]
    parts: tuple[Part, ...] = field(repr=False)
    functions: frozenset[str] = frozenset()

    def evaluate(self, document: Any) -> Any:
        """Nothing, or nothing but white space, is None; one value is that value; several are a flat list."""
        values = _collect(self.parts, document, Run(self.source, BUDGET))
        if all(isinstance(value, str) and not value.strip(SPACE) for value in values):
            return None
        return values[0] if len(values) == 1 else values


def compile_jsonpath(source: str) -> Program:
    """A bare path (`a.b`, `.a.b`) means `{.a.b}`. Raises Rejected."""
    parts = parse(source)
    return Program(source, frozenset(_top_level(parts)), parts)


def _collect(parts: tuple[Part, ...], root: Any, run: Run) -> list[Any]:
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
