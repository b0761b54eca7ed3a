"""What the engine writes on every object it makes, and reads from objects it finds.

The label says which adapter manages the object, the annotation which HyperFleet object it belongs to: enough to wake
that object when this one changes, after any restart. The annotation does not change between events. The generation is
the author's annotation; it decides whether an object is up to date.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from dispatcher.engine.ports import Object
from shared.errors import Invalid

MANAGED_BY = "hyperfleet.io/managed-by"
EVENT = "hyperfleet.io/event"
GENERATION = "hyperfleet.io/generation"
_IDENTIFYING = ("kind", "id", "href", "owner_references")
_LONGEST_LABEL = 63
_ENCODER = json.JSONEncoder(check_circular=False, sort_keys=True, separators=(",", ":"))


@cache
def managed_by(adapter_name: str) -> str:
    """The label's value; a name that is no valid label value is shortened to one."""
    text = re.sub(r"[^A-Za-z0-9._-]+", "-", adapter_name)[:_LONGEST_LABEL]
    return text.strip("._-")


def event_annotation(data: Mapping[str, Any]) -> str:
    """Only what identifies the object, so that events of the same object write the same."""
    kept = {key: data[key] for key in _IDENTIFYING if data.get(key)}
    return _ENCODER.encode(kept)


def stamp(manifest: Object, *, label: str, annotation: str) -> None:
    """Writes both on a rendered manifest; what the author wrote under these names stays."""
    metadata = _section(manifest, "metadata", "the manifest")
    _section(metadata, "labels", "metadata").setdefault(MANAGED_BY, label)
    _section(metadata, "annotations", "metadata").setdefault(EVENT, annotation)


def keep_stamp(manifest: Object, found: Object) -> None:
    """What an earlier event wrote is as good as what this one would write, and no reason to change an object."""
    annotations = _texts(found, "annotations")
    if EVENT in annotations:
        manifest["metadata"]["annotations"][EVENT] = annotations[EVENT]


def is_stamped(found: Object) -> bool:
    return MANAGED_BY in _texts(found, "labels") and EVENT in _texts(found, "annotations")


def stamped_event(found: Object) -> dict[str, Any] | None:
    """The event data that wakes the object's owner, with the generation the object was made for; None if unstamped."""
    try:
        data = json.loads(_texts(found, "annotations").get(EVENT, "null"))
    except (TypeError, ValueError):
        return None
    if not isinstance(data, dict) or not data.get("id"):
        return None
    generation = generation_of(found)
    return {**data, "generation": generation} if generation else data


def generation_of(found: Object) -> int:
    """The generation an object was made for; 0 where it has none that can be read."""
    try:
        return int(_texts(found, "annotations").get(GENERATION, 0))
    except (TypeError, ValueError):
        return 0


def kin_labels(manifest: Object) -> dict[str, str]:
    """The labels all generations of an object have in common."""
    labels = _texts(manifest, "labels")
    return {name: str(labels[name]) for name in labels if name.startswith("hyperfleet.io/") and name != GENERATION}


def name_of(found: Object) -> str:
    return str(_metadata(found).get("name") or "")


def namespace_of(found: Object) -> str:
    return str(_metadata(found).get("namespace") or "")


def uid_of(found: Object) -> str:
    return str(_metadata(found).get("uid") or "")


def deletion_time(found: Object) -> str:
    """When its deletion was asked for; "" where it was not."""
    return str(_metadata(found).get("deletionTimestamp") or "")


def creation_time(found: Object) -> str:
    return str(_metadata(found).get("creationTimestamp") or "")


def _metadata(found: Object) -> Mapping[str, Any]:
    metadata = found.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _texts(found: Object, section: str) -> Mapping[str, Any]:
    values = _metadata(found).get(section)
    return values if isinstance(values, dict) else {}


def _section(owner: dict[str, Any], name: str, where: str) -> dict[str, Any]:
    section = owner.get(name)
    if section is None:
        section = owner[name] = {}
    if not isinstance(section, dict):
        raise Invalid(f"{name} of {where} must be a map", remedy="correct the manifest")
    return section
