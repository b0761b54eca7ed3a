"""Which objects are a bridge's own: those with its label. All others are left alone, whatever their names.

Owner references are not used: the control plane is deleted in order, and a bridge restored from a backup, which has
another uid, must find its control plane rather than lose it to the garbage collector.
"""

from collections.abc import Mapping
from typing import Any

from dpu_bridge.api.bridge import Bridge, Key, digest
from dpu_bridge.api.kinds import OWNER_ANNOTATION, OWNER_LABEL
from shared.kubernetes import Object

_LONGEST_LABEL = 63
_KEPT_OF_LONG = 56


def owner_label(key: Key) -> str:
    """`<namespace>.<name>`, which names the bridge, cut and made unique by a digest where it is too long."""
    text = ".".join(key)
    return text if len(text) <= _LONGEST_LABEL else f"{text[:_KEPT_OF_LONG].rstrip('.-')}-{digest(text)}"


def owned(bridge: Bridge, api_version: str, kind: str, namespace: str, name: str, **content: Any) -> Object:
    """A manifest that carries the owner's label."""
    metadata = {
        "name": name,
        "namespace": namespace,
        "labels": {OWNER_LABEL: owner_label(bridge.key)},
        "annotations": {OWNER_ANNOTATION: "/".join(bridge.key)},
    }
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}


def is_owned(bridge: Bridge, document: Mapping[str, Any]) -> bool:
    return is_owned_by(bridge.key, document)


def is_owned_by(key: Key, document: Mapping[str, Any]) -> bool:
    metadata = document["metadata"]
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    return labels.get(OWNER_LABEL) == owner_label(key) and annotations.get(OWNER_ANNOTATION) in (None, "/".join(key))
