"""What `container[key]` and `container.key` find.

A map is asked for a key, a list for an index; anything else has neither, which is not an error until somebody insists:
`has()`, `.?` and `[?]` take it for absent, a plain access fails.
"""

from collections.abc import Mapping
from typing import Any

from shared.languages.cel.runtime.failure import Failure
from shared.languages.cel.runtime.values import ABSENT, INT_MAX, INT_MIN, BuiltMap, Kind, UInt, kind_of

KEY_KINDS = frozenset({Kind.BOOL, Kind.INT, Kind.UINT, Kind.DOUBLE, Kind.STRING})


def find(container: Any, key: Any) -> Any:
    """The value, or ABSENT. Only a list refuses: by what cannot be an index."""
    if type(container) is dict:
        return container.get(key, ABSENT) if type(key) is str else ABSENT
    if isinstance(container, list | tuple):
        return _at(container, key)
    if type(container) is BuiltMap:
        return container.find(key)
    if isinstance(container, Mapping):
        return container.get(key, ABSENT) if isinstance(key, str) else ABSENT
    return ABSENT


def _at(items: list[Any] | tuple[Any, ...], key: Any) -> Any:
    index = key
    if type(key) is float and key.is_integer():
        index = int(key)
    elif type(key) not in {int, UInt}:
        raise Failure(f"a list is not indexed by {kind_of(key).described}", met=items, hint=_index_hint(key))
    if not INT_MIN <= index <= INT_MAX:
        raise Failure("no list is that long", met=key)
    return items[index] if 0 <= index < len(items) else ABSENT


def _index_hint(key: Any) -> str | None:
    if type(key) is not str:
        return None
    return f"this is a list: take an element first, as in xs[0].{key}, or all of them, as in xs.map(x, x.{key})"
