"""The operators, each a function of its operands' kinds.

Integers have 64 bits and overflow is an error; kinds do not mix in arithmetic, numbers mix in comparison.
"""

import math
import operator
from collections.abc import Callable
from typing import Any, Final

from shared.languages.cel.functions.overloads import ANY, Function, Overload
from shared.languages.cel.functions.times import duration, timestamp
from shared.languages.cel.limits import COMPARING
from shared.languages.cel.runtime.comparison import CHARACTERS_PER_STEP, equals
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import Failure
from shared.languages.cel.runtime.lookup import find
from shared.languages.cel.runtime.numbers import toward_zero
from shared.languages.cel.runtime.values import (
    ABSENT,
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    Duration,
    Kind,
    Timestamp,
    UInt,
    kind_of,
)

INT, UINT, DOUBLE = (Kind.INT,) * 2, (Kind.UINT,) * 2, (Kind.DOUBLE,) * 2
_LONG_TEXT = 1024
_ORDERED = frozenset({Kind.STRING, Kind.BOOL, Kind.BYTES, Kind.TIMESTAMP, Kind.DURATION})


def _int(value: int) -> int:
    if INT_MIN <= value <= INT_MAX:
        return value
    raise Failure("the result does not fit into an int", hint="ints have 64 bits; double(x) reaches further")


def _uint(value: int) -> UInt:
    if 0 <= value <= UINT_MAX:
        return UInt(value)
    raise Failure("the result does not fit into a uint")


def _add_text(evaluation: Evaluation, left: str, right: str) -> str:
    evaluation.grow_text(len(left) + len(right))
    return left + right


def _add_bytes(evaluation: Evaluation, left: bytes, right: bytes) -> bytes:
    evaluation.grow_text(len(left) + len(right))
    return left + right


def _add_lists(evaluation: Evaluation, left: Any, right: Any) -> tuple[Any, ...]:
    evaluation.grow_list(len(left) + len(right))
    return (*left, *right)


def _moved(at: Timestamp, nanos: int) -> Timestamp:
    return timestamp(at.nanos + nanos, at.offset)


_ADD = Function(
    "_+_",
    (
        Overload(INT, lambda _, left, right: _int(left + right)),
        Overload((Kind.STRING,) * 2, _add_text),
        Overload(DOUBLE, lambda _, left, right: left + right),
        Overload(UINT, lambda _, left, right: _uint(int(left) + int(right))),
        Overload((Kind.BYTES,) * 2, _add_bytes),
        Overload((Kind.LIST,) * 2, _add_lists),
        Overload((Kind.DURATION,) * 2, lambda _, left, right: duration(left.nanos + right.nanos)),
        Overload((Kind.TIMESTAMP, Kind.DURATION), lambda _, left, right: _moved(left, right.nanos)),
        Overload((Kind.DURATION, Kind.TIMESTAMP), lambda _, left, right: _moved(right, left.nanos)),
    ),
)

_SUBTRACT = Function(
    "_-_",
    (
        Overload(INT, lambda _, left, right: _int(left - right)),
        Overload(DOUBLE, lambda _, left, right: left - right),
        Overload(UINT, lambda _, left, right: _uint(int(left) - int(right))),
        Overload((Kind.DURATION,) * 2, lambda _, left, right: duration(left.nanos - right.nanos)),
        Overload((Kind.TIMESTAMP,) * 2, lambda _, left, right: duration(left.nanos - right.nanos)),
        Overload((Kind.TIMESTAMP, Kind.DURATION), lambda _, left, right: _moved(left, duration(-right.nanos).nanos)),
    ),
)

_MULTIPLY = Function(
    "_*_",
    (
        Overload(INT, lambda _, left, right: _int(left * right)),
        Overload(DOUBLE, lambda _, left, right: left * right),
        Overload(UINT, lambda _, left, right: _uint(int(left) * int(right))),
    ),
)


def _divided(left: int, right: int) -> int:
    if right == 0:
        raise Failure("division by zero")
    return toward_zero(left, right)


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise Failure("modulus by zero")
    _int(toward_zero(left, right))
    return left - right * toward_zero(left, right)


