"""What the report says: pure, from what was done and what is true after it, or from what went wrong.

Applied is about this run's wish, Available and Health about the control plane that is there. A wish that was refused
leaves the other two to tell their own truth.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from controlplane_adapter import finalizing, judging
from controlplane_adapter.acting import Result
from controlplane_adapter.deciding import AwaitSuccession, Create, Gone, LeaveAlone, Refuse, Update
from controlplane_adapter.limits import Limits
from controlplane_adapter.observing import observe
from controlplane_adapter.work import hosted_cluster_in
from shared.conditions import Condition, Status
from shared.errors import HyperFleetError, Invalid, Misconfigured, NotOwned, Transient, UnknownConsumer
from shared.maestro import Action
from shared.manifestwork import ManifestWork
from shared.report import AdapterReport

_TYPES = ("Applied", "Available", "Health")


def report_of(result: Result, *, generation: int, deleting: bool, limits: Limits, now: datetime) -> AdapterReport:
    """The report of a run that came to its end."""
    conditions = _conditions(result, limits, now)
    if deleting and not any(each.type == "Finalized" for each in conditions):
        refusal = conditions[0]
        conditions += (replace(refusal, type="Finalized", status=Status.FALSE),)
    return AdapterReport(
        conditions=tuple(each.since(None, now) for each in conditions),
        data=_data(result.work),
        observed_generation=generation,
    )


def report_of_failure(
    error: HyperFleetError, *, generation: int | None, deleting: bool, now: datetime
) -> AdapterReport:
    """The report of a run that an error ended; what it could not find out is unknown, not false."""
    unknown = isinstance(error, Transient)
    status = Status.UNKNOWN if unknown else Status.FALSE
    types = (*_TYPES, "Finalized") if deleting else _TYPES
    conditions = tuple(
        Condition(type=type_, status=status, reason=_reason(error), message=str(error)).since(None, now)
        for type_ in types
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
    judged = judging.judge(result.work, observe(result.work), now, limits, action=_action(result))
    return judged if result.confirmed else _unconfirmed(judged)


def _refused(
    reason: str, message: str, work: ManifestWork | None, limits: Limits, now: datetime
) -> tuple[Condition, ...]:
    applied = Condition(type="Applied", status=Status.FALSE, reason=reason, message=message)
    if work is None:
        return tuple(replace(applied, type=type_) for type_ in _TYPES)
    own = judging.judge(work, observe(work), now, limits)
    return (applied, *(condition for condition in own if condition.type != "Applied"))


def _unconfirmed(judged: Sequence[Condition]) -> tuple[Condition, ...]:
    """A work that was sent and not yet answered for is applied as far as anybody can know."""
    return tuple(
        replace(each, status=Status.TRUE, message="sent to the management cluster, not yet confirmed")
        if each.type == "Applied" and each.reason in ("ManifestWorkCreated", "ManifestWorkUpdated")
        else each
        for each in judged
    )


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
    hosted_cluster = hosted_cluster_in(work)
    metadata = hosted_cluster["metadata"] if hosted_cluster else {}
    return {
        **judging.data(work, observe(work)),
        "management_cluster": work.consumer,
        "manifest_work": work.name,
        "hosted_cluster": f"{metadata.get('namespace', '')}/{metadata.get('name', '')}".strip("/"),
    }


def _reason(error: HyperFleetError) -> str:
    match error:
        case Misconfigured():
            return "AdapterError"
        case UnknownConsumer():
            return "UnknownManagementCluster"
        case NotOwned():
            return "NotOwned"
        case Invalid():
            return "InvalidSpec"
        case _:
            return "MaestroError"
