"""Who may hold a Lease, decided from what it says and for how long it has said so. Nothing here waits or writes.

Clocks of different machines are never compared: a holder counts as dead when its record has not changed for the
record's own duration, measured by our clock alone.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from shared import times
from shared.kubernetes.objects import Object

API_VERSION, KIND = "coordination.k8s.io/v1", "Lease"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a Lease says. Two records that are equal mean that nobody renewed it in between."""

    holder: str
    renewed: str
    acquired: str
    transitions: int
    duration: float

    @classmethod
    def of(cls, lease: Mapping[str, Any]) -> "Record":
        spec = lease.get("spec") or {}
        return cls(
            holder=str(spec.get("holderIdentity") or ""),
            renewed=str(spec.get("renewTime") or ""),
            acquired=str(spec.get("acquireTime") or ""),
            transitions=int(spec.get("leaseTransitions") or 0),
            duration=float(spec.get("leaseDurationSeconds") or 0),
        )


@dataclass(frozen=True, slots=True)
class Observation:
    """A record, and when our clock first saw it."""

    record: Record
    since: float

    def updated(self, record: Record, now: float) -> "Observation":
        return self if record == self.record else Observation(record, now)

    def is_free_for(self, identity: str, now: float) -> bool:
        holder = self.record.holder
        return holder in ("", identity) or now >= self.since + self.record.duration


def first(name: str, namespace: str, spec: Object) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": spec}


def held_by(identity: str, before: Record | None, *, duration: float, now: datetime) -> Object:
    """The spec with which `identity` takes the Lease, or keeps the one it has."""
    moment = times.to_micros(now)
    keeps = before is not None and before.holder == identity
    return {
        "holderIdentity": identity,
        "leaseDurationSeconds": max(1, math.ceil(duration)),
        "renewTime": moment,
        "acquireTime": before.acquired if before is not None and keeps and before.acquired else moment,
        "leaseTransitions": 0 if before is None else before.transitions + (not keeps),
    }


def released(before: Record, *, now: datetime) -> Object:
    """The spec with which a holder gives the Lease back, so that the next need not wait."""
    moment = times.to_micros(now)
    return {
        "holderIdentity": "",
        "leaseDurationSeconds": 1,
        "renewTime": moment,
        "acquireTime": before.acquired or moment,
        "leaseTransitions": before.transitions,
    }
