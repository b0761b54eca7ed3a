"""Structural schemas of custom kinds: prune unknown fields, fill in defaults, find invalid values.

CEL rules are not evaluated.
"""

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.refusals import Cause

Schema = Mapping[str, Any]

# Fields of every object, whether its schema has them or not.
_COMMON = ("apiVersion", "kind", "metadata")
_OPEN = "x-kubernetes-preserve-unknown-fields"
_TYPES: dict[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}


def fitted(document: Object, schema: Schema) -> Object:
    """The object without unknown fields, and with the schema's defaults."""
    common = {key: document[key] for key in _COMMON if key in document}
    rest = {key: value for key, value in document.items() if key not in _COMMON}
    known: Object = fit(rest, schema)
    return {**common, **known}


def violations(document: Object, schema: Schema) -> list[Cause]:
    rest = {key: value for key, value in document.items() if key not in _COMMON}
    return problems(rest, schema)


def problems(value: Object, schema: Schema) -> list[Cause]:
    return list(_violations("", value, schema))


def fit(value: Any, schema: Schema) -> Any:
    if isinstance(value, list) and (items := schema.get("items")):
        return [fit(each, items) for each in value]
    if not isinstance(value, dict):
        return value
    properties: Schema = schema.get("properties") or {}
    more = schema.get("additionalProperties")
    known: Object = {}
    for name, below in value.items():
        if name in properties:
            known[name] = fit(below, properties[name])
        elif isinstance(more, Mapping):
            known[name] = fit(below, more)
        elif more or schema.get(_OPEN):
            known[name] = below
    for name, place in properties.items():
        if name not in known and "default" in place:
            known[name] = copy.deepcopy(place["default"])
    return known


def _violations(path: str, value: Any, schema: Schema) -> Iterator[Cause]:
    if value is None and schema.get("nullable"):
        return
    if wrong := _type_violation(path, value, schema):
        yield wrong
        return
    yield from _value_violations(path, value, schema)
    if isinstance(value, dict):
        properties: Schema = schema.get("properties") or {}
        for name in schema.get("required") or ():
            if name not in value:
                yield Cause("FieldValueRequired", "Required value", _below(path, name))
        for name, below in value.items():
            more = schema.get("additionalProperties")
            place = properties.get(name) or (more if isinstance(more, Mapping) else {})
            yield from _violations(_below(path, name), below, place)
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _violations(f"{path}[{at}]", each, schema.get("items") or {})


def _type_violation(path: str, value: Any, schema: Schema) -> Cause | None:
    wanted = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        fits = isinstance(value, (int, str)) and not isinstance(value, bool)
        wanted = "integer,string"
    elif wanted is None:
        return None
    else:
        fits = isinstance(value, _TYPES[wanted]) and (wanted == "boolean" or not isinstance(value, bool))
    if fits:
        return None
    found = _type_name(value)
    why = f'Invalid value: "{found}": {path} in body must be of type {wanted}: "{found}"'
    return Cause("FieldValueTypeInvalid", why, path)


def _value_violations(path: str, value: Any, schema: Schema) -> Iterator[Cause]:
    if (allowed := schema.get("enum")) and value not in allowed:
        listed = ", ".join(f'"{each}"' for each in allowed)
        yield Cause("FieldValueNotSupported", f'Unsupported value: "{value}": supported values: {listed}', path)
    if isinstance(value, str):
        if (pattern := schema.get("pattern")) and not re.search(pattern, value):
            why = f"Invalid value: \"{value}\": {path} in body should match '{pattern}'"
            yield Cause("FieldValueInvalid", why, path)
        if (longest := schema.get("maxLength")) is not None and len(value) > longest:
            yield Cause("FieldValueTooLong", f"Too long: may not be more than {longest} bytes", path)
    if isinstance(value, (int, float)):
        if (least := schema.get("minimum")) is not None and value < least:
            why = f"Invalid value: {value}: {path} in body should be greater than or equal to {least}"
            yield Cause("FieldValueInvalid", why, path)
        if (most := schema.get("maximum")) is not None and value > most:
            why = f"Invalid value: {value}: {path} in body should be less than or equal to {most}"
            yield Cause("FieldValueInvalid", why, path)


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    return next(name for name, types in _TYPES.items() if isinstance(value, types))


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
