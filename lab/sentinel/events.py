"""Sentinel's CloudEvent, byte for byte: structured JSON, attributes in its order, no time and no subject.

{"specversion":"1.0","id":"…","source":"hyperfleet-sentinel","type":"com.redhat.hyperfleet.cluster.reconcile",
"datacontenttype":"application/json","data":{"generation":1,"href":"…","id":"…","kind":"Cluster"}}
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lab.api.identifiers import uuid7

SOURCE = "hyperfleet-sentinel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """`body` is what goes over the wire; `data` is its part that adapters read."""

    id: str
    type: str
    data: Mapping[str, Any]
    body: bytes


def event_type(kind: str) -> str:
    return f"com.redhat.hyperfleet.{kind.lower()}.reconcile"


def reconcile_event(
    resource: Mapping[str, Any], now: datetime, *, owner_references: bool = False, tracing: bool = False
) -> Event:
    """The event that announces a resource. `tracing` adds a trace context of its own."""
    data = {name: resource[name] for name in ("generation", "href", "id", "kind")}
    if owner_references:
        owner = resource.get("owner_references") or {}
        data["owner_references"] = {name: owner.get(name) for name in ("href", "id", "kind")}
    identifier, kind = uuid7(now), event_type(resource["kind"])
    attributes: dict[str, Any] = {
        "specversion": "1.0",
        "id": identifier,
        "source": SOURCE,
        "type": kind,
        "datacontenttype": "application/json",
        "data": data,
    }
    if tracing:
        attributes["traceparent"] = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
    body = json.dumps(attributes, separators=(",", ":"), ensure_ascii=False).encode()
    return Event(id=identifier, type=kind, data=data, body=body)
