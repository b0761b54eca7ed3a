"""The loops of CEL: what each macro does with the elements of a list or the keys of a map.

`all` and `exists` absorb the failure of one element when another decides, like `&&` and `||`; the others fail with it.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from shared.languages.cel.compiling.selection import Evaluate
from shared.languages.cel.functions.lists import ordered
from shared.languages.cel.parsing.syntax import Macro, Node
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import Failure, Halt
from shared.languages.cel.runtime.values import NONE, Optional, is_list, is_map, kind_of, undecided

# What runs for a macro: the elements, the slot its variable is bound to, and its body.
Loop = Callable[[Evaluation, Any, int, Evaluate], Any]


def elements(evaluation: Evaluation, value: Any, weight: int) -> Sequence[Any]:
    """What a macro runs over, charged before it does."""
    if is_list(value):
        evaluation.iterate(len(value), weight)
        items: Sequence[Any] = value
        return items
    if is_map(value):
        evaluation.iterate(len(value), weight)
        return tuple(value)
    raise Failure(f"{kind_of(value).described} has no elements to loop over", met=value)


def verdict(value: Any) -> bool:
    """A condition's outcome: only a bool decides."""
    if value is True or value is False:
        return value
    raise undecided(value)


def _quantifier(*, decisive: bool) -> Loop:
    def run(evaluation: Evaluation, items: Sequence[Any], slot: int, body: Evaluate) -> bool:
        bound = evaluation.bound
        failure: Failure | None = None
        for item in items:
            bound[slot] = item
            try:
                if verdict(body(evaluation)) is decisive:
                    return decisive
            except Failure as problem:
                failure = failure or problem.with_traceback(None)
        if failure is not None:
            raise failure
        return not decisive

    return run


def _exists_one(evaluation: Evaluation, items: Sequence[Any], slot: int, body: Evaluate) -> bool:
    return len(_filter(evaluation, items, slot, body)) == 1


def _filter(evaluation: Evaluation, items: Sequence[Any], slot: int, body: Evaluate) -> tuple[Any, ...]:
    bound = evaluation.bound
    kept = []
    for item in items:
        bound[slot] = item
        if verdict(body(evaluation)):
            kept.append(item)
    return tuple(kept)


def _map(evaluation: Evaluation, items: Sequence[Any], slot: int, body: Evaluate) -> tuple[Any, ...]:
    bound = evaluation.bound
    made = []
    for item in items:
        bound[slot] = item
        made.append(body(evaluation))
    return tuple(made)


def _sort_by(evaluation: Evaluation, items: Sequence[Any], slot: int, body: Evaluate) -> tuple[Any, ...]:
    return ordered(evaluation, items, _map(evaluation, items, slot, body))


_LOOPS: Final[dict[Macro, Loop]] = {
    Macro.ALL: _quantifier(decisive=False),
    Macro.EXISTS: _quantifier(decisive=True),
    Macro.EXISTS_ONE: _exists_one,
    Macro.MAP: _map,
    Macro.FILTER: _filter,
    Macro.SORT_BY: _sort_by,
}


def loop(macro: Macro, source: Evaluate, slot: int, body: Evaluate, *, weight: int, node: Node) -> Evaluate:
    run = _LOOPS[macro]
    only_lists = macro is Macro.SORT_BY

    def comprehension(evaluation: Evaluation) -> Any:
        try:
            value = source(evaluation)
            items = elements(evaluation, value, weight)
            if only_lists and items is not value:
                raise Failure("only a list can be sorted", met=value)
            return run(evaluation, items, slot, body)
        except Halt as halt:
            halt.node = halt.node or node
            raise

    return comprehension


def selective_map(source: Evaluate, slot: int, where: Evaluate, body: Evaluate, *, weight: int, node: Node) -> Evaluate:
    """The three-argument `map`: each element decides, then is mapped, before the next one is looked at."""

    def comprehension(evaluation: Evaluation) -> Any:
        try:
            items = elements(evaluation, source(evaluation), weight)
            bound = evaluation.bound
            made = []
            for item in items:
                bound[slot] = item
                if verdict(where(evaluation)):
                    made.append(body(evaluation))
            return tuple(made)
        except Halt as halt:
            halt.node = halt.node or node
            raise

    return comprehension


def binding(source: Evaluate, slot: int, body: Evaluate, *, flat: bool, node: Node) -> Evaluate:
    """`optMap` and `optFlatMap`: the body sees the optional's value, if there is one."""

    def bind(evaluation: Evaluation) -> Any:
        try:
            optional = source(evaluation)
            if type(optional) is not Optional:
                raise Failure(f"optMap() works on an optional, not on {kind_of(optional).described}", met=optional)
            if not optional.present:
                return NONE
            evaluation.bound[slot] = optional.value
            value = body(evaluation)
            return value if flat else Optional(value)
        except Halt as halt:
            halt.node = halt.node or node
            raise

    return bind
