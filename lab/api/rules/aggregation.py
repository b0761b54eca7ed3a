"""What the reports of the required adapters say about a resource: Reconciled, LastKnownReconciled, one per adapter.

Only reports with Available True or False count; Applied and Health never do. No clock is read: a resource without
reports is as old as its last update.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lab.api.rules.last_known import last_known_reconciled
from lab.api.rules.snapshots import Snapshot, snapshots
from lab.api.rules.values import FALSE, FINALIZED, RECONCILED, TRUE, AdapterStatus, Resource, ResourceCondition

_ALL = "All required adapters reported Available=True or Finalized=True at the current generation"
_WAITING = "Deletion in progress. All required adapters reported Finalized=True but child resources still exist"


def aggregate(
    resource: Resource, statuses: Iterable[AdapterStatus], required: Sequence[str], *, active_children: bool
) -> tuple[ResourceCondition, ...]:
    """The resource's conditions. `active_children` are those that are not being deleted themselves."""
    known = snapshots(statuses, required, resource.generation)
    return (
        _reconciled(resource, known, required, active_children=active_children),
        last_known_reconciled(resource, known, required),
        *(_successful(resource, known[name]) for name in required if name in known),
    )


def is_finalised(resource: Resource, statuses: Iterable[AdapterStatus], required: Sequence[str]) -> bool:
    """Whether every required adapter says that it is done with this generation of a deleted resource."""
    done = {
        status.adapter
        for status in statuses
        if status.observed_generation == resource.generation and status.says(FINALIZED, TRUE)
    }
    return resource.deleted_time is not None and done.issuperset(required)


def condition_type(adapter: str) -> str:
    """`cl-job` becomes `ClJobSuccessful`."""
    return "".join(part[:1].upper() + part[1:] for part in adapter.split("-")) + "Successful"


@dataclass(frozen=True, slots=True)
class _Conclusion:
    status: str
    reason: str
    message: str


def _reconciled(
    resource: Resource, known: dict[str, Snapshot], required: Sequence[str], *, active_children: bool
) -> ResourceCondition:
    at_generation = [known[name] for name in required if _is_current(known.get(name), resource)]
    updated = min((each.observed_time for each in at_generation), default=resource.updated_time)
    conclusion = _conclude(resource, known, required, active_children=active_children)
    before = resource.condition(RECONCILED)
    transition = updated
    if before and before.status == conclusion.status:
        transition = before.last_transition_time
    elif before and before.status == TRUE and resource.generation > before.observed_generation:
        transition = resource.updated_time
    return ResourceCondition(
        type=RECONCILED,
        status=conclusion.status,
        observed_generation=resource.generation,
        reason=conclusion.reason,
        message=conclusion.message,
        created_time=before.created_time if before else resource.updated_time,
        last_updated_time=updated,
        last_transition_time=transition,
    )


def _conclude(
    resource: Resource, known: dict[str, Snapshot], required: Sequence[str], *, active_children: bool
) -> _Conclusion:
    deleting = resource.deleted_time is not None
    lacking = [name for name in required if not _is_done(known.get(name), resource, deleting=deleting)]
    if required and not lacking:
        if deleting and active_children:
            return _Conclusion(FALSE, "ReconciledWaitingForChildren", _WAITING)
        return _Conclusion(TRUE, "ReconciledAll", _ALL)
    wanted = "Finalized=True" if deleting else "Available=True"
    reporting = [name for name in required if name in known]
    message = f"Required adapters not reporting {wanted}: {_listed(lacking)}. Currently reporting: {_listed(reporting)}"
    return _Conclusion(FALSE, "ReconciledMissingAdapters", message)


def _is_current(snapshot: Snapshot | None, resource: Resource) -> bool:
    return snapshot is not None and snapshot.observed_generation == resource.generation


def _is_done(snapshot: Snapshot | None, resource: Resource, *, deleting: bool) -> bool:
    if snapshot is None or not _is_current(snapshot, resource):
        return False
    return snapshot.finalized if deleting else snapshot.available


def _listed(names: Iterable[str]) -> str:
    return f"[{', '.join(sorted(names))}]"


def _successful(resource: Resource, snapshot: Snapshot) -> ResourceCondition:
    """A copy of what the adapter says of Available."""
    kind = condition_type(snapshot.adapter)
    before = resource.condition(kind)
    status = TRUE if snapshot.available else FALSE
    unchanged = before is not None and before.status == status
    return ResourceCondition(
        type=kind,
        status=status,
        observed_generation=snapshot.observed_generation,
        reason=snapshot.reason,
        message=snapshot.message,
        created_time=before.created_time if before else resource.updated_time,
        last_updated_time=snapshot.observed_time,
        last_transition_time=before.last_transition_time if before and unchanged else snapshot.observed_time,
    )
