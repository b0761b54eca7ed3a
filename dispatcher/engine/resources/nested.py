"""Manifests inside a ManifestWork, as authors see them: `resources.<nested name>`.

Each is the manifest as it was sent, with `statusFeedback` and `conditions` of that object on the management cluster. It
is the same object where group, kind, namespace and name agree.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from dispatcher.engine.ports import ANY_NAMESPACE, Object
from dispatcher.engine.resources.observing import Selection, newest
from dispatcher.engine.resources.stamping import name_of, namespace_of

_REPORTED = ("statusFeedback", "conditions")


def find_nested(work: Object, selection: Selection) -> Object | None:
    """The manifest of the work that the discovery selects, with what is reported of it."""
    found = newest(each for each in _manifests(work) if _selects(selection, each))
    if found is None:
        return None
    reported = next((status for status in _statuses(work) if _is_about(status, found)), {})
    return {**found, **{key: reported[key] for key in _REPORTED if key in reported}}


def _selects(selection: Selection, manifest: Object) -> bool:
    if selection.namespace and selection.namespace not in (ANY_NAMESPACE, namespace_of(manifest)):
        return False
    if selection.name:
        return name_of(manifest) == selection.name
    labels = _at(manifest, "metadata", "labels")
    return isinstance(labels, Mapping) and all(labels.get(key) == value for key, value in selection.labels.items())


def _manifests(work: Object) -> Iterator[Object]:
    manifests = _at(work, "spec", "workload", "manifests")
    if isinstance(manifests, list):
        yield from (each for each in manifests if isinstance(each, dict))


def _statuses(work: Object) -> Iterator[Mapping[str, Any]]:
    statuses = _at(work, "status", "resourceStatus", "manifests")
    if isinstance(statuses, list):
        yield from (each for each in statuses if isinstance(each, Mapping))


def _is_about(status: Mapping[str, Any], manifest: Object) -> bool:
    meta = status.get("resourceMeta")
    if not isinstance(meta, Mapping):
        return False
    group = str(manifest.get("apiVersion", "")).rpartition("/")[0]
    return (
        meta.get("name", "") == name_of(manifest)
        and (meta.get("namespace") or "") == namespace_of(manifest)
        and (meta.get("group") or "") == group
        and meta.get("kind", manifest.get("kind")) == manifest.get("kind")
    )


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
