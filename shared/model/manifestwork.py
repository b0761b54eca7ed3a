"""A ManifestWork: Kubernetes objects to be kept on one management cluster, and their status there.

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
from shared.errors import Invalid, Problem
from shared.model.conditions import Condition, find, readable
from shared.untrusted_json import Fields, as_items, as_object, as_whole_number, read_time

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
    """The status of one object on the management cluster. `feedback` lacks names whose value is not known yet."""

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
        """The readable part of an agent's report; the rest is left out."""
        meta = as_object(wire.get("resourceMeta"))
        texts = {key: str(meta.get(key) or "") for key in ("group", "version", "kind", "resource", "name", "namespace")}
        feedback = as_object(wire.get("statusFeedback") or wire.get("statusFeedbacks"))
        return cls(
            ordinal=as_whole_number(meta.get("ordinal")),
            conditions=readable(wire.get("conditions")),
            feedback=dict(_feedback_values(feedback.get("values"))),
            **texts,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkStatus:
    """The agent's latest report. `sequence_id` orders reports; it is 0 before the first."""

    conditions: tuple[Condition, ...] = ()
    manifests: tuple[ManifestStatus, ...] = ()
    sequence_id: int = 0

    def condition(self, type_: str) -> Condition | None:
        return find(self.conditions, type_)

    @classmethod
    def from_wire(cls, conditions: Any, manifests: Any, sequence_id: Any = None) -> Self:
        return cls(
            conditions=readable(conditions),
            manifests=tuple(ManifestStatus.from_wire(as_object(each)) for each in as_items(manifests)),
            sequence_id=as_whole_number(sequence_id),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestWork:
    """The wanted objects and, once Maestro has it, identity and status.

    `generation` is Maestro's version of the work, 0 for one that was never sent. `other_metadata` holds members of
    `metadata` that nothing here looks at, so that an update does not erase them. `updated_at` is when Maestro last
    wrote the work or its status; only a read has it.
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
    updated_at: datetime | None = field(default=None, compare=False)
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
        """The work a manifest file or a config template describes; raises Invalid with all problems."""
        problems: list[Problem] = []
        top = Fields.of(document, problems)
        metadata, spec, status = (top.object(key) for key in ("metadata", "spec", "status"))
        workload = spec.object("workload")
        if not problems and top.members.get("kind") != KIND:
            top.refuse("kind", f"must be {KIND}")
        work = cls(
            name=str(metadata.members.get("name") or ""),
            consumer=str(metadata.members.get("namespace") or ""),
            manifests=workload.objects("manifests"),
            manifest_configs=spec.objects("manifestConfigs"),
            delete_option=spec.object("deleteOption").members or None,
            executor=spec.object("executor").members or None,
            labels=metadata.object("labels").members,
            annotations=metadata.object("annotations").members,
            other_metadata=other_metadata(metadata.members),
            uid=str(metadata.members.get("uid") or ""),
            generation=as_whole_number(metadata.members.get("generation")),
            created_at=read_time(metadata.members.get("creationTimestamp")),
            deleted_at=read_time(metadata.members.get("deletionTimestamp")),
            status=WorkStatus.from_wire(
                status.members.get("conditions"), as_object(status.members.get("resourceStatus")).get("manifests")
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


def _present(members: Json) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value}
