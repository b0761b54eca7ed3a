"""The status that a work agent reports: pure, from the work, the cluster's objects and the script.

Types, reasons and messages are the real agent's.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from shared.languages.errors import LanguageError
from shared.languages.jsonpath import compile_jsonpath
from shared.model.conditions import Condition, Status, find

Key = tuple[str, str, str]

MAX_RAW_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """How the agent behaves. The default applies at once, returns objects as raw JSON and deletes at once."""

    apply_after: float = 0.0
    refuse: str | None = None
    stale_first: bool = False
    raw_feedback: bool = True
    max_raw_bytes: int = MAX_RAW_BYTES
    delete_after: float = 0.0
    stuck: bool = False
    duplicate: bool = False
    out_of_order: bool = False
    text_versions: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A work as the agent has it: its spec, its version, and the conditions that were last reported."""

    uid: str
    version: int
    metadata: Mapping[str, Any]
    bundle: Mapping[str, Any]
    deleting: bool = False
    reported: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStatus:
    """One status of a work, to be sent."""

    conditions: tuple[Condition, ...]
    manifests: tuple[Mapping[str, Any], ...] = ()

    def payload(self) -> dict[str, Any]:
        conditions = [condition.to_kubernetes() for condition in self.conditions]
        return {"conditions": conditions, "resourceStatus": list(self.manifests)}

    def digest(self) -> str:
        manifests = {"manifests": list(self.manifests)} if self.manifests else {}
        hashed = {"conditions": self.payload()["conditions"], "resourceStatus": manifests}
        return hashlib.sha256(json.dumps(hashed, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def applied(held: Held, objects: Mapping[Key, Mapping[str, Any]], script: Script, now: datetime) -> AgentStatus:
    """The work is applied on the cluster, or was rejected there."""
    good = script.refuse is None
    conditions = [
        Condition(
            type="Applied",
            status=Status.TRUE if good else Status.FALSE,
            reason="AppliedManifestWorkComplete" if good else "AppliedManifestWorkFailed",
            message="Apply manifest work complete" if good else "Failed to apply manifest work",
        ),
        Condition(
            type="Available",
            status=Status.TRUE if good else Status.FALSE,
            reason="ResourcesAvailable" if good else "ResourcesNotAvailable",
            message="All resources are available" if good else "1 of 1 resources are not available",
        ),
    ]
    manifests = tuple(
        _manifest_status(ordinal, held, objects, script, now)
        for ordinal in range(len(held.bundle.get("manifests") or ()))
    )
    return AgentStatus(conditions=_observed(conditions, held, now), manifests=manifests)


def stale(held: Held, now: datetime) -> AgentStatus:
    """The real agent's first report after an update: the previous generation's conditions under the new version."""
    former = Condition(type="Applied", status=Status.TRUE, reason="AppliedManifestWorkComplete")
    conditions = _observed([former], replace(held, version=held.version - 1), now)
    return AgentStatus(conditions=conditions)


def deleting(held: Held, now: datetime) -> AgentStatus:
    message = "The manifests of the manifestwork are being deleted"
    condition = Condition(type="Deleting", status=Status.TRUE, reason="WorkDeleting", message=message)
    return AgentStatus(conditions=(*_others(held, "Deleting"), *_observed([condition], held, now)))


def deleted(held: Held, now: datetime) -> AgentStatus:
    message = f"The manifests are deleted from the cluster {held.metadata.get('namespace', '')}".strip()
    condition = Condition(type="Deleted", status=Status.TRUE, reason="ManifestsDeleted", message=message)
    return AgentStatus(conditions=_observed([condition], held, now))


def identity(manifest: Mapping[str, Any]) -> Key:
    metadata = manifest.get("metadata") or {}
    return str(manifest.get("kind")), str(metadata.get("namespace") or ""), str(metadata.get("name"))


def _observed(conditions: list[Condition], held: Held, now: datetime) -> tuple[Condition, ...]:
    return tuple(
        condition.since(find(held.reported, condition.type), now)._replace(observed_generation=held.version)
        for condition in conditions
    )


def _others(held: Held, type_: str) -> tuple[Condition, ...]:
    return tuple(condition for condition in held.reported if condition.type != type_)


def _manifest_status(
    ordinal: int, held: Held, objects: Mapping[Key, Mapping[str, Any]], script: Script, now: datetime
) -> dict[str, Any]:
    manifest = held.bundle["manifests"][ordinal]
    kind, namespace, name = identity(manifest)
    group, _, version = str(manifest.get("apiVersion")).rpartition("/")
    config = _config_of(held.bundle, namespace, name)
    resource = (config.get("resourceIdentifier") or {}).get("resource") or f"{kind.lower()}s"
    existing = objects.get((kind, namespace, name))
    values, failure = _feedback(config, existing or manifest, script)
    good = script.refuse is None
    conditions = [
        Condition(
            type="Applied",
            status=Status.TRUE if good else Status.FALSE,
            reason="AppliedManifestComplete" if good else "AppliedManifestFailed",
            message="Apply manifest complete" if good else f"Failed to apply manifest: {script.refuse}",
            observed_generation=held.version,
        ),
        Condition(
            type="StatusFeedbackSynced",
            status=Status.FALSE if failure else Status.TRUE,
            reason="StatusFeedbackSyncFailed" if failure else "StatusFeedbackSynced",
            message=f"Sync status feedback failed with error {failure}" if failure else "",
        ),
    ]
    return {
        "resourceMeta": {
            "ordinal": ordinal,
            "group": group,
            "version": version,
            "kind": kind,
            "resource": resource,
            "name": name,
            "namespace": namespace,
        },
        # A refused update leaves the object as it was, and the agent goes on returning its values.
        "statusFeedback": {"values": values} if values and (good or existing) else {},
        "conditions": [each._replace(last_transition_time=now).to_kubernetes() for each in conditions],
    }


def _config_of(bundle: Mapping[str, Any], namespace: str, name: str) -> Mapping[str, Any]:
    for config in bundle.get("manifestConfigs") or ():
        identifier = config.get("resourceIdentifier") or {}
        if identifier.get("name") == name and (identifier.get("namespace") or "") == namespace:
            found: Mapping[str, Any] = config
            return found
    return {}


def _feedback(config: Mapping[str, Any], found: Mapping[str, Any], script: Script) -> tuple[list[dict[str, Any]], str]:
    """The values of the feedback rules, and the agent's error for a value that it omits."""
    values, failure = [], ""
    for name, path in _paths(config):
        value = _at(found, path)
        if value is None:
            continue
        field, error = _field_value(name, value, script)
        failure = error or failure
        if field:
            values.append({"name": name, "fieldValue": field})
    return values, failure


def _paths(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for rule in config.get("feedbackRules") or ():
        for each in rule.get("jsonPaths") or ():
            yield each["name"], each["path"]


# Every work of an adapter has the same paths, and each is read at every change of an object.
_compiled = lru_cache(maxsize=1_000)(compile_jsonpath)


def _at(document: Any, path: str) -> Any:
    """The value at a JSONPath of kubectl, as the agent reads it; None where there is none."""
    try:
        return _compiled(path).evaluate(document)
    except LanguageError:
        return None


def _field_value(name: str, value: Any, script: Script) -> tuple[dict[str, Any] | None, str]:
    match value:
        case bool():
            return {"type": "Boolean", "boolean": value}, ""
        case int():
            return {"type": "Integer", "integer": value}, ""
        case str():
            return {"type": "String", "string": value}, ""
    if not script.raw_feedback:
        return None, f"the type map[string]interface {{}} of the value for {name} is not found"
    raw = json.dumps(value, sort_keys=True, separators=(",", ":"))
    if len(raw) > script.max_raw_bytes:
        limit = f"larger than the maximum length {script.max_raw_bytes}"
        return None, f"the length of returned json raw string for name {name} is {limit}"
    return {"type": "JsonRaw", "jsonRaw": raw}, ""
