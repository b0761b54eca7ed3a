"""What of a watched object is worth a wake: a short digest that changes when a report about it would.

Of a Job these are its conditions and the report the sidecar annotated, not the counters of pods that start and end. Of
other kinds it is the whole status. Nothing to report yet gives None.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from shared.model.conditions import Condition
from shared.model.manifestwork import ManifestWork

REPORT_ANNOTATION = "hyperfleet.io/adapter-report"
_CONDITION_PARTS = ("type", "status", "reason", "message")
Digest = bytes


def digest_of_object(found: Mapping[str, Any]) -> Digest | None:
    status = _map(found.get("status"))
    if found.get("kind") != "Job":
        return _digest(status) if status else None
    conditions = [
        [each.get(part, "") for part in _CONDITION_PARTS]
        for each in status.get("conditions") or ()
        if isinstance(each, Mapping)
    ]
    if not conditions:
        return None
    report = _map(_map(found.get("metadata")).get("annotations")).get(REPORT_ANNOTATION, "")
    return _digest([sorted(conditions), report])


def digest_of_work(work: ManifestWork) -> Digest | None:
    if not work.status.conditions and not work.status.manifests:
        return None
    manifests = [
        [each.ordinal, dict(each.feedback), [_parts(condition) for condition in each.conditions]]
        for each in work.status.manifests
    ]
    return _digest([[_parts(each) for each in work.status.conditions], manifests])


def _parts(condition: Condition) -> list[Any]:
    """The observed generation counts: the same conditions of a newer generation are news."""
    return [condition.type, condition.status, condition.reason, condition.message, condition.observed_generation]


def _digest(value: Any) -> Digest:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
