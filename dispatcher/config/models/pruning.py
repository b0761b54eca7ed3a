"""A document whose structural errors are taken out, so that the rest of it can be checked in the same pass.

An unknown key, or an optional member, is left out; a block of a list that lacks what it needs is replaced by one that
does nothing, so that the others keep their places.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from dispatcher.config.models.structure import model_at
from dispatcher.config.reading.paths import Path

_ROUNDS: Final = 20
_Model = TypeVar("_Model", bound=BaseModel)
_MANIFEST: Final = {
    "apiVersion": "v1",
    "kind": "Unknown",
    "metadata": {"name": "x", "annotations": {"hyperfleet.io/generation": "1"}},
}
_IDLE: Final[Mapping[str, Mapping[str, Any]]] = {
    "params": {"source": "event.id"},
    "preconditions": {"expression": "true"},
    "capture": {"field": "id"},
    "conditions": {"field": "event", "operator": "exists"},
    "headers": {},
    "resources": {"manifest": _MANIFEST, "discovery": {"by_name": "x"}},
    "nested_discoveries": {"discovery": {"by_name": "x"}},
    "payloads": {"build": {}},
    "post_actions": {},
}


def pruned(data: Any, model: type[_Model], error: ValidationError) -> _Model | None:
    """A valid model of what is left, None where nothing can be saved."""
    for _ in range(_ROUNDS):
        for line in error.errors(include_url=False):
            data = _without(data, tuple(step for step in line["loc"] if not str(step).startswith("<")), model)
        try:
            return model.model_validate(data)
        except ValidationError as remaining:
            error = remaining
    return None


def _without(data: Any, path: Path, model: type[BaseModel]) -> Any:
    if path and path[-1] == "name" and _is_needed(model, path) and _has(data, path):
        return _changed(data, path, f"unnamed{path[-2] if len(path) > 1 else ''}")
    while path and not isinstance(path[-1], int) and _is_needed(model, path):
        path = path[:-1]
    if path and isinstance(path[-1], int):
        return _changed(data, path, _idle(path))
    return _changed(data, path, None)


def _has(data: Any, path: Path) -> bool:
    for step in path:
        if isinstance(data, dict) and step in data:
            data = data[str(step)]
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return False
    return data is not None


def _is_needed(model: type[BaseModel], path: Path) -> bool:
    block = model_at(model, path[:-1])
    field = block.model_fields.get(str(path[-1])) if block else None
    return field is not None and field.is_required()


def _idle(path: Path) -> dict[str, Any] | None:
    kind, index = path[-2] if len(path) > 1 else "", path[-1]
    idle = _IDLE.get(str(kind))
    if idle is None:
        return None
    if kind == "conditions":
        return dict(idle)
    return {"name": f"unnamed{index}", **idle}


def _changed(data: Any, path: Path, value: Any) -> Any:
    """A copy with another value; None takes a member out, and a whole document that is none becomes an empty one."""
    if not path:
        return {} if value is None else value
    step, rest = path[0], path[1:]
    if isinstance(data, dict):
        if not rest and value is None:
            return {key: each for key, each in data.items() if key != step}
        return {key: _changed(each, rest, value) if key == step else each for key, each in data.items()}
    if isinstance(data, list):
        return [_changed(each, rest, value) if index == step else each for index, each in enumerate(data)]
    return data


def names_in(data: Any) -> Iterator[str]:
    """Everything a document calls `name`: what a broken block would have defined counts as defined."""
    if isinstance(data, dict):
        name = data.get("name")
        if isinstance(name, str) and name.isidentifier():
            yield str(name)
        for each in data.values():
            yield from names_in(each)
    elif isinstance(data, list):
        for each in data:
            yield from names_in(each)
