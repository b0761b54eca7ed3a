"""What the schema of a custom kind asks of an object: drop what it does not know, fill in its defaults, find misfits.

Structural schemas as far as plain values go; rules written in CEL are not evaluated.
"""

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lab.kubernetes.documents import Object
from lab.kubernetes.refusals import Cause

Schema = Mapping[str, Any]

# What every object has, whatever its schema says.
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
    """The object without what the schema does not know, and with the defaults it names."""
    common = {key: document[key] for key in _COMMON if key in document}
    rest = {key: value for key, value in document.items() if key not in _COMMON}
    known: Object = fit(rest, schema)
    return {**common, **known}


def misfits(document: Object, schema: Schema) -> list[Cause]:
    rest = {key: value for key, value in document.items() if key not in _COMMON}
    return problems(rest, schema)


def problems(value: Object, schema: Schema) -> list[Cause]:
    return list(_misfits("", value, schema))


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


def _misfits(path: str, value: Any, schema: Schema) -> Iterator[Cause]:
    if value is None and schema.get("nullable"):
        return
    if wrong := _type_misfit(path, value, schema):
        yield wrong
        return
    yield from _value_misfits(path, value, schema)
    if isinstance(value, dict):
        properties: Schema = schema.get("properties") or {}
        for name in schema.get("required") or ():
            if name not in value:
                yield Cause("FieldValueRequired", "Required value", _below(path, name))
        for name, below in value.items():
            more = schema.get("additionalProperties")
            place = properties.get(name) or (more if isinstance(more, Mapping) else {})
            yield from _misfits(_below(path, name), below, place)
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _misfits(f"{path}[{at}]", each, schema.get("items") or {})


def _type_misfit(path: str, value: Any, schema: Schema) -> Cause | None:
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


def _value_misfits(path: str, value: Any, schema: Schema) -> Iterator[Cause]:
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
