"""LastKnownReconciled: whether the resource worked at the last generation that all required adapters agreed on.

It turns True when all of them are available at one generation, and stays True while they move to a newer one at
different speeds, even where one of them fails there. A failure at the generation that is tracked turns it False.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lab.api.rules.snapshots import Snapshot
from lab.api.rules.values import FALSE, LAST_KNOWN_RECONCILED, TRUE, Resource, ResourceCondition


@dataclass(frozen=True, slots=True, kw_only=True)
class _Facts:
    """What is known of the required adapters together, and what was concluded before."""

    missing: bool
    reports: tuple[Snapshot, ...]
    before: ResourceCondition | None
    updated_time: datetime

    @property
    def was_true(self) -> bool:
        return self.before is not None and self.before.status == TRUE

    @property
    def all_available(self) -> bool:
        return not self.missing and all(report.available for report in self.reports)

    @property
    def one_generation(self) -> bool:
        return len({report.observed_generation for report in self.reports}) == 1


def last_known_reconciled(resource: Resource, known: dict[str, Snapshot], required: Sequence[str]) -> ResourceCondition:
    facts = _Facts(
        missing=not required or any(name not in known for name in required),
        reports=tuple(known[name] for name in required if name in known),
        before=resource.condition(LAST_KNOWN_RECONCILED),
        updated_time=resource.updated_time,
    )
    status = _status(facts)
    reason, message = _explanation(status, facts)
    generation = _generation(status, facts)
    updated = _last_updated(status, facts, generation)
    before = facts.before
    unchanged = before is not None and before.status == status
    return ResourceCondition(
        type=LAST_KNOWN_RECONCILED,
        status=status,
        observed_generation=generation,
        reason=reason,
        message=message,
        created_time=before.created_time if before else resource.updated_time,
        last_updated_time=updated,
        last_transition_time=before.last_transition_time if before and unchanged else updated,
    )


def _status(facts: _Facts) -> str:
    if facts.missing:
        return FALSE
    if facts.all_available:
        return TRUE if facts.one_generation or facts.was_true else FALSE
    if not facts.was_true or facts.before is None:
        return FALSE
    tracked = facts.before.observed_generation
    broken = any(not each.available and each.observed_generation == tracked for each in facts.reports)
    return FALSE if broken else TRUE


def _explanation(status: str, facts: _Facts) -> tuple[str, str]:
    if status == TRUE:
        return "AllAdaptersReconciled", "All required adapters report Available=True for the tracked generation"
    if facts.missing:
        return "AdaptersMissingReports", "Required adapters have not yet reported status"
    if not facts.all_available:
        return "AdapterReportedNotAvailable", "One or more required adapters report Available=False"
    return "AdaptersNotAtSameGeneration", "Required adapters do not report a consistent Available state"


def _generation(status: str, facts: _Facts) -> int:
    """The generation that is tracked while True, the newest one reported while False."""
    if status == FALSE and facts.reports:
        return max(report.observed_generation for report in facts.reports)
    if status == TRUE and facts.all_available and facts.one_generation:
        return facts.reports[0].observed_generation
    return facts.before.observed_generation if facts.before else 1


def _last_updated(status: str, facts: _Facts, generation: int) -> datetime:
    if facts.all_available and facts.one_generation:
        return min(report.observed_time for report in facts.reports)
    if status == FALSE:
        there = [report for report in facts.reports if report.observed_generation == generation]
        if any(not report.available for report in there):
            return min(report.observed_time for report in there)
    return facts.before.last_updated_time if facts.before else facts.updated_time
