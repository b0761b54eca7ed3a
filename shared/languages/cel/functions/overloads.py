"""Functions by the kinds of their arguments.

A function is a table from the Python types of its arguments to what runs, so a call costs one look-up; the same table
answers, before anything runs, how many arguments it takes. The name alone decides between `f(x, y)` and `x.f(y)`: the
target is the first argument, as in cel-go without its type checker.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from shared.languages.cel.runtime.failure import Failure
from shared.languages.cel.runtime.values import PYTHON_TYPES, Kind, kind_of

# What runs gets the evaluation first, to charge its work to, and then the arguments.
Implementation = Callable[..., Any]

ANY: Final = None


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature; ANY takes every kind."""

    kinds: tuple[Kind | None, ...]
    run: Implementation

    def accepts(self, kinds: tuple[Kind, ...]) -> bool:
        return len(kinds) == len(self.kinds) and all(
            wanted in {ANY, kind} for wanted, kind in zip(self.kinds, kinds, strict=True)
        )


class Function:
    """All overloads of one name. `weight` is what a call takes in steps, beside what it charges for its data."""

    __slots__ = ("_tables", "name", "overloads", "weight")

    def __init__(self, name: str, overloads: tuple[Overload, ...], *, weight: int = 1) -> None:
        self.name = name
        self.overloads = overloads
        self.weight = weight
        self._tables: Mapping[int, Mapping[tuple[type, ...], Implementation]] = {
            arity: _table([overload for overload in overloads if len(overload.kinds) == arity])
            for arity in self.arities
        }

    @property
    def arities(self) -> frozenset[int]:
        return frozenset(len(overload.kinds) for overload in self.overloads)

    def joined(self, other: "Function") -> "Function":
        return Function(self.name, self.overloads + other.overloads, weight=max(self.weight, other.weight))

    def table(self, arity: int) -> Mapping[tuple[type, ...], Implementation]:
        return self._tables[arity]

    def find(self, *arguments: Any) -> Implementation:
        """The long way, for Python types the table does not list: other mappings, subclasses, and mistakes."""
        kinds = tuple(kind_of(argument) for argument in arguments)
        for overload in self.overloads:
            if overload.accepts(kinds):
                return overload.run
        raise self.mismatch(*arguments)

    def mismatch(self, *arguments: Any) -> Failure:
        kinds = tuple(kind_of(argument) for argument in arguments)
        if self.name.endswith("_"):
            return Failure(f"{_operation(self.name, kinds)} does not exist", met=arguments[0], hint=_mixed(kinds))
        if self.overloads[0].kinds[:1] == (Kind.OPTIONAL,):
            problem = f"{self.name}() works on an optional, not on {kinds[0].described}"
            return Failure(problem, met=arguments[0], hint="only ? makes an optional, as in a.?b or a[?b]")
        given = ", ".join(kind.shown for kind in kinds)
        known = f"there is {' and '.join(self.signatures)}"
        return Failure(f"{self.name}({given}) does not exist", met=arguments[0], hint=known)

    @property
    def signatures(self) -> tuple[str, ...]:
        return tuple(
            f"{self.name}({', '.join('any' if kind is ANY else kind.shown for kind in overload.kinds)})"
            for overload in self.overloads
        )


def _operation(name: str, kinds: tuple[Kind, ...]) -> str:
    sign = name.strip("_")
    first, *second = (kind.shown for kind in kinds)
    return f"{first} {sign} {second[0]}" if second else f"{sign}{first}"


def _mixed(kinds: tuple[Kind, ...]) -> str | None:
    met = set(kinds)
    if met <= {Kind.INT, Kind.UINT, Kind.DOUBLE}:
        return "kinds of number do not mix here: convert one with int(x) or double(x)"
    if Kind.STRING in met and met & {Kind.INT, Kind.UINT, Kind.DOUBLE, Kind.BOOL}:
        return "string(x) makes a string of it, int(x) and double(x) a number"
    if Kind.OPTIONAL in met:
        return "an optional holds its value: take it out with .orValue(...)"
    return None


def _table(overloads: list[Overload]) -> Mapping[tuple[type, ...], Implementation]:
    every = tuple(python for pythons in PYTHON_TYPES.values() for python in pythons)
    table: dict[tuple[type, ...], Implementation] = {}
    for overload in overloads:
        for pythons in product(*(every if kind is ANY else PYTHON_TYPES[kind] for kind in overload.kinds)):
            table.setdefault(pythons, overload.run)
    return table
