"""Whether an overlay fits the HostedCluster that it is merged over: the types of the values that it replaces."""

from collections.abc import Iterator, Mapping
from typing import Any

from controlplane_adapter.hostedcluster.model import ABSENT, DEFAULTS, Json
from shared.errors import Problem

_KINDS: dict[str, tuple[type, ...]] = {
    "an object": (Mapping,),
    "a list": (list, tuple),
    "a string": (str,),
    "true or false": (bool,),
    "a number": (int, float),
}


def overlay_problems(before: Json, overlay: Json, path: str = "") -> Iterator[Problem]:
    """A value must have the type of the one that it replaces, rendered or the API server's default; null removes it."""
    for name, value in overlay.items():
        place = f"{path}.{name}".lstrip(".")
        replaced = before.get(name, DEFAULTS.get(place, ABSENT))
        if value is None or replaced is ABSENT:
            continue
        expected, actual = _kind(replaced), _kind(value)
        if expected != actual:
            yield Problem(f"overlay.{place}", f"must be {expected}, as the value that it replaces, not {actual}")
        elif isinstance(value, Mapping) and isinstance(replaced, Mapping):
            yield from overlay_problems(replaced, value, place)


def _kind(value: Any) -> str:
    return next((name for name, types in _KINDS.items() if isinstance(value, types)), "null")
