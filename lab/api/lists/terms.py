"""The values a search looks at, and how they compare: as a database does, where a missing value matches nothing."""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lab.api.problems import BAD_REQUEST, Problem
from lab.api.rules.values import FALSE, TRUE, UNKNOWN, Resource
from shared import times

Literal = str | float
Matcher = Callable[[Resource], bool]
Reader = Callable[[Resource], Any]

COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SUBFIELDS = ("last_updated_time", "last_transition_time", "observed_generation")
_CONDITION_TYPE = re.compile(r"[A-Z][A-Za-z0-9]*")
_STATUSES = (TRUE, FALSE, UNKNOWN)


def _as_text(literal: Literal) -> str:
    return f"{literal:g}" if isinstance(literal, float) else literal


def _as_number(literal: Literal) -> float:
    try:
        return float(literal)
    except ValueError:
        raise Problem(BAD_REQUEST, f"{literal!r} is not a number") from None


def _as_time(literal: Literal) -> datetime:
    try:
        return times.parse(str(literal))
    except ValueError:
        raise Problem(BAD_REQUEST, f"{literal!r} is not an RFC 3339 time") from None


@dataclass(frozen=True, slots=True)
class Operand:
    """Something a search names: how it is read, and how a literal it is compared with is understood.

    `negatable` is false where the API refuses `not` before it. A condition is not `in` a list.
    """

    name: str
    read: Reader
    understand: Callable[[Literal], Any] = _as_text
    negatable: bool = True
    condition: bool = False
    condition_status: bool = False


_COLUMNS: Mapping[str, Operand] = {
    each.name: each
    for each in (
        Operand("id", lambda each: each.id),
        Operand("kind", lambda each: each.kind),
        Operand("name", lambda each: each.name),
        Operand("generation", lambda each: each.generation, _as_number),
        Operand("created_by", lambda each: each.created_by),
        Operand("updated_by", lambda each: each.updated_by),
        Operand("created_time", lambda each: each.created_time, _as_time),
        Operand("updated_time", lambda each: each.updated_time, _as_time),
        Operand("deleted_time", lambda each: each.deleted_time, _as_time),
        Operand("owner_id", lambda each: each.owner.id if each.owner else None),
    )
}


def column(name: str) -> Operand:
    """A column of the table, which may also be sorted by. Raises Problem for any other name."""
    if name not in _COLUMNS:
        raise Problem(BAD_REQUEST, f"{name} is not a valid field name")
    return _COLUMNS[name]


def operand(name: str) -> Operand:
    """What `name` stands for in a search. Raises Problem where there is no such field."""
    first, *rest = name.split(".")
    match first, rest:
        case "labels", [_, *_]:
            key = ".".join(rest)
            return Operand(name, lambda each: each.labels.get(key), negatable=False)
        case "spec", [_, *_]:
            return Operand(name, lambda each: _inside(each.spec, rest))
        case "status", ["conditions", kind, *subfield]:
            return _condition(name, kind, subfield)
        case _:
            return column(name)


def compare(left: Operand, sign: str, literal: Literal) -> Matcher:
    if left.condition_status and (sign != "=" or literal not in _STATUSES):
        raise Problem(BAD_REQUEST, f"{left.name} can only be compared by = with True, False or Unknown")
    holds, right = COMPARISONS[sign], left.understand(literal)

    def matches(resource: Resource) -> bool:
        value = left.read(resource)
        return value is not None and holds(value, right)

    return matches


def is_in(left: Operand, literals: list[Literal]) -> Matcher:
    if left.condition:
        raise Problem(BAD_REQUEST, f"IN is not supported with {left.name}; use comparisons instead")
    choices = [left.understand(each) for each in literals]
    return lambda resource: left.read(resource) in choices


def is_null(left: Operand) -> Matcher:
    return lambda resource: left.read(resource) is None


def _condition(name: str, kind: str, subfield: list[str]) -> Operand:
    if not _CONDITION_TYPE.fullmatch(kind) or len(subfield) > 1 or not set(subfield).issubset(_SUBFIELDS):
        raise Problem(BAD_REQUEST, f"{name} is not a valid field name")
    member = subfield[0] if subfield else "status"
    understand = {"status": _as_text, "observed_generation": _as_number}.get(member, _as_time)

    def read(resource: Resource) -> Any:
        condition = resource.condition(kind)
        return getattr(condition, member) if condition else None

    return Operand(name, read, understand, negatable=False, condition=True, condition_status=not subfield)


def _inside(value: Any, path: list[str]) -> Any:
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None or isinstance(value, str) else str(value)
