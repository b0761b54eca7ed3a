"""When two values are equal: across kinds of number, never across other kinds, and deeply.

Kinds that cannot be equal are unequal, not an error. An int meets a double as a double does (so the last digits of a
very large int are lost, as in Go), and NaN equals nothing.
"""

from typing import Any, Final

from shared.languages.cel.limits import COMPARING
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.lookup import find
from shared.languages.cel.runtime.values import ABSENT, Duration, Optional, Timestamp, TypeName, UInt, is_list, is_map

_TEXTS: Final = frozenset({str, bytes})
_SAME_TYPE: Final = frozenset({type(None), bool, int, UInt, float, Timestamp, Duration, TypeName})
_NUMBERS: Final = frozenset({int, UInt, float})
_LONG_TEXT = 1024
# Comparing this many characters takes about as long as one step.
CHARACTERS_PER_STEP = 64


def equals(evaluation: Evaluation, left: Any, right: Any) -> bool:
    kind, other = type(left), type(right)
    if kind is other and kind in _TEXTS:
        if len(left) > _LONG_TEXT:
            evaluation.spend(len(left) // CHARACTERS_PER_STEP)
        return bool(left == right)
    if kind is other and kind in _SAME_TYPE:
        return bool(left == right)
    if kind in _NUMBERS and other in _NUMBERS:
        return numbers_equal(left, right)
    if is_list(left) and is_list(right):
        return len(left) == len(right) and _all_equal(evaluation, left, right)
    if is_map(left) and is_map(right):
        return len(left) == len(right) and _entries_equal(evaluation, left, right)
    if kind is Optional and other is Optional:
        return left.present == right.present and (not left.present or equals(evaluation, left.value, right.value))
    return isinstance(left, str) and isinstance(right, str) and str.__eq__(left, right)


def numbers_equal(left: float, right: float) -> bool:
    if type(left) is not float and type(right) is not float:
        return left == right
    try:
        return float(left) == float(right)
    except OverflowError:
        return False


def _all_equal(evaluation: Evaluation, left: Any, right: Any) -> bool:
    evaluation.spend(len(left) * COMPARING)
    return all(equals(evaluation, one, other) for one, other in zip(left, right, strict=True))


def _entries_equal(evaluation: Evaluation, left: Any, right: Any) -> bool:
    evaluation.spend(len(left) * COMPARING)
    for key in left:
        other = find(right, key)
        if other is ABSENT or not equals(evaluation, find(left, key), other):
            return False
    return True
