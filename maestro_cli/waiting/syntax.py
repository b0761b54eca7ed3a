"""The tree of an expression, and its one normal spelling: `str(tree)` parses back to the same tree."""

import re
from dataclasses import dataclass
from enum import StrEnum

Scalar = str | int | float | bool


class Comparator(StrEnum):
    EQUAL = "="
    NOT_EQUAL = "!="
    AT_LEAST = ">="
    AT_MOST = "<="
    MORE = ">"
    LESS = "<"


@dataclass(frozen=True, slots=True)
class Target:
    """The objects of a work that are meant: by kind, and where given by namespace and name."""

    kind: str
    name: str = ""
    namespace: str = ""

    def __str__(self) -> str:
        return "/".join(part for part in (self.kind, self.namespace, self.name) if part)


@dataclass(frozen=True, slots=True)
class Test:
    """`subject` compared with a value. It is a condition of the work, or, with a target, of an object of the work:
    a value of its feedback by dotted path, or one of its conditions by type.
    """

    subject: str
    comparator: Comparator
    value: Scalar
    target: Target | None = None

    def __str__(self) -> str:
        where = f"{self.target}:" if self.target else ""
        if self.comparator is Comparator.EQUAL and self.value == "True":
            return f"{where}{self.subject}"
        return f"{where}{self.subject}{self.comparator}{_spelled(self.value)}"


@dataclass(frozen=True, slots=True)
class In:
    """The subject is one of the values."""

    subject: str
    values: tuple[Scalar, ...]
    target: Target | None = None

    def __str__(self) -> str:
        where = f"{self.target}:" if self.target else ""
        return f"{where}{self.subject} in ({', '.join(map(_spelled, self.values))})"


class Quantifier(StrEnum):
    ANY = "any"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Quantified:
    """For a test whose target matches several objects; without one, all of them count."""

    quantifier: Quantifier
    test: Test | In

    def __str__(self) -> str:
        return f"{self.quantifier}({self.test})"


@dataclass(frozen=True, slots=True)
class Not:
    operand: "Expression"

    def __str__(self) -> str:
        return f"NOT {_inside(self.operand, And, Or)}"


@dataclass(frozen=True, slots=True)
class And:
    operands: "tuple[Expression, ...]"

    def __str__(self) -> str:
        return " AND ".join(_inside(each, And, Or) for each in self.operands)


@dataclass(frozen=True, slots=True)
class Or:
    operands: "tuple[Expression, ...]"

    def __str__(self) -> str:
        return " OR ".join(_inside(each, Or) for each in self.operands)


Expression = Test | In | Quantified | Not | And | Or

_BARE = re.compile(r"[A-Za-z_][\w.\-]*", re.ASCII)
RESERVED = frozenset({"AND", "OR", "NOT", "in", "any", "all", "true", "false"})


def _inside(expression: Expression, *looser: type) -> str:
    return f"({expression})" if isinstance(expression, looser) else str(expression)


def _spelled(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        if _BARE.fullmatch(value) and value not in RESERVED:
            return value
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return repr(value)