def _divide_doubles(_: Evaluation, left: float, right: float) -> float:
    """As machines divide: by zero it is infinite, or not a number."""
    if right:
        return left / right
    if not left or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


_DIVIDE = Function(
    "_/_",
    (
        Overload(INT, lambda _, left, right: _int(_divided(left, right))),
        Overload(DOUBLE, _divide_doubles),
        Overload(UINT, lambda _, left, right: _uint(_divided(int(left), int(right)))),
    ),
)

_MODULO = Function(
    "_%_",
    (
        Overload(INT, lambda _, left, right: _remainder(left, right)),
        Overload(UINT, lambda _, left, right: _uint(int(left) % int(right)) if right else _remainder(left, right)),
    ),
)

_NEGATE = Function(
    "-_",
    (
        Overload((Kind.INT,), lambda _, value: _int(-value)),
        Overload((Kind.DOUBLE,), lambda _, value: -value),
        Overload((Kind.DURATION,), lambda _, value: duration(-value.nanos)),
    ),
)

_NOT = Function("!_", (Overload((Kind.BOOL,), lambda _, value: not value),))


def _in_list(evaluation: Evaluation, value: Any, items: Any) -> bool:
    if type(value) is str and len(value) <= _LONG_TEXT:
        evaluation.spend(len(items) // COMPARING)
        return value in items
    evaluation.spend(len(items) * COMPARING)
    return any(equals(evaluation, value, item) for item in items)


def _in_map(_: Evaluation, key: Any, container: Any) -> bool:
    return find(container, key) is not ABSENT


_IN = Function("_in_", (Overload((ANY, Kind.LIST), _in_list), Overload((ANY, Kind.MAP), _in_map)))


def _is_nan(value: Any) -> bool:
    return type(value) is float and math.isnan(value)


def _comparison(name: str, compare: Callable[[Any, Any], bool]) -> Function:
    def exact(_: Evaluation, left: Any, right: Any) -> bool:
        return compare(left, right)

    def texts(evaluation: Evaluation, left: Any, right: Any) -> bool:
        if len(left) > _LONG_TEXT:
            evaluation.spend(len(left) // CHARACTERS_PER_STEP)
        return compare(left, right)

    def as_doubles(_: Evaluation, left: float, right: float) -> bool:
        try:
            return compare(float(left), float(right))
        except OverflowError:
            return compare(left, right)

    def instants(_: Evaluation, left: Timestamp | Duration, right: Timestamp | Duration) -> bool:
        return compare(left.nanos, right.nanos)

    def only_nan(_: Evaluation, left: Any, right: Any) -> bool:
        """NaN is neither less nor more than anything of whatever kind, but behind what has no order it is no use."""
        if _is_nan(left) or (_is_nan(right) and kind_of(left) in _ORDERED):
            return False
        raise comparison.mismatch(left, right)

    whole, floating = (Kind.INT, Kind.UINT), Kind.DOUBLE
    comparison = Function(
        name,
        (
            *(Overload((left, right), exact) for left in whole for right in whole),
            Overload((Kind.STRING,) * 2, texts),
            Overload(DOUBLE, exact),
            *(Overload((left, floating), as_doubles) for left in whole),
            *(Overload((floating, right), as_doubles) for right in whole),
            Overload((Kind.BOOL,) * 2, exact),
            Overload((Kind.BYTES,) * 2, texts),
            Overload((Kind.TIMESTAMP,) * 2, instants),
            Overload((Kind.DURATION,) * 2, instants),
            Overload((floating, ANY), only_nan),
            Overload((ANY, floating), only_nan),
        ),
    )
    return comparison


_COMPARISONS = tuple(
    _comparison(name, compare)
    for name, compare in (("_<_", operator.lt), ("_<=_", operator.le), ("_>_", operator.gt), ("_>=_", operator.ge))
)

OPERATORS: Final = {
    function.name: function
    for function in (_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _MODULO, _NEGATE, _NOT, _IN, *_COMPARISONS)
}
