"""Resources and statuses as JSON, in the API's own form: members without a value are absent, times end with Z."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from lab.api.rules.values import AdapterCondition, AdapterStatus, Resource, ResourceCondition
from shared import times

Document = dict[str, Any]


def moment(time: datetime) -> str:
    """As Go writes it: fractions end at their last digit that is not zero."""
    return times.to_micros(time).removesuffix("Z").rstrip("0").rstrip(".") + "Z"


def resource_document(resource: Resource) -> Document:
    document: Document = {
        "id": resource.id,
        "kind": resource.kind,
        "name": resource.name,
        "href": resource.href,
        "generation": resource.generation,
        "spec": resource.spec,
        "labels": dict(resource.labels) or None,
        "tenancy": {},
        "created_time": resource.created_time,
        "updated_time": resource.updated_time,
        "created_by": resource.created_by,
        "updated_by": resource.updated_by,
        "deleted_time": resource.deleted_time,
        "deleted_by": resource.deleted_by,
    }
    if owner := resource.owner:
        document["owner_references"] = {"id": owner.id, "kind": owner.kind, "href": owner.href}
    conditions = [_condition_document(condition) for condition in resource.conditions]
    return _present(document) | {"status": {"conditions": conditions}}


def status_document(status: AdapterStatus) -> Document:
    return _present(
        {
            "adapter": status.adapter,
            "observed_generation": status.observed_generation,
            "conditions": [_condition_document(condition) for condition in status.conditions],
            "data": status.data,
            "metadata": None if status.metadata is None else _present(dict(status.metadata)),
            "created_time": status.created_time,
            "last_report_time": status.last_report_time,
        }
    )


def list_document(items: Sequence[Document], *, page: int, total: int) -> Document:
    return {"items": list(items), "page": page, "size": len(items), "total": total}


def _condition_document(condition: AdapterCondition | ResourceCondition) -> Document:
    return _present({field.name: getattr(condition, field.name) for field in fields(condition)})


def _present(members: Document) -> Document:
    return {
        name: moment(value) if isinstance(value, datetime) else value
        for name, value in members.items()
        if value is not None
    }
