"""A work's state in one term, and its whole as plain data for JSON, YAML, JSONPath and templates."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from shared import times
from shared.maestro import ApplyState, apply_result, current
from shared.model.conditions import Status
from shared.model.manifestwork import ManifestStatus, ManifestWork


class State(StrEnum):
    """Of the documents: Applied, Failed, InProgress. Available and Deleting say more where more is known."""

    DELETING = "Deleting"
    FAILED = "Failed"
    IN_PROGRESS = "InProgress"
    APPLIED = "Applied"
    AVAILABLE = "Available"


def state_of(work: ManifestWork) -> State:
    if work.deleting:
        return State.DELETING
    match apply_result(work).state:
        case ApplyState.FAILED:
            return State.FAILED
        case ApplyState.NOT_YET:
            return State.IN_PROGRESS
    available = current(work, "Available")
    return State.AVAILABLE if available and available.status is Status.TRUE else State.APPLIED


def unchanged_since(work: ManifestWork) -> datetime | None:
    """Since when neither a writer nor the agent has changed anything of the work."""
    return work.updated_at or work.created_at


def has_status(work: ManifestWork, asked: str) -> bool:
    """Whether `list --status` means this work: its state, or a condition that is True and fresh."""
    if state_of(work).lower() == asked.lower():
        return True
    named = next((each.type for each in work.status.conditions if each.type.lower() == asked.lower()), "")
    fresh = current(work, named) if named else None
    return fresh is not None and fresh.status is Status.TRUE and not work.deleting


def view(work: ManifestWork, *, ours: bool) -> dict[str, Any]:
    """All that is known of a work; the keys of the Go tool first."""
    shown: dict[str, Any] = {
        "id": work.uid,
        "name": work.name,
        "consumerName": work.consumer,
        "version": work.generation,
        "state": state_of(work).value,
        "ours": ours,
    }
    if work.created_at:
        shown["createdAt"] = times.to_seconds(work.created_at)
    if work.updated_at:
        shown["updatedAt"] = times.to_seconds(work.updated_at)
    if work.deleted_at:
        shown["deletedAt"] = times.to_seconds(work.deleted_at)
    return shown | {
        "labels": dict(work.labels),
        "annotations": dict(work.annotations),
        "deleteOption": work.delete_option,
        "manifests": list(work.manifests),
        "manifestConfigs": list(work.manifest_configs),
        "status": {
            "conditions": [each.to_kubernetes() for each in work.status.conditions],
            "resources": [_resource(each) for each in work.status.manifests],
        },
    }


def _resource(manifest: ManifestStatus) -> dict[str, Any]:
    named = {"kind": manifest.kind, "group": manifest.group, "namespace": manifest.namespace, "name": manifest.name}
    return named | {
        "conditions": [each.to_kubernetes() for each in manifest.conditions],
        "feedback": dict(manifest.feedback),
    }
