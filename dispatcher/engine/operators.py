"""What the eleven operators of a structured condition mean.

Numbers are equal where they mean the same number, whether JSON, YAML or a conversion made them; a boolean is no number.
A field that is missing is null: it equals nothing, is in nothing, and does not exist. To compare it, or to look into
it, is an error, because no answer would be right.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from dispatcher.config.compiled import Operator
from shared.errors import Invalid


def holds(operator: Operator, actual: Any, expected: Any) -> bool:
    """Whether `actual operator expected`. Raises Invalid where that cannot be said."""
    return _MEANINGS[operator](actual, expected)


def _equals(left: Any, right: Any) -> bool:
    match left, right:
        case (bool(), _) | (_, bool()):
            return isinstance(left, bool) and isinstance(right, bool) and left is right
        case (int() | float(), int() | float()):
            return left == right
        case (list(), list()):
            return len(left) == len(right) and all(map(_equals, left, right))
        case (dict(), dict()):
            return left.keys() == right.keys() and all(_equals(value, right[key]) for key, value in left.items())
    return type(left) is type(right) and bool(left == right)


def _in(actual: Any, expected: Any) -> bool:
    if not isinstance(expected, Sequence) or isinstance(expected, str):
        raise Invalid("`in` and `notIn` need a list of values")
    return any(_equals(actual, each) for each in expected)


def _contains(actual: Any, expected: Any) -> bool:
    match actual:
        case str() if isinstance(expected, str):
            return expected in actual
        case list():
            return _in(expected, actual)
        case dict() if isinstance(expected, str):
            return expected in actual
    raise Invalid(f"{_kind(actual)} cannot contain {_kind(expected)}")


def _greater(actual: Any, expected: Any) -> bool:
    return _number(actual) > _number(expected)


def _less(actual: Any, expected: Any) -> bool:
    return _number(actual) < _number(expected)


def _number(value: Any) -> int | float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise Invalid(f"{_kind(value)} is no number to compare with")


def _exists(actual: Any, _: Any) -> bool:
    return actual is not None and actual not in ("", [], {})


def _kind(value: Any) -> str:
    names = {str: "a text", bool: "a boolean", list: "a list", dict: "an object", type(None): "a missing value"}
    return names.get(type(value), "a number")


_MEANINGS: Final[dict[Operator, Callable[[Any, Any], bool]]] = {
    Operator.EQUALS: _equals,
    Operator.NOT_EQUALS: lambda actual, expected: not _equals(actual, expected),
    Operator.IN: _in,
    Operator.NOT_IN: lambda actual, expected: not _in(actual, expected),
    Operator.CONTAINS: _contains,
    Operator.GREATER_THAN: _greater,
    Operator.LESS_THAN: _less,
    Operator.GREATER_THAN_OR_EQUAL: lambda actual, expected: not _less(actual, expected),
    Operator.LESS_THAN_OR_EQUAL: lambda actual, expected: not _greater(actual, expected),
    Operator.EXISTS: _exists,
    Operator.NOT_EXISTS: lambda actual, expected: not _exists(actual, expected),
}
