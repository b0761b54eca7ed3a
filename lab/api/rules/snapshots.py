"""What counts of an adapter's status when a resource's conditions are computed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lab.api.rules.values import AVAILABLE, FALSE, FINALIZED, TRUE, AdapterStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    adapter: str
    available: bool
    finalized: bool
    observed_generation: int
    observed_time: datetime
    reason: str | None
    message: str | None


def snapshots(statuses: Iterable[AdapterStatus], required: Sequence[str], generation: int) -> dict[str, Snapshot]:
    """By adapter: those that are required, are not ahead of the resource, and know whether they are available."""
    return {
        status.adapter: snapshot
        for status in statuses
        if status.adapter in required and status.observed_generation <= generation and (snapshot := _snapshot(status))
    }


def _snapshot(status: AdapterStatus) -> Snapshot | None:
    available = status.condition(AVAILABLE)
    if available is None or available.status not in {TRUE, FALSE}:
        return None
    return Snapshot(
        adapter=status.adapter,
        available=available.status == TRUE,
        finalized=status.says(FINALIZED, TRUE),
        observed_generation=status.observed_generation,
        observed_time=status.last_report_time,
        reason=available.reason,
        message=available.message,
    )
