"""A platform team's last word on the HostedCluster: a partial object that is merged over every rendered one.

Objects merge, lists replace, null removes, as in a JSON merge patch. What identifies the cluster is not theirs to
change; `validation` sees to that.
"""

import json
import math
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from controlplane_adapter.hostedcluster import Json
from shared.errors import Misconfigured, Problem

MAX_BYTES = 256 * 1024
# Far more than any overlay has; a YAML file can refer to itself and become as large as it likes.
MAX_VALUES = 20_000
_PARTS = ("apiVersion", "kind", "metadata", "spec")


def read_overlay(path: Path) -> dict[str, Any]:
    """The overlay in a file of YAML or JSON. Raises Misconfigured for one that cannot be used."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Misconfigured(f"the overlay {path} cannot be read", why=error.strerror or str(error)) from error
    if len(content) > MAX_BYTES:
        raise Misconfigured(f"the overlay {path} is too large", why=f"more than {MAX_BYTES} bytes")
    document = _document(path, content)
    if problems := _problems(document):
        raise Misconfigured(f"the overlay {path} is no part of a HostedCluster", problems)
    return document or {}


def overlaid(manifest: Json, overlay: Json) -> dict[str, Any]:
    """The manifest with the overlay merged over it; both are left as they were."""
    merged = dict(manifest)
    for name, value in overlay.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping):
            below = merged.get(name)
            merged[name] = overlaid(below if isinstance(below, Mapping) else {}, value)
        else:
            merged[name] = value
    return merged


def _document(path: Path, content: bytes) -> Any:
    if path.suffix == ".json":
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise Misconfigured(f"the overlay {path} is not JSON", why=str(error)) from error
    import yaml  # noqa: PLC0415 - costs start time that only those pay who have an overlay

    try:
        return yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Misconfigured(f"the overlay {path} is not YAML", why=" ".join(str(error).split())) from error


def _problems(document: Any) -> list[Problem]:
    if document is None:
        return []
    if not isinstance(document, dict):
        return [Problem("", f"must be an object, not {type(document).__name__}")]
    values = list(islice(_values(document), MAX_VALUES + 1))
    if len(values) > MAX_VALUES:
        return [Problem("", f"must have at most {MAX_VALUES} values")]
    strangers = [Problem(str(name), f"is none of {', '.join(_PARTS)}") for name in document if name not in _PARTS]
    return strangers + [Problem(path, told) for path, value in values if (told := _stranger_to_json(value))]


def _values(document: Any) -> Iterator[tuple[str, Any]]:
    waiting = [("", document)]
    while waiting:
        path, value = waiting.pop()
        yield path, value
        if isinstance(value, dict):
            waiting += [(f"{path}.{name}".lstrip("."), each) for name, each in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{index}]", each) for index, each in enumerate(value)]


def _stranger_to_json(value: Any) -> str:
    """YAML reads dates, sets and names that are no strings, none of which JSON has."""
    match value:
        case dict():
            names = ", ".join(repr(name) for name in value if not isinstance(name, str))
            return f"must have strings for names; quote {names}" if names else ""
        case float() if not math.isfinite(value):
            return f"must be a number that JSON has, not {value}"
        case list() | str() | bool() | int() | float() | None:
            return ""
        case _:
            return f"must be plain JSON; quote {value}, which YAML takes for a {type(value).__name__}"
