"""Equality and order of values: only within one kind, and an error where Go has no answer."""

from typing import Any

from shared.languages.gotemplate.runtime.failure import Failure
from shared.languages.gotemplate.runtime.values import Kind, describe, kind_of, type_name

_BASIC = frozenset({Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.COMPLEX, Kind.STRING})
_ORDERED = frozenset({Kind.INT, Kind.FLOAT, Kind.STRING})


def _comparable_kind(value: object) -> Kind:
    kind = kind_of(value)
    return Kind.INT if kind is Kind.UINT else kind


def equal(value: Any, *others: Any) -> bool:
    """Whether the value equals any of the others, which are looked at in turn."""
    if not others:
        raise Failure("eq needs something to compare with")
    return any(_equal(value, other) for other in others)


def _equal(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is right
    kinds = {_comparable_kind(left), _comparable_kind(right)}
    if len(kinds) == 1 and kinds <= _BASIC | {Kind.TIME}:
        return bool(left == right)
    if kinds & _BASIC or len(kinds) > 1:
        raise _incompatible(left, right)
    raise Failure(f"values of type {type_name(right)} cannot be compared", right)


def not_equal(left: Any, right: Any) -> bool:
    return not _equal(left, right)


def less(left: Any, right: Any) -> bool:
    kind = _comparable_kind(left)
    if kind is not _comparable_kind(right):
        raise _incompatible(left, right)
    if kind not in _ORDERED:
        raise Failure(f"values of type {type_name(left)} have no order", left)
    return bool(left < right)


def less_or_equal(left: Any, right: Any) -> bool:
    return less(left, right) or _equal(left, right)


def greater(left: Any, right: Any) -> bool:
    return not less_or_equal(left, right)


def greater_or_equal(left: Any, right: Any) -> bool:
    return not less(left, right)


def _incompatible(left: object, right: object) -> Failure:
    hint = None
    if {kind_of(left), kind_of(right)} == {Kind.INT, Kind.FLOAT}:
        hint = "convert one of them: float64 .x, or write the literal with or without a point"
    elif Kind.STRING in {kind_of(left), kind_of(right)}:
        hint = "convert one of them: string .x or int .x"
    return Failure(f"cannot compare {describe(left)} with {describe(right)}", left, right, hint=hint)
