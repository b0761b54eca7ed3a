"""What the API stores: resources with their conditions, and one status for each adapter that reported."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

TRUE, FALSE, UNKNOWN = "True", "False", "Unknown"
AVAILABLE, APPLIED, HEALTH, FINALIZED = "Available", "Applied", "Health", "Finalized"
RECONCILED, LAST_KNOWN_RECONCILED = "Reconciled", "LastKnownReconciled"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterCondition:
    type: str
    status: str
    last_transition_time: datetime
    reason: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterStatus:
    """The latest report of one adapter; its times are those of the first and the latest observation."""

    adapter: str
    observed_generation: int
    conditions: tuple[AdapterCondition, ...]
    created_time: datetime
    last_report_time: datetime
    data: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] | None = None

    def condition(self, kind: str) -> AdapterCondition | None:
        return next((each for each in self.conditions if each.type == kind), None)

    def says(self, kind: str, status: str) -> bool:
        condition = self.condition(kind)
        return condition is not None and condition.status == status


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceCondition:
    type: str
    status: str
    observed_generation: int
    created_time: datetime
    last_updated_time: datetime
    last_transition_time: datetime
    reason: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    id: str
    kind: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource is deleting from when `deleted_time` is set until its adapters have finalised it."""

    id: str
    kind: str
    name: str
    href: str
    created_time: datetime
    updated_time: datetime
    created_by: str
    updated_by: str
    generation: int = 1
    spec: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    owner: Owner | None = None
    deleted_time: datetime | None = None
    deleted_by: str | None = None
    conditions: tuple[ResourceCondition, ...] = ()

    def condition(self, kind: str) -> ResourceCondition | None:
        return next((each for each in self.conditions if each.type == kind), None)
