"""Access to fields and elements: `a.b`, `a[k]`, `a.?b`, `a[?k]` and `has(a.b)`, evaluated as one path from its root.

A path turns optional at its first `?`, or when its root already is an optional: from there on what is absent makes
the whole path `optional.none()`, and what is present leaves it wrapped.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from shared.languages.cel.parsing.syntax import Node
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import Failure, Halt, Missing
from shared.languages.cel.runtime.lookup import KEY_KINDS, find
from shared.languages.cel.runtime.values import ABSENT, NONE, Optional, is_list, is_map, kind_of
from shared.languages.errors import shown

Evaluate = Callable[[Evaluation], Any]


class Step(NamedTuple):
    """One access. `key` is looked up, or what `computed` gives when it has to be computed first."""

    key: Any
    computed: Evaluate | None
    optional: bool
    node: Node


def path(root: Evaluate, steps: tuple[Step, ...]) -> Evaluate:
    def follow(evaluation: Evaluation) -> Any:
        value, optional = _walk(evaluation, root(evaluation), steps)
        if not optional:
            return value
        return NONE if value is ABSENT else Optional(value)

    return follow


def presence(root: Evaluate, steps: tuple[Step, ...]) -> Evaluate:
    """`has()` of the last step; the steps before it must succeed."""
    *before, last = steps
    way = tuple(before)

    def test(evaluation: Evaluation) -> bool:
        value, _ = _walk(evaluation, root(evaluation), way)
        try:
            return value is not ABSENT and find(value, last.key) is not ABSENT
        except Halt as halt:
            halt.node = last.node
            raise

    return test


def _walk(evaluation: Evaluation, value: Any, steps: tuple[Step, ...]) -> tuple[Any, bool]:
    """The value at the end and whether the path is optional; ABSENT when it is and something was not there."""
    optional = type(value) is Optional
    if optional:
        if not value.present:
            return ABSENT, True
        value = value.value
    for key, computed, skips, node in steps:
        if computed is not None:
            key = _key(computed(evaluation), node)  # noqa: PLW2901 - the key of this step, now known
        known = type(value) is dict and type(key) is str
        found = value.get(key, ABSENT) if known else _find(value, key, node)
        optional = optional or skips
        if found is ABSENT:
            if optional:
                return ABSENT, True
            raise _missing(value, key, node)
        value = found
    return value, optional


def _find(value: Any, key: Any, node: Node) -> Any:
    try:
        return find(value, key)
    except Halt as halt:
        halt.node = node
        raise


def _key(key: Any, node: Node) -> Any:
    if kind_of(key) in KEY_KINDS:
        return key
    failure = Failure(f"{kind_of(key).described} is neither a key nor an index", met=key)
    failure.node = node
    raise failure


def _missing(container: Any, key: Any, node: Node) -> Missing:
    if is_list(container):
        failure = Missing(f"index {shown(key)} is outside the list", met=container)
    elif is_map(container):
        failure = Missing(f"no such key: {shown(key)}", met=container)
    else:
        failure = Missing(f"no such key: {shown(key)}: {kind_of(container).described} has no keys", met=container)
    failure.node = node
    return failure
