"""Rules 6 to 12 of a status report: whether one about an existing resource is kept, and whether it then counts.

A report that is discarded is answered as a success without content; only its `Discard` says which rule did it.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from lab.api.problems import invalid
from lab.api.rules.reports import Report
from lab.api.rules.values import APPLIED, AVAILABLE, HEALTH, UNKNOWN, AdapterCondition, AdapterStatus

MANDATORY = (AVAILABLE, APPLIED, HEALTH)


class Discard(StrEnum):
    """Why a report is ignored."""

    FUTURE_GENERATION = "the resource has not reached this generation"
    STALE_GENERATION = "this adapter has reported a newer generation"
    STALE_TIME = "this adapter has reported a later observation"
    UNKNOWN_AGAIN = "Available=Unknown counts only as an adapter's first report"


@dataclass(frozen=True, slots=True)
class Keep:
    """The adapter's status from now on; `aggregates` says whether the resource's conditions are computed anew."""

    status: AdapterStatus
    aggregates: bool


def evaluate(report: Report, generation: int, stored: AdapterStatus | None) -> Keep | Discard:
    """What becomes of a report about a resource at `generation`. Raises Problem where a mandatory condition is missing.

    A report of the same generation and instant as the stored one is kept and changes nothing.
    """
    if report.observed_generation > generation:
        return Discard.FUTURE_GENERATION
    if stored and report.observed_generation < stored.observed_generation:
        return Discard.STALE_GENERATION
    same_generation = stored is not None and report.observed_generation == stored.observed_generation
    if stored and same_generation and report.observed_time < stored.last_report_time:
        return Discard.STALE_TIME
    available = _mandatory(report)
    if available.status == UNKNOWN:
        return Discard.UNKNOWN_AGAIN if stored else Keep(_status(report, None), aggregates=False)
    if stored and same_generation and report.observed_time == stored.last_report_time:
        return Keep(stored, aggregates=True)
    return Keep(_status(report, stored), aggregates=True)


def _mandatory(report: Report) -> AdapterCondition:
    """The Available condition of a report that has all it must have."""
    for kind in MANDATORY:
        if report.condition(kind) is None:
            raise invalid(
                f"missing mandatory condition '{kind}': all adapters must report Available, Applied, and Health"
            )
    available = report.condition(AVAILABLE)
    assert available is not None
    return available


def _status(report: Report, stored: AdapterStatus | None) -> AdapterStatus:
    return AdapterStatus(
        adapter=report.adapter,
        observed_generation=report.observed_generation,
        conditions=tuple(_since(condition, stored) for condition in report.conditions),
        data=report.data,
        metadata=report.metadata,
        created_time=stored.created_time if stored else report.observed_time,
        last_report_time=report.observed_time,
    )


def _since(condition: AdapterCondition, stored: AdapterStatus | None) -> AdapterCondition:
    """The condition with the time of its last change of status."""
    before = stored.condition(condition.type) if stored else None
    if before and before.status == condition.status:
        return replace(condition, last_transition_time=before.last_transition_time)
    return condition
