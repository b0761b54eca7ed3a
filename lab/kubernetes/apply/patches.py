"""JSON patch, JSON merge patch and strategic merge patch.

Strategic merge knows which lists of the built-in kinds are keyed, so a patch can change one condition or container
without naming the others. Server-side apply is in `server_side_apply`.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any

from lab.kubernetes.api import refusals
from lab.kubernetes.api.documents import Object

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

# Lists of the built-in kinds that strategic merge merges by key; it replaces all others.
_MERGE_KEYS = {
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "podIPs": "ip",
    "ports": "containerPort",
    "resourceClaims": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
# Lists of scalars that strategic merge merges.
_MERGED_VALUES = {"finalizers"}

_DIRECTIVE, _DELETE_VALUES, _ORDER, _RETAIN = "$patch", "$deleteFromPrimitiveList/", "$setElementOrder/", "$retainKeys"


def merge(target: Any, patch: Any) -> Any:
    """JSON merge patch: null removes, objects merge, everything else replaces."""
    if not isinstance(patch, Mapping):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def strategic(target: Mapping[str, Any], patch: Mapping[str, Any]) -> Object:
    """Strategic merge of an object of a built-in kind."""
    directive = patch.get(_DIRECTIVE)
    if directive == "delete":
        return {}
    if directive == "replace":
        return {key: copy.deepcopy(value) for key, value in patch.items() if key != _DIRECTIVE}
    result = dict(target)
    if retained := patch.get(_RETAIN):
        result = {key: value for key, value in result.items() if key in retained}
    for key, value in patch.items():
        if key.startswith(_DELETE_VALUES):
            field = key.removeprefix(_DELETE_VALUES)
            result[field] = [each for each in result.get(field) or [] if each not in value]
        elif value is None:
            result.pop(key, None)
        elif not key.startswith("$"):
            result[key] = _strategic_value(key, result.get(key), value, patch.get(f"{_ORDER}{key}"))
    return result


def _strategic_value(field: str, target: Any, value: Any, order: list[Any] | None) -> Any:
    if isinstance(value, Mapping):
        return strategic(target if isinstance(target, Mapping) else {}, value)
    if isinstance(value, list):
        present = target if isinstance(target, list) else []
        if field in _MERGED_VALUES:
            merged = [*present, *(each for each in value if each not in present)]
            return _ordered(merged, present, order or value, key=lambda each: each)
        if (merge_key := _MERGE_KEYS.get(field)) and all(isinstance(each, Mapping) for each in value):
            merged = _keyed_list(merge_key, present, value)
            return _ordered(merged, present, order or value, key=lambda each: each.get(merge_key))
    return copy.deepcopy(value)


def _keyed_list(merge_key: str, present: list[Any], items: list[Any]) -> list[Any]:
    if any(item.get(_DIRECTIVE) == "replace" for item in items):
        return [copy.deepcopy(item) for item in items if _DIRECTIVE not in item]
    result = list(present)
    for item in items:
        if merge_key not in item and present:
            shown = " ".join(f"{key}:{value}" for key, value in sorted(item.items()))
            raise refusals.Refusal(500, "", f"map: map[{shown}] does not contain declared merge key: {merge_key}")
        place = next((at for at, each in enumerate(result) if each.get(merge_key) == item.get(merge_key)), None)
        if item.get(_DIRECTIVE) == "delete":
            result = [each for each in result if each.get(merge_key) != item[merge_key]]
        elif place is None:
            result.append(strategic({}, item))
        else:
            result[place] = strategic(result[place], item)
    return result


def _ordered(merged: list[Any], present: list[Any], order: list[Any], *, key: Callable[[Any], Any]) -> list[Any]:
    """In the order of the patch; items it does not name keep their place before its own, else follow them."""
    were, wanted = [key(each) for each in present], [key(each) for each in order]
    named = sorted((each for each in merged if key(each) in wanted), key=lambda each: wanted.index(key(each)))
    others = [each for each in merged if key(each) not in wanted]
    result = []
    while named and others:
        first, other = key(named[0]), key(others[0])
        stays_before = first in were and other in were and were.index(other) < were.index(first)
        result.append(others.pop(0) if stays_before else named.pop(0))
    return result + named + others


def json_patch(target: Object, operations: Any) -> Object:
    """RFC 6902. Raises a Refusal for an operation that cannot be applied."""
    if not isinstance(operations, list):
        raise refusals.bad_request("error decoding patch: a JSON patch is a list of operations")
    document: Any = copy.deepcopy(target)
    for operation in operations:
        document = _operate(document, operation)
    if not isinstance(document, dict):
        raise refusals.bad_request("a JSON patch must leave an object")
    return document


def _operate(document: Any, operation: Mapping[str, Any]) -> Any:
    path = _pointer(operation.get("path", ""))
    match operation.get("op"):
        case "add":
            return _placed(document, path, operation.get("value"), insert=True)
        case "replace":
            return _placed(document, path, operation.get("value"), insert=False)
        case "remove":
            return _removed(document, path)
        case "copy":
            return _placed(
                document, path, copy.deepcopy(_looked_up(document, _pointer(operation["from"]))), insert=True
            )
        case "move":
            source = _pointer(operation["from"])
            value = _looked_up(document, source)
            return _placed(_removed(document, source), path, value, insert=True)
        case "test":
            if _looked_up(document, path) != operation.get("value"):
                raise _unprocessable()
            return document
        case _:
            raise _unprocessable()


def _pointer(text: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:]]


def _looked_up(document: Any, path: list[str]) -> Any:
    found = document
    for step in path:
        try:
            found = found[int(step)] if isinstance(found, list) else found[step]
        except (KeyError, IndexError, ValueError, TypeError):
            raise _unprocessable() from None
    return found


def _placed(document: Any, path: list[str], value: Any, *, insert: bool) -> Any:
    if not path:
        return value
    holder = _looked_up(document, path[:-1])
    if isinstance(holder, list):
        place = len(holder) if path[-1] == "-" else int(path[-1])
        holder[place : place if insert else place + 1] = [value]
    elif isinstance(holder, dict):
        holder[path[-1]] = value
    else:
        raise _unprocessable()
    return document


def _removed(document: Any, path: list[str]) -> Any:
    _looked_up(document, path)
    holder = _looked_up(document, path[:-1])
    del holder[int(path[-1]) if isinstance(holder, list) else path[-1]]
    return document


def _unprocessable() -> refusals.Refusal:
    return refusals.Refusal(422, "Invalid", "the server rejected our request due to an error in our request")
