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

from shared.maestro.wire.cloudevent_pb2 import CloudEvent, CloudEventAttributeValue
from shared.maestro.wire.payloads import bundle_of, compact, metadata_of, work_of
from shared.model.manifestwork import ManifestWork, WorkStatus

__all__ = [
    "DATA_TYPE",
    "HEARTBEAT_TYPE",
    "JSON_CONTENT",
    "Attribute",
    "Envelope",
    "Undecodable",
    "bundle_of",
    "compact",
    "metadata_of",
    "spec_request",
    "status_resync_request",
    "timestamp",
    "work_in_status",
    "work_of",
]

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
