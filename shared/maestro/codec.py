"""Between works and the CloudEvents that Maestro sends and takes.

Maestro's gRPC form is not the official CloudEvents protobuf format: attributes carry a `ce-` prefix inside a map, the
content type has none, and the payload must be in `binary_data`, because anything else is silently dropped.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self

from google.protobuf.timestamp_pb2 import Timestamp

from shared import times
from shared.maestro.wire.cloudevent_pb2 import CloudEvent, CloudEventAttributeValue
from shared.manifestwork import (
    Json,
    ManifestWork,
    WorkStatus,
    as_items,
    as_object,
    as_texts,
    other_metadata,
    read_time,
)

DATA_TYPE = "io.open-cluster-management.works.v1alpha1.manifestbundles"
HEARTBEAT_TYPE = "io.open-cluster-management.cloudevents.heartbeat"
JSON_CONTENT = "application/json"
TRACING_PREFIX = "logging.open-cluster-management.io/"

Attribute = str | int | bool | bytes | Timestamp


class Undecodable(ValueError):
    """An event that lacks what it must carry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """One CloudEvent: `extensions` without their wire prefix, `data` None where the event has no payload at all."""

    id: str
    source: str
    type: str
    extensions: Mapping[str, Attribute] = field(default_factory=dict)
    data: bytes | None = None
    content_type: str | None = None

    def to_proto(self) -> CloudEvent:
        event = CloudEvent(id=self.id, source=self.source, spec_version="1.0", type=self.type)
        for name, value in self.extensions.items():
            event.attributes[f"ce-{name}"].CopyFrom(_attribute(value))
        if self.content_type is not None:
            event.attributes["contenttype"].ce_string = self.content_type
        if self.data is not None:
            event.binary_data = self.data
        return event

    @classmethod
    def from_proto(cls, event: CloudEvent) -> Self:
        extensions = {
            name.removeprefix("ce-"): _value(value)
            for name, value in event.attributes.items()
            if name.startswith("ce-") and value.WhichOneof("attr")
        }
        content_type = event.attributes["contenttype"].ce_string if "contenttype" in event.attributes else None
        return cls(
            id=event.id,
            source=event.source,
            type=event.type,
            extensions=extensions,
            data=event.binary_data if event.WhichOneof("data") == "binary_data" else None,
            content_type=content_type,
        )

    def text(self, name: str) -> str:
        value = self.extensions.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> int:
        """An integer extension, which some agents send as a string of digits."""
        value = self.extensions.get(name)
        try:
            if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
                return int(value)
        except ValueError:
            pass
        raise Undecodable(f"the event has no whole number {name!r}: {value!r:.60}")

    def json(self, name: str) -> dict[str, Any]:
        return json_object(self.text(name))

    @property
    def payload(self) -> dict[str, Any]:
        return json_object(self.data or b"")


def json_object(text: str | bytes) -> dict[str, Any]:
    if not text:
        return {}
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Undecodable(f"not JSON: {error}") from error
    if not isinstance(decoded, dict):
        raise Undecodable(f"not a JSON object: {text!r:.60}")
    return decoded


