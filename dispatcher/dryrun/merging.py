"""What becomes of an object when another document is laid over it."""

from typing import Any

from dispatcher.engine.ports import Object


def merged(below: Object, above: Object) -> Object:
    """Maps are merged key by key; of everything else, lists too, the upper one stays. Neither is changed."""
    return {**below, **{key: _over(below.get(key), value) for key, value in above.items()}}


def _over(below: Any, above: Any) -> Any:
    return merged(below, above) if isinstance(below, dict) and isinstance(above, dict) else above
