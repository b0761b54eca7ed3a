"""ManifestWorks as the engine sees them, Kubernetes objects with their status, and back."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dispatcher.engine.ports import Object
from dispatcher.engine.resources.stamping import GENERATION, generation_of, name_of
from shared.errors import Invalid, Problem
from shared.model.manifestwork import ManifestStatus, ManifestWork


def object_of(work: ManifestWork) -> Object:
    status: Object = {"resourceStatus": {}}
    if work.status.conditions:
        status["conditions"] = [condition.to_kubernetes() for condition in work.status.conditions]
    if work.status.manifests:
        status["resourceStatus"] = {"manifests": [_manifest_status(each) for each in work.status.manifests]}
    return {**work.to_kubernetes(), "status": status}


def work_of(manifest: Object, consumer: str) -> ManifestWork:
    """The work that a rendered manifest describes, for this consumer. Raises Invalid."""
    work = replace(ManifestWork.from_kubernetes(manifest), consumer=consumer)
    _require_generations(manifest, work)
    return work


def desired_update(stored: ManifestWork, work: ManifestWork) -> ManifestWork:
    """Labels and annotations that others have set stay; everything else is as the manifest says."""
    return replace(
        work,
        labels={**stored.labels, **work.labels},
        annotations={**stored.annotations, **work.annotations},
    )


def _require_generations(manifest: Object, work: ManifestWork) -> None:
    """As the Go framework asks: whether a work is up to date is decided by this annotation alone."""
    places = {"metadata": manifest}
    places |= {f"spec.workload.manifests[{index}].metadata": dict(each) for index, each in enumerate(work.manifests)}
    problems = [
        Problem(f"{place}.annotations", f"{each.get('kind')} {name_of(each)!r} has no positive {GENERATION}")
        for place, each in places.items()
        if generation_of(each) <= 0
    ]
    if problems:
        raise Invalid(
            f"ManifestWork {work.name!r} cannot be sent",
            problems,
            remedy=f'add {GENERATION}: "{{{{ .generation }}}}" to the annotations',
        )


def _manifest_status(status: ManifestStatus) -> Object:
    meta = {
        "ordinal": status.ordinal,
        "group": status.group,
        "version": status.version,
        "kind": status.kind,
        "resource": status.resource,
        "name": status.name,
        "namespace": status.namespace,
    }
    values = [{"name": name, "fieldValue": _field_value(value)} for name, value in status.feedback.items()]
    return {
        "resourceMeta": meta,
        "conditions": [condition.to_kubernetes() for condition in status.conditions],
        "statusFeedback": {"values": values} if values else {},
    }


def _field_value(value: Any) -> Mapping[str, Any]:
    match value:
        case bool():
            return {"type": "Boolean", "boolean": value}
        case int():
            return {"type": "Integer", "integer": value}
        case str():
            return {"type": "String", "string": value}
        case _:
            return {"type": "JsonRaw", "jsonRaw": json.dumps(value)}
