"""What the report says: pure, from what was done and what is true after it, or from what went wrong.

Applied is about this run's wish, Available and Health about the control plane that is there. A wish that was refused
leaves the other two to tell their own truth.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any

from controlplane_adapter import finalizing, judging
from controlplane_adapter.acting import Result
from controlplane_adapter.deciding import AwaitSuccession, Create, Gone, LeaveAlone, Refuse, Update
from controlplane_adapter.failures import reason_of
from controlplane_adapter.hostedcluster import ABSENT, value_at
from controlplane_adapter.limits import Limits
from controlplane_adapter.observing import observe
from controlplane_adapter.work import hosted_cluster_in
from shared.conditions import Condition, Status
from shared.errors import HyperFleetError, Transient
from shared.maestro import Action
from shared.manifestwork import ManifestWork
from shared.report import AdapterReport

_TYPES = ("Applied", "Available", "Health")


def report_of(result: Result, *, generation: int, deleting: bool, limits: Limits, now: datetime) -> AdapterReport:
    """The report of a run that came to its end. Finalized is told of a cluster that shall go, and of no other."""
    conditions = _conditions(result, limits, now)
    kept = [each for each in conditions if deleting or each.type != "Finalized"]
    if deleting and not any(each.type == "Finalized" for each in kept):
        kept.append(replace(kept[0], type="Finalized", status=Status.FALSE))
    return AdapterReport(
        conditions=tuple(each.since(None, now) for each in kept),
        data=_data(result.work),
        observed_generation=generation,
    )


def report_of_failure(
    error: HyperFleetError, *, generation: int | None, deleting: bool, now: datetime
) -> AdapterReport:
    """The report of a run that an error ended; what passing trouble kept it from finding out is unknown, not false."""
    status = Status.UNKNOWN if isinstance(error, Transient) else Status.FALSE
    reasons = {"Applied": reason_of(error), "Available": "Unknown", "Health": "AdapterError"}
    if deleting:
        reasons["Finalized"] = reasons["Applied"]
    conditions = tuple(
        Condition(type=type_, status=status, reason=reason, message=str(error)).since(None, now)
        for type_, reason in reasons.items()
    )
    return AdapterReport(conditions=conditions, observed_generation=generation)


def _conditions(result: Result, limits: Limits, now: datetime) -> tuple[Condition, ...]:
    match result.plan:
        case Gone():
            return finalizing.gone()
        case Refuse(reason=reason, message=message):
            return _refused(reason, message, result.work, limits, now)
        case AwaitSuccession():
            message = "a former work of this cluster is still being deleted; the new one follows when it is gone"
            return _refused("FormerWorkDeleting", message, None, limits, now)
        case LeaveAlone(superseded=True):
            message = "a newer generation of this cluster has been delivered already"
            return _refused("Superseded", message, result.work, limits, now)
    assert result.work is not None
    return judging.judge(result.work, observe(result.work), now, limits, action=_action(result))


def _refused(
    reason: str, message: str, work: ManifestWork | None, limits: Limits, now: datetime
) -> tuple[Condition, ...]:
    applied = Condition(type="Applied", status=Status.FALSE, reason=reason, message=message)
    if work is None:
        return tuple(replace(applied, type=type_) for type_ in _TYPES)
    own = judging.judge(work, observe(work), now, limits)
    return (applied, *(condition for condition in own if condition.type != "Applied"))


def _action(result: Result) -> Action:
    match result.plan:
        case Create():
            return Action.CREATED
        case Update():
            return Action.UPDATED
        case _:
            return Action.UNCHANGED


def _data(work: ManifestWork | None) -> dict[str, Any]:
    if work is None:
        return {}
    named = [value_at(hosted_cluster_in(work), f"metadata.{member}") for member in ("namespace", "name")]
    return {
        **judging.data(work, observe(work)),
        "management_cluster": work.consumer,
        "manifest_work": work.name,
        "hosted_cluster": "/".join(str(each) for each in named if each is not ABSENT),
    }
