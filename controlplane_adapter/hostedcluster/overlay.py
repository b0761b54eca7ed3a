"""A platform team's overlay: a partial HostedCluster that is merged over every rendered one.

Objects merge, lists replace, null removes, as in a JSON merge patch. `validation` refuses an overlay that changes the
identity of the cluster.
"""

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from controlplane_adapter.hostedcluster.model import Json
from shared.errors import Misconfigured, Problem
from shared.files import read_regular_file
from shared.untrusted_json import is_deeper_than, json_value, utf8_text

MAX_BYTES = 256 * 1024
# Far more than any overlay has; YAML aliases can expand a small file without limit.
MAX_VALUES = 20_000
# Deeper than any field of a HostedCluster.
MAX_DEPTH = 32
_PARTS = ("apiVersion", "kind", "metadata", "spec")


def read_overlay(path: Path) -> dict[str, Any]:
    """The overlay in a YAML or JSON file. Raises Misconfigured where it is invalid."""
    try:
        content = read_regular_file(path, MAX_BYTES)
    except OSError as error:
        raise Misconfigured(f"the overlay {path} cannot be read", why=error.strerror or str(error)) from error
    if len(content) > MAX_BYTES:
        raise Misconfigured(f"the overlay {path} is too large", why=f"more than {MAX_BYTES} bytes")
    document = _document(path, content)
    if problems := _problems(document):
        raise Misconfigured(f"the overlay {path} is not a partial HostedCluster", problems)
    return document or {}


def merge_overlay(manifest: Json, overlay: Json) -> dict[str, Any]:
    """The manifest with the overlay merged over it; neither argument is changed."""
    merged = dict(manifest)
    for name, value in overlay.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping):
            below = merged.get(name)
            merged[name] = merge_overlay(below if isinstance(below, Mapping) else {}, value)
        else:
            merged[name] = value
    return merged


def _document(path: Path, content: bytes) -> Any:
    form = "JSON" if path.suffix == ".json" else "YAML"
    try:
        text = utf8_text(content)
        return json_value(text) if form == "JSON" else _yaml(text)
    except ValueError as error:
        raise Misconfigured(f"the overlay {path} is not {form}", why=str(error)) from None


def _yaml(text: str) -> Any:
    """The document. Raises ValueError with a message of ours where Python's own would name its functions."""
    import yaml  # noqa: PLC0415 - slow to import, and needed only with an overlay

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError:
        raise ValueError("a number or a date in it cannot be read; quote it") from None


def _problems(document: Any) -> list[Problem]:
    if document is None:
        return []
    if not isinstance(document, dict):
        return [Problem("", f"must be an object, not {type(document).__name__}")]
    values = list(islice(_values(document), MAX_VALUES + 1))
    if len(values) > MAX_VALUES:
        return [Problem("", f"must have at most {MAX_VALUES} values")]
    if is_deeper_than(MAX_DEPTH, document):
        return [Problem("", f"must be nested in at most {MAX_DEPTH} levels")]
    unknown = [Problem(str(name), f"is not one of {', '.join(_PARTS)}") for name in document if name not in _PARTS]
    return unknown + [Problem(path, message) for path, value in values if (message := _not_json(value))]


def added_fields(overlay: Json, manifest: Json, path: str = "") -> list[str]:
    """Fields that an overlay adds to a manifest, each by its path; not those below them."""
    added: list[str] = []
    for name, value in overlay.items():
        below = manifest.get(name)
        if name not in manifest:
            added.append(f"{path}{name}")
        elif isinstance(value, Mapping) and isinstance(below, Mapping):
            added += added_fields(value, below, f"{path}{name}.")
    return added


def _values(document: Any) -> Iterator[tuple[str, Any]]:
    waiting = [("", document)]
    while waiting:
        path, value = waiting.pop()
        yield path, value
        if isinstance(value, dict):
            waiting += [(f"{path}.{name}".lstrip("."), each) for name, each in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{index}]", each) for index, each in enumerate(value)]


def _not_json(value: Any) -> str:
    """Why a value cannot be written as JSON: YAML has dates, sets and keys that are not strings."""
    match value:
        case dict():
            names = ", ".join(repr(name) for name in value if not isinstance(name, str))
            return f"must have strings as keys; quote {names}" if names else ""
        case float() if not math.isfinite(value):
            return f"must be a finite number, not {value}"
        case list() | str() | bool() | int() | float() | None:
            return ""
        case _:
            return f"must be a JSON value; quote {value}, which YAML reads as a {type(value).__name__}"
