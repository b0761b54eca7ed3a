"""Whether a stored object has everything that a manifest asks for. What others added to it does not count."""

from collections.abc import Mapping
from typing import Any

from shared.kubernetes import Object


def differs(manifest: Object, stored: Object | None) -> bool:
    """Lists are compared whole; the server's defaults inside their items are no difference."""
    if stored is None:
        return True
    return not all(_contains(stored.get(key), value) for key, value in manifest.items())


def _contains(stored: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if not isinstance(stored, Mapping):
            return False
        return all(_contains(stored.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list):
        if not isinstance(stored, list) or len(stored) != len(wanted):
            return False
        return all(_contains(there, asked) for there, asked in zip(stored, wanted, strict=True))
    return bool(stored == wanted)
