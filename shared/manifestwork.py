"""A ManifestWork: Kubernetes objects to be kept on one management cluster, and what that cluster says of them.

The spec's parts stay plain JSON, because whatever an author or a newer API puts there must survive a read and a write;
the small functions at the end build the usual parts. The status is read into types, because decisions are made on it.
"""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from shared import times
from shared.conditions import Condition, find
from shared.errors import Invalid, Problem

API_VERSION = "work.open-cluster-management.io/v1"
KIND = "ManifestWork"
SEQUENCE_ANNOTATION = "cloudevents.open-cluster-management.io/sequenceid"

Json = Mapping[str, Any]

# Members of metadata that have their own field here, or that only a server may set.
_KNOWN_METADATA = frozenset(
    {
        *("name", "namespace", "labels", "annotations", "uid", "resourceVersion", "generation"),
        *("creationTimestamp", "deletionTimestamp", "managedFields", "selfLink", "deletionGracePeriodSeconds"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestStatus:
    """What the management cluster says of one object. `feedback` lacks a name whose value is not known (yet)."""

    ordinal: int = 0
    group: str = ""
    version: str = ""
    kind: str = ""
    resource: str = ""
    name: str = ""
    namespace: str = ""
    conditions: tuple[Condition, ...] = ()
    feedback: Mapping[str, Any] = field(default_factory=dict)

    def condition(self, type_: str) -> Condition | None:
        return find(self.conditions, type_)

    @classmethod
    def from_wire(cls, wire: Json) -> Self:
        """What can be understood of an agent's words; what cannot is left out."""
        meta = as_object(wire.get("resourceMeta"))
        texts = {key: str(meta.get(key) or "") for key in ("group", "version", "kind", "resource", "name", "namespace")}
        feedback = as_object(wire.get("statusFeedback") or wire.get("statusFeedbacks"))
        return cls(
            ordinal=_whole(meta.get("ordinal")),
            conditions=_readable_conditions(wire.get("conditions")),
            feedback=dict(_feedback_values(feedback.get("values"))),
            **texts,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkStatus:
    """The agent's last word. `sequence_id` orders such words; it is 0 where none has come."""

    conditions: tuple[Condition, ...] = ()
    manifests: tuple[ManifestStatus, ...] = ()
    sequence_id: int = 0

    def condition(self, type_: str) -> Condition | None:
        return find(self.conditions, type_)

    @classmethod
    def from_wire(cls, conditions: Any, manifests: Any, sequence_id: Any = None) -> Self:
        return cls(
            conditions=_readable_conditions(conditions),
            manifests=tuple(ManifestStatus.from_wire(as_object(each)) for each in as_items(manifests)),
            sequence_id=_whole(sequence_id),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestWork:
    """The wanted objects and, once Maestro has it, identity and status.

    `generation` is Maestro's version of the work, 0 for one that was never sent. `other_metadata` holds members of
    `metadata` that nothing here looks at, so that an update does not erase them.
    """

    name: str
    consumer: str
    manifests: tuple[Json, ...]
    manifest_configs: tuple[Json, ...] = ()
    delete_option: Json | None = None
    executor: Json | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    other_metadata: Json = field(default_factory=dict)
    uid: str = ""
    generation: int = 0
    created_at: datetime | None = None
    deleted_at: datetime | None = None
    status: WorkStatus = WorkStatus()

    @property
    def deleting(self) -> bool:
        return self.deleted_at is not None

    def has_labels(self, labels: Mapping[str, str]) -> bool:
        return all(self.labels.get(key) == value for key, value in labels.items())

    def to_kubernetes(self) -> dict[str, Any]:
        """The object as `kubectl` would show it."""
        metadata = {"name": self.name, "namespace": self.consumer, **self.other_metadata}
        metadata |= _present({"labels": dict(self.labels), "annotations": dict(self.annotations), "uid": self.uid})
        if self.generation:
            metadata |= {"generation": self.generation, "resourceVersion": str(self.generation)}
        if self.created_at:
            metadata["creationTimestamp"] = times.to_seconds(self.created_at)
        if self.deleted_at:
            metadata["deletionTimestamp"] = times.to_seconds(self.deleted_at)
        spec: dict[str, Any] = {"workload": {"manifests": list(self.manifests)}}
        spec |= _present({"deleteOption": self.delete_option, "executor": self.executor})
        spec |= _present({"manifestConfigs": list(self.manifest_configs)})
        return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec}

    @classmethod
    def from_kubernetes(cls, document: Any) -> Self:
        """The work a manifest file or a config template describes; all that makes it none is told at once."""
        problems: list[Problem] = []
        top = _mapping(document, "", problems)
        metadata = _mapping(top.get("metadata"), "metadata", problems)
        spec = _mapping(top.get("spec"), "spec", problems)
        workload = _mapping(spec.get("workload"), "spec.workload", problems)
        status = _mapping(top.get("status"), "status", problems)
        if not problems and top.get("kind") != KIND:
            problems.append(Problem("kind", f"must be {KIND}, not {top.get('kind')!r:.60}"))
        work = cls(
            name=str(metadata.get("name") or ""),
            consumer=str(metadata.get("namespace") or ""),
            manifests=_objects(workload.get("manifests"), "spec.workload.manifests", problems),
            manifest_configs=_objects(spec.get("manifestConfigs"), "spec.manifestConfigs", problems),
            delete_option=_mapping(spec.get("deleteOption"), "spec.deleteOption", problems) or None,
            executor=_mapping(spec.get("executor"), "spec.executor", problems) or None,
            labels=_mapping(metadata.get("labels"), "metadata.labels", problems),
            annotations=_mapping(metadata.get("annotations"), "metadata.annotations", problems),
            other_metadata=other_metadata(metadata),
            uid=str(metadata.get("uid") or ""),
            generation=_whole(metadata.get("generation")),
            created_at=read_time(metadata.get("creationTimestamp")),
            deleted_at=read_time(metadata.get("deletionTimestamp")),
            status=WorkStatus.from_wire(
                status.get("conditions"), as_object(status.get("resourceStatus")).get("manifests")
            ),
        )
        if problems:
            raise Invalid(f"{KIND} {work.name!r} cannot be understood", problems)
        return work


def manifest_config(
    *,
    group: str,
    resource: str,
    name: str,
    namespace: str = "",
    feedback: Mapping[str, str] | None = None,
    update_strategy: str | None = None,
) -> dict[str, Any]:
    """One entry of `manifestConfigs`; `feedback` maps the names under which values come back to their JSONPaths."""
    identifier = {"group": group, "resource": resource, "name": name} | _present({"namespace": namespace})
    config: dict[str, Any] = {"resourceIdentifier": identifier}
    if feedback:
        paths = [{"name": each, "path": path} for each, path in feedback.items()]
        config["feedbackRules"] = [{"type": "JSONPaths", "jsonPaths": paths}]
    if update_strategy:
        config["updateStrategy"] = {"type": update_strategy}
    return config


def executor(*, namespace: str, name: str) -> dict[str, Any]:
    """Let the agent act as this service account of the management cluster."""
    return {"subject": {"type": "ServiceAccount", "serviceAccount": {"namespace": namespace, "name": name}}}


def other_metadata(metadata: Json) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key not in _KNOWN_METADATA}


def read_time(value: Any) -> datetime | None:
    """A time a server sent; one that cannot be read is as good as none."""
    try:
        return times.parse(value) if isinstance(value, str) else None
    except ValueError:
        return None


def as_object(value: Any) -> Json:
    """The object at a place where a stranger may have put anything."""
    return value if isinstance(value, Mapping) else {}


def as_items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_texts(value: Any) -> dict[str, str]:
    return {key: text for key, text in as_object(value).items() if isinstance(text, str)}


def _readable_conditions(listed: Any) -> tuple[Condition, ...]:
    readable = []
    for each in as_items(listed):
        try:
            readable.append(Condition.from_kubernetes(each))
        except Invalid:
            continue
    return tuple(readable)


def _feedback_values(values: Any) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for each in map(as_object, as_items(values)):
        name, value = each.get("name"), as_object(each.get("fieldValue"))
        match name, value.get("type"):
            case str(), "JsonRaw":
                with contextlib.suppress(KeyError, TypeError, ValueError, RecursionError):
                    found.append((name, json.loads(value["jsonRaw"])))
            case str(), "String" | "Integer" | "Boolean" as kind if kind.lower() in value:
                found.append((name, value[kind.lower()]))
    return found


def _mapping(value: Any, path: str, problems: list[Problem]) -> Json:
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return value
    problems.append(Problem(path, f"must be an object, not {value!r:.60}"))
    return {}


def _objects(value: Any, path: str, problems: list[Problem]) -> tuple[Json, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        problems.append(Problem(path, f"must be a list, not {value!r:.60}"))
        return ()
    return tuple(_mapping(each, f"{path}[{index}]", problems) for index, each in enumerate(value))


def _whole(value: Any) -> int:
    try:
        return int(value or 0)
    except (TypeError, ValueError, OverflowError):
        return 0


def _present(members: Json) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value}