def compact(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def timestamp(moment: datetime) -> Timestamp:
    stamp = Timestamp()
    stamp.FromDatetime(moment)
    return stamp


def spec_request(action: str, work: ManifestWork, *, source: str, at: datetime) -> Envelope:
    """What a source sends to create, update or delete `work`; its generation is the version the sender has seen."""
    tracing = {key: value for key, value in work.annotations.items() if key.startswith(TRACING_PREFIX)}
    envelope = Envelope(
        id=str(uuid.uuid4()),
        source=source,
        type=f"{DATA_TYPE}.spec.{action}_request",
        extensions={
            "time": timestamp(at),
            "clustername": work.consumer,
            "originalsource": "",
            "resourceid": work.uid,
            "resourceversion": work.generation,
            "metadata": compact(metadata_of(work)),
            "logtracing": compact(tracing),
        },
    )
    if action == "delete":
        moment = timestamp(work.deleted_at or at)
        return replace(envelope, extensions={**envelope.extensions, "deletiontimestamp": moment})
    return replace(envelope, content_type=JSON_CONTENT, data=compact(bundle_of(work)).encode())


def status_resync_request(*, source: str, at: datetime, hashes: Mapping[str, str]) -> Envelope:
    """Ask for the status of those works whose stored status differs from these hashes."""
    listed = [{"resourceID": each, "statusHash": digest} for each, digest in hashes.items()]
    return Envelope(
        id=str(uuid.uuid4()),
        source=source,
        type=f"{DATA_TYPE}.status.resync_request",
        extensions={"time": timestamp(at), "clustername": "", "originalsource": ""},
        content_type=JSON_CONTENT,
        data=compact({"statusHashes": listed}).encode(),
    )


def work_in_status(envelope: Envelope) -> ManifestWork:
    """The work a status event speaks of. Its metadata is of the time of that status, its spec is the current one."""
    metadata, payload = envelope.json("metadata"), envelope.payload
    uid, sequence = envelope.text("resourceid"), envelope.text("sequenceid")
    if not uid or not sequence:
        raise Undecodable(f"status event {envelope.id} lacks {'resourceid' if not uid else 'sequenceid'}")
    work = work_of(metadata, payload.get("manifestBundle"), fallback_name=uid)
    return replace(
        work,
        uid=uid,
        consumer=envelope.text("clustername") or work.consumer,
        generation=envelope.number("resourceversion"),
        status=WorkStatus.from_wire(payload.get("conditions"), payload.get("resourceStatus"), sequence),
    )


def metadata_of(work: ManifestWork) -> dict[str, Any]:
    """`ce-metadata`: Maestro keeps exactly this, and replaces all of it with every update."""
    metadata: dict[str, Any] = {
        "name": work.name,
        "namespace": work.consumer,
        "uid": work.uid,
        "resourceVersion": str(work.generation),
        **work.other_metadata,
    }
    if work.generation:
        metadata["generation"] = work.generation
    if work.created_at:
        metadata["creationTimestamp"] = times.to_seconds(work.created_at)
    if work.deleted_at:
        metadata["deletionTimestamp"] = times.to_seconds(work.deleted_at)
    if work.labels:
        metadata["labels"] = dict(work.labels)
    if work.annotations:
        metadata["annotations"] = dict(work.annotations)
    return metadata


def bundle_of(work: ManifestWork) -> dict[str, Any]:
    """The payload; the protocol spells the executor `executer`."""
    bundle: dict[str, Any] = {"manifests": list(work.manifests)}
    if work.delete_option:
        bundle["deleteOption"] = work.delete_option
    if work.manifest_configs:
        bundle["manifestConfigs"] = list(work.manifest_configs)
    if work.executor:
        bundle["executer"] = work.executor
    return bundle


def work_of(metadata: Any, bundle: Any, *, fallback_name: str) -> ManifestWork:
    """The work in what a server sent; parts that are not what they should be count as absent."""
    metadata, bundle = as_object(metadata), as_object(bundle)
    return ManifestWork(
        name=str(metadata.get("name") or fallback_name),
        consumer=str(metadata.get("namespace") or ""),
        manifests=_objects(bundle.get("manifests")),
        manifest_configs=_objects(bundle.get("manifestConfigs")),
        delete_option=as_object(bundle.get("deleteOption")) or None,
        executor=as_object(bundle.get("executer")) or None,
        labels=as_texts(metadata.get("labels")),
        annotations=as_texts(metadata.get("annotations")),
        other_metadata=other_metadata(metadata),
        created_at=read_time(metadata.get("creationTimestamp")),
        deleted_at=read_time(metadata.get("deletionTimestamp")),
    )


def _objects(value: Any) -> tuple[Json, ...]:
    return tuple(each for each in as_items(value) if isinstance(each, Mapping))


def _attribute(value: Attribute) -> CloudEventAttributeValue:
    match value:
        case bool():
            return CloudEventAttributeValue(ce_boolean=value)
        case int():
            return CloudEventAttributeValue(ce_integer=value)
        case str():
            return CloudEventAttributeValue(ce_string=value)
        case bytes():
            return CloudEventAttributeValue(ce_bytes=value)
        case Timestamp():
            return CloudEventAttributeValue(ce_timestamp=value)


def _value(attribute: CloudEventAttributeValue) -> Attribute:
    value: Attribute = getattr(attribute, str(attribute.WhichOneof("attr")))
    return value
