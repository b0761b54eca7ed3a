"""The functions of lists from cel-go's extension, and the ordering they share with the `sortBy` macro."""

from collections.abc import Sequence
from typing import Any, Final

from shared.languages.cel.functions.overloads import Function, Overload
from shared.languages.cel.limits import COMPARING
from shared.languages.cel.runtime.comparison import CHARACTERS_PER_STEP, equals
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import Failure
from shared.languages.cel.runtime.values import Kind, is_list, kind_of
from shared.languages.errors import shown

LIST, INT = Kind.LIST, Kind.INT
_ORDERED: Final = frozenset(
    {Kind.BOOL, Kind.INT, Kind.UINT, Kind.DOUBLE, Kind.STRING, Kind.BYTES, Kind.TIMESTAMP, Kind.DURATION}
)


def ordered(evaluation: Evaluation, items: Sequence[Any], keys: Sequence[Any]) -> tuple[Any, ...]:
    """The items by their keys, equal ones in their old order; all keys must be of the first one's kind."""
    if not keys:
        return ()
    kind = kind_of(keys[0])
    if kind not in _ORDERED:
        raise Failure(f"{kind.described} has no order to sort by", met=keys[0])
    for key in keys:
        if kind_of(key) is not kind:
            raise Failure("only elements of one kind can be sorted", met=key)
    rounds = len(keys).bit_length()
    evaluation.spend(len(keys) * (COMPARING + rounds))
    if kind in {Kind.STRING, Kind.BYTES}:
        evaluation.spend(sum(map(len, keys)) * rounds // CHARACTERS_PER_STEP)
    evaluation.grow_list(len(keys))
    ranks = [key.nanos for key in keys] if kind in {Kind.TIMESTAMP, Kind.DURATION} else keys
    return tuple(items[index] for index in sorted(range(len(items)), key=ranks.__getitem__))


def _sort(evaluation: Evaluation, items: Any) -> tuple[Any, ...]:
    return ordered(evaluation, items, items)


def _slice(evaluation: Evaluation, items: Any, start: int, end: int) -> tuple[Any, ...]:
    if not 0 <= start <= end <= len(items):
        raise Failure(f"slice({shown(start)}, {shown(end)}) does not fit a list of {len(items)}", met=items)
    evaluation.grow_list(end - start)
    return tuple(items[start:end])


def _flatten(evaluation: Evaluation, items: Any, depth: int = 1) -> tuple[Any, ...]:
    if depth < 0:
        raise Failure(f"a list cannot be flattened {shown(depth)} times", met=items)
    flat: list[Any] = []
    _collect(evaluation, items, depth, flat)
    return tuple(flat)


def _collect(evaluation: Evaluation, items: Any, depth: int, flat: list[Any]) -> None:
    evaluation.grow_list(len(items))
    evaluation.spend(len(items))
    for item in items:
        if depth and is_list(item):
            _collect(evaluation, item, depth - 1, flat)
        else:
            flat.append(item)


def _distinct(evaluation: Evaluation, items: Any) -> tuple[Any, ...]:
    """The first of each; strings are distinguished by a set, the rest by CEL's equality, which no hash agrees with."""
    evaluation.spend(len(items) * COMPARING)
    evaluation.grow_list(len(items))
    texts: set[str] = set()
    others: list[Any] = []
    first: list[Any] = []
    for item in items:
        if type(item) is str:
            known = item in texts
            texts.add(item)
        else:
            evaluation.spend(len(others) * COMPARING)
            known = any(equals(evaluation, item, other) for other in others)
            if not known:
                others.append(item)
        if not known:
            first.append(item)
    return tuple(first)


def _reverse(evaluation: Evaluation, items: Any) -> tuple[Any, ...]:
    evaluation.grow_list(len(items))
    return tuple(items[::-1])


def _range(evaluation: Evaluation, length: int) -> tuple[int, ...]:
    if length < 0:
        raise Failure(f"lists.range({shown(length)}) cannot be: a length is not negative")
    evaluation.spend(length)
    evaluation.grow_list(length)
    return tuple(range(length))


FUNCTIONS: Final = (
    Function("sort", (Overload((LIST,), _sort),), weight=30),
    Function("slice", (Overload((LIST, INT, INT), _slice),)),
    Function("flatten", (Overload((LIST,), _flatten), Overload((LIST, INT), _flatten))),
    Function("distinct", (Overload((LIST,), _distinct),)),
    Function("reverse", (Overload((LIST,), _reverse),)),
    Function("lists.range", (Overload((INT,), _range),)),
)
