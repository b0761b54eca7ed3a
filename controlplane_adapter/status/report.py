"""The report of a run: pure, from what was done and observed, or from the error that ended it.

Applied is about this generation, Available and Health about the control plane that exists. A refused generation, or an
error after the observation, does not change the other two.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from controlplane_adapter.hostedcluster.model import ABSENT, value_at
from controlplane_adapter.reconcile.carry_out import Result
from controlplane_adapter.reconcile.observe import Observed
from controlplane_adapter.reconcile.plan import AwaitDeletion, Create, Gone, LeaveAlone, Refuse, Update
from controlplane_adapter.status.conditions import conditions_for, report_data
from controlplane_adapter.status.deletion import finalized_conditions
from controlplane_adapter.status.messages import error_message, join_parts
from controlplane_adapter.status.reasons import reason_of
from controlplane_adapter.status.thresholds import Thresholds
from controlplane_adapter.work.hosted_cluster_status import HostedClusterStatus, read_status
from controlplane_adapter.work.manifestwork import hosted_cluster_in
from shared.errors import HyperFleetError, Transient
from shared.maestro import Action
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestWork
from shared.model.report import AdapterReport

_TYPES = ("Applied", "Available", "Health")


def build_report(
    result: Result, *, generation: int, deleting: bool, thresholds: Thresholds, now: datetime
) -> AdapterReport:
    """The report of a completed run. Only a cluster that is being deleted has Finalized."""
    kept = [each for each in _conditions(result, thresholds, now) if deleting or each.type != "Finalized"]
    if deleting and not any(each.type == "Finalized" for each in kept):
        kept.append(kept[0]._replace(type="Finalized", status=Status.FALSE))
    data = _data(result.work, _status(result)) if result.work else {}
    return _report(kept, data, generation, now)


def build_failure_report(
    error: HyperFleetError,
    *,
    observed: Observed | None,
    generation: int | None,
    deleting: bool,
    thresholds: Thresholds,
    now: datetime,
) -> AdapterReport:
    """The report of a run that an error ended; `observed` is its last observation.

    What was not observed is Unknown: neither a mistake in a setting nor an error of Maestro makes a running control
    plane unavailable.
    """
    status = Status.UNKNOWN if isinstance(error, Transient) else Status.FALSE
    applied = Condition(type="Applied", status=status, reason=reason_of(error), message=error_message(error))
    work = observed.reported if observed else None
    conditions = [applied, *_beside(applied, observed, work, thresholds, now)]
    if deleting:
        conditions.append(applied._replace(type="Finalized"))
    return _report(conditions, _data(work, read_status(work)) if work else {}, generation, now)


def _beside(
    applied: Condition, observed: Observed | None, work: ManifestWork | None, thresholds: Thresholds, now: datetime
) -> list[Condition]:
    """Available and Health of a run that an error ended."""
    if work is not None:
        found = conditions_for(work, read_status(work), now, thresholds)
        return [each for each in found if each.type in _TYPES[1:]]
    status = Status.UNKNOWN if observed is None else applied.status
    available = applied._replace(type="Available", status=status, reason="Unknown")
    return [available, applied._replace(type="Health", status=status, reason="AdapterError")]


def _report(
    conditions: Iterable[Condition], data: dict[str, Any], generation: int | None, now: datetime
) -> AdapterReport:
    return AdapterReport(
        conditions=tuple(each.since(None, now) for each in conditions), data=data, observed_generation=generation
    )


def _conditions(result: Result, thresholds: Thresholds, now: datetime) -> tuple[Condition, ...]:
    match result.plan:
        case Gone():
            return finalized_conditions()
        case Refuse(reason=reason, problems=problems, remedy=remedy):
            return _refused(reason, join_parts(*problems, remedy=remedy), result.work, thresholds, now)
        case AwaitDeletion():
            message = "the previous work of this cluster is still being deleted; the new one is created when it is gone"
            return _refused("FormerWorkDeleting", message, None, thresholds, now)
        case LeaveAlone(superseded=True):
            message = "a newer generation of this cluster was already delivered"
            return _refused("Superseded", message, result.work, thresholds, now)
    assert result.work is not None
    return conditions_for(result.work, _status(result), now, thresholds, action=_action(result))


def _status(result: Result) -> HostedClusterStatus:
    """The status after the run; a refused update has no feedback of its own, and the previous generation goes on."""
    assert result.work is not None
    status = read_status(result.work)
    if status.has_feedback or result.previous is None:
        return status
    previous = read_status(result.previous)
    return previous if previous.has_feedback else status


def _refused(
    reason: str, message: str, work: ManifestWork | None, thresholds: Thresholds, now: datetime
) -> tuple[Condition, ...]:
    applied = Condition(type="Applied", status=Status.FALSE, reason=reason, message=message)
    if work is None:
        return tuple(applied._replace(type=type_) for type_ in _TYPES)
    own = conditions_for(work, read_status(work), now, thresholds)
    return (applied, *(condition for condition in own if condition.type != "Applied"))


def _action(result: Result) -> Action:
    match result.plan:
        case Create():
            return Action.CREATED
        case Update():
            return Action.UPDATED
        case _:
            return Action.UNCHANGED


def _data(work: ManifestWork, status: HostedClusterStatus) -> dict[str, Any]:
    named = [value_at(hosted_cluster_in(work), f"metadata.{member}") for member in ("namespace", "name")]
    return {
        **report_data(work, status),
        "management_cluster": work.consumer,
        "manifest_work": work.name,
        "hosted_cluster": "/".join(str(each) for each in named if each is not ABSENT),
    }
