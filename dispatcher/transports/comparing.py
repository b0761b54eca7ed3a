"""Whether two states of a Kubernetes object are the same for whoever wrote its manifest."""

from collections.abc import Mapping
from typing import Any

from dispatcher.engine.ports import Object

# What the API server counts and keeps for itself; each write may change it, and no manifest means it.
_BOOKKEEPING = frozenset({"managedFields", "resourceVersion", "generation", "creationTimestamp", "uid", "selfLink"})


def is_same(before: Object, after: Object, *, with_status: bool) -> bool:
    """`with_status` where the manifest has one; else the status is another's and does not count."""
    return meant(before, with_status=with_status) == meant(after, with_status=with_status)


def is_applied_by(manager: str, stored: Object) -> bool:
    """Whether server-side apply by this manager has made or changed the object."""
    entries = _mapping(stored.get("metadata")).get("managedFields")
    return any(
        _mapping(entry).get("manager") == manager and _mapping(entry).get("operation") == "Apply"
        for entry in (entries if isinstance(entries, list) else [])
    )


def meant(document: Object, *, with_status: bool) -> dict[str, Any]:
    """The object without what the server keeps for itself."""
    metadata = {key: value for key, value in _mapping(document.get("metadata")).items() if key not in _BOOKKEEPING}
    content = {key: value for key, value in document.items() if with_status or key != "status"}
    return {**content, "metadata": metadata}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
