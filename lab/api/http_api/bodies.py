"""What clients send to create, change or remove a resource, checked as the API checks it."""

import re
from collections.abc import Mapping
from typing import Any

from lab.api.entities import Entities, Entity
from lab.api.problems import BAD_REQUEST, CHILD_KIND, Problem, invalid
from lab.api.rules.bodies import read, read_strictly
from lab.api.store import NewResource

MAX_REASON = 1024
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_PREFIX = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
_LABEL_NAME = re.compile(r"[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?", re.ASCII)
_PATCHABLE = {"spec", "labels", "references"}


def new_resource(content: bytes, entity: Entity) -> NewResource:
    """The resource in a POST to a collection of this kind."""
    body = read(content)
    _require_kind(body.text("kind") or "", entity)
    return _new(body.text("name") or "", body.mapping("spec"), body.texts("labels") or {}, entity)


def new_of_any_kind(content: bytes, entities: Entities) -> tuple[Entity, NewResource]:
    """The resource in a POST to `/resources`, whose kind is in the body."""
    body = read(content)
    kind = body.text("kind") or ""
    entity = entities.get(kind)
    if entity is None:
        raise invalid(f"Unknown entity kind: {kind}")
    require_root(entity, entities)
    return entity, _new(body.text("name") or "", body.mapping("spec"), body.texts("labels") or {}, entity)


def require_root(entity: Entity, entities: Entities) -> None:
    """Refuse to create a child anywhere but below its parent."""
    if parent := entities.parent(entity):
        path = f"/{parent.plural}/{{id}}/{entity.plural}"
        raise Problem(CHILD_KIND, f'kind "{entity.kind}" is a child kind; create it via {path}')


def patch(content: bytes) -> tuple[dict[str, Any] | None, dict[str, str] | None]:
    """The new spec and labels, None where they stay."""
    body = read_strictly(content, _PATCHABLE)
    spec, labels = body.mapping("spec"), body.texts("labels")
    if spec is None and labels is None:
        raise Problem(BAD_REQUEST, "at least one field must be provided for update")
    _require_labels(labels or {})
    return spec, labels


def require_reason(content: bytes) -> None:
    """A forced deletion says why."""
    reason = read(content).text("reason") or ""
    if not reason:
        raise invalid("reason is required")
    if len(reason) > MAX_REASON:
        raise invalid(f"reason must be at most {MAX_REASON} characters")


def _new(name: str, spec: dict[str, Any] | None, labels: dict[str, str], entity: Entity) -> NewResource:
    if spec is None:
        raise invalid("spec is required")
    _require_labels(labels)
    _require_name(name, entity)
    return NewResource(name=name, spec=spec, labels=labels)


def _require_kind(kind: str, entity: Entity) -> None:
    if not kind:
        raise invalid("kind is required")
    if kind != entity.kind:
        raise invalid(f"kind must be '{entity.kind}'")


def _require_name(name: str, entity: Entity) -> None:
    if not name:
        raise invalid("name is required")
    if len(name) < entity.name_min_length:
        raise invalid(f"name must be at least {entity.name_min_length} characters")
    if len(name) > entity.name_max_length:
        raise invalid(f"name must be at most {entity.name_max_length} characters")
    if not _NAME.fullmatch(name):
        raise invalid(
            "name must start and end with lowercase letter or number, and contain only "
            "lowercase letters, numbers, and hyphens"
        )


def _require_labels(labels: Mapping[str, str]) -> None:
    errors = [
        {"field": field, "value": value, "constraint": "pattern", "message": "must have the form of a Kubernetes label"}
        for key, label in labels.items()
        for field, value, good in (
            ("labels", key, _is_label_key(key)),
            (f"labels[{key}]", label, not label or _LABEL_NAME.fullmatch(label) is not None),
        )
        if not good
    ]
    if errors:
        raise invalid("label validation failed", errors)


def _is_label_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    return (not slash or _LABEL_PREFIX.fullmatch(prefix) is not None) and _LABEL_NAME.fullmatch(name) is not None
