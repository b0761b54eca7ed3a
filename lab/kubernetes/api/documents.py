"""API objects as plain JSON, with accessors for the metadata that every module reads."""

from collections.abc import Iterator, Mapping
from typing import Any

Object = dict[str, Any]


def metadata(document: Mapping[str, Any]) -> Object:
    found = document.get("metadata")
    return found if isinstance(found, dict) else {}


def name(document: Mapping[str, Any]) -> str:
    return str(metadata(document).get("name") or "")


def namespace(document: Mapping[str, Any]) -> str:
    return str(metadata(document).get("namespace") or "")


def uid(document: Mapping[str, Any]) -> str:
    return str(metadata(document).get("uid") or "")


def labels(document: Mapping[str, Any]) -> dict[str, str]:
    return metadata(document).get("labels") or {}


def finalizers(document: Mapping[str, Any]) -> list[str]:
    return metadata(document).get("finalizers") or []


def owners(document: Mapping[str, Any]) -> list[Object]:
    return metadata(document).get("ownerReferences") or []


def deleting(document: Mapping[str, Any]) -> bool:
    return "deletionTimestamp" in metadata(document)


def at(document: Mapping[str, Any], *path: str) -> Any:
    """The value at a path of keys; None if a key is missing."""
    found: Any = document
    for step in path:
        if not isinstance(found, Mapping):
            return None
        found = found.get(step)
    return found


def with_metadata(document: Object, **changes: Any) -> Object:
    """An object with these metadata fields, which shares the rest with the one given; None removes a field."""
    fields = {**metadata(document), **changes}
    return {**document, "metadata": {key: value for key, value in fields.items() if value is not None}}


def pod_specs(kind: str, document: Object) -> Iterator[tuple[str, Object]]:
    """The pod specs inside an object, with the path of each."""
    if kind == "Pod" and isinstance(spec := document.get("spec"), dict):
        yield "spec", spec
    elif kind == "Job" and isinstance(spec := at(document, "spec", "template", "spec"), dict):
        yield "spec.template.spec", spec
