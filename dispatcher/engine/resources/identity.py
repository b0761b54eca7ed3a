"""Which object a document is, and whether a query asks for it: for transports that keep objects themselves."""

from dispatcher.engine.ports import ANY_NAMESPACE, Object, Query
from dispatcher.engine.resources.stamping import name_of, namespace_of

Key = tuple[str, str, str, str, str]
"""Consumer, group, kind, namespace and name."""


def key_of(found: Object, consumer: str) -> Key:
    group = str(found.get("apiVersion", "")).rpartition("/")[0]
    return consumer, group, str(found.get("kind", "")), consumer or namespace_of(found), name_of(found)


def selects(query: Query, key: Key, found: Object) -> bool:
    consumer, group, kind, namespace, name = key
    if (consumer, group, kind) != (query.consumer, query.api_version.rpartition("/")[0], query.kind):
        return False
    if query.namespace not in ("", ANY_NAMESPACE, namespace):
        return False
    if query.name:
        return query.name == name
    labels = found["metadata"].get("labels") or {}
    return all(labels.get(label) == value for label, value in query.labels.items())
