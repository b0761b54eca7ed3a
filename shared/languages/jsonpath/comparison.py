"""Which two values a filter can compare, and how.

Text compares with text, numbers with numbers, booleans only for equality; everything else is a mistake worth an error,
because `false` would hide it. Whole and fractional numbers compare with each other: client-go refuses `@.n==5` on any
document that came as JSON, since Go reads every JSON number as a float.
"""

from collections.abc import Callable
from typing import Any


class Incomparable(Exception):
    """These two values have no such comparison."""


def _alike(left: Any, right: Any) -> type:
    for kind in (bool, str):
        if isinstance(left, kind) and isinstance(right, kind):
            return kind
    if _is_number(left) and _is_number(right):
        return float
    raise Incomparable


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(left: Any, right: Any) -> bool:
    _alike(left, right)
    return bool(left == right)


def _less(left: Any, right: Any) -> bool:
    if _alike(left, right) is bool:
        raise Incomparable
    return bool(left < right)


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _less,
    "<=": lambda left, right: _less(left, right) or _equal(left, right),
    ">": lambda left, right: not (_less(left, right) or _equal(left, right)),
    ">=": lambda left, right: not _less(left, right),
}
