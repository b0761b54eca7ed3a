"""The conditions of a control plane that is being deleted, until nothing is left of it.

The stages follow each other: the deletion was sent; the agent started it; the operator's finalizers run; the control
plane is destroyed and the object is only kept for its grace period; the object is gone and the agent has yet to
confirm it. `Finalized` is never True while the work exists. The operator no longer updates the other conditions of an
object that it deletes, so its `Available` and `Degraded` are ignored here: Available is False, and Health is about the
deletion.
"""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum

from controlplane_adapter.status.messages import age, describe, join_parts, seconds_since
from controlplane_adapter.status.thresholds import Thresholds
from controlplane_adapter.work.feedback import CLOUD_RESOURCES_DESTROYED, DESTROYED
from controlplane_adapter.work.hosted_cluster_status import HostedClusterStatus
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestWork
from shared.redaction import redact_text

# After these the operator goes on, and leaves behind what it could not remove.
_CLEANUP_ABANDONED = ("CloudResourcesDeletionTimedOut", "CloudResourcesCleanupSkipped")


class Stage(StrEnum):
    """How far the deletion is; the value is the reason of Finalized."""

    REQUESTED = "DeletionRequested"
    INITIATED = "DeletionInitiated"
    FINALIZERS_RUNNING = "FinalizersRunning"
    DESTROYED = "WaitingForGracePeriod"
    OBJECT_GONE = "AwaitingAgent"


def deletion_conditions(
    work: ManifestWork, status: HostedClusterStatus, now: datetime, thresholds: Thresholds
) -> tuple[Condition, ...]:
    """Applied, Available, Health and Finalized of a work that is being deleted."""
    assert work.deleted_at is not None
    stage = stage_of(work, status)
    progress = _progress(stage, work, status, now)
    return (
        Condition(type="Applied", status=Status.TRUE, reason="ManifestWorkExists", message=progress),
        Condition(type="Available", status=Status.FALSE, reason="Deleting", message="Control plane is being deleted"),
        _health(stage, work, status, now, thresholds),
        Condition(type="Finalized", status=Status.FALSE, reason=stage.value, message=progress),
    )


def finalized_conditions(message: str = "Nothing is left of the HostedCluster") -> tuple[Condition, ...]:
    """The conditions once Maestro has no work of the cluster."""
    return (
        Condition(type="Applied", status=Status.FALSE, reason="Deleted", message=message),
        Condition(type="Available", status=Status.FALSE, reason="Deleted", message=message),
        Condition(type="Health", status=Status.TRUE, reason="NoIssues", message=message),
        Condition(type="Finalized", status=Status.TRUE, reason="Deleted", message=message),
    )


def stage_of(work: ManifestWork, status: HostedClusterStatus) -> Stage:
    deleting = work.status.condition("Deleting")
    started = deleting is not None and deleting.status is Status.TRUE
    if started and status.present is False:
        return Stage.OBJECT_GONE
    if status.condition_is(DESTROYED, Status.TRUE):
        return Stage.DESTROYED
    if status.deletion_requested_at is not None:
        return Stage.FINALIZERS_RUNNING
    return Stage.INITIATED if started else Stage.REQUESTED


def _progress(stage: Stage, work: ManifestWork, status: HostedClusterStatus, now: datetime) -> str:
    elapsed = age(_deleted_at(work), now)
    match stage:
        case Stage.REQUESTED:
            return f"Deletion was sent to {work.consumer} {elapsed} ago; its agent has not started it yet"
        case Stage.INITIATED:
            return f"The agent of {work.consumer} started the deletion, requested {elapsed} ago"
        case Stage.FINALIZERS_RUNNING:
            finalizing = f"Finalizers of the HostedCluster run on {work.consumer}, deletion requested {elapsed} ago"
            return join_parts(finalizing, *_remaining(status))
        case Stage.DESTROYED:
            destroyed = status.condition(DESTROYED)
            kept = f"Control plane is destroyed; {work.consumer} keeps the HostedCluster for its grace period"
            return join_parts(kept, redact_text(destroyed.message) if destroyed else "")
        case Stage.OBJECT_GONE:
            return f"HostedCluster is gone from {work.consumer}; its agent has not confirmed the deletion yet"


def _remaining(status: HostedClusterStatus) -> list[str]:
    """What the finalizers still wait for, as far as it is known."""
    finalizers = f"finalizers: {', '.join(status.finalizers)}" if status.finalizers else ""
    cloud = status.condition(CLOUD_RESOURCES_DESTROYED)
    return [finalizers, describe(cloud) if cloud is not None and cloud.status is not Status.TRUE else ""]


def _health(
    stage: Stage, work: ManifestWork, status: HostedClusterStatus, now: datetime, thresholds: Thresholds
) -> Condition:
    if _is_stuck(work, status, now, thresholds):
        message = join_parts(_progress(stage, work, status, now), remedy=_REMEDY[stage](work))
        return Condition(type="Health", status=Status.FALSE, reason="DeletionStuck", message=message)
    cloud = status.condition(CLOUD_RESOURCES_DESTROYED)
    if cloud is not None and cloud.status is Status.FALSE and cloud.reason in _CLEANUP_ABANDONED:
        message = join_parts(describe(cloud), remedy="remove by hand what is left in the cloud project")
        return Condition(type="Health", status=Status.FALSE, reason=cloud.reason, message=message)
    if stage is Stage.REQUESTED and seconds_since(_deleted_at(work), now) >= thresholds.agent_silence:
        message = join_parts(_progress(stage, work, status, now), remedy=_REMEDY[stage](work))
        return Condition(type="Health", status=Status.UNKNOWN, reason="AgentSilent", message=message)
    return Condition(type="Health", status=Status.TRUE, reason="NoIssues", message="Deletion is in progress")


def _is_stuck(work: ManifestWork, status: HostedClusterStatus, now: datetime, thresholds: Thresholds) -> bool:
    """The threshold starts again when the control plane is destroyed: the object is then kept on purpose."""
    destroyed = status.condition(DESTROYED)
    since = _deleted_at(work)
    if destroyed is not None and destroyed.status is Status.TRUE and destroyed.last_transition_time is not None:
        since = max(since, destroyed.last_transition_time)
    return seconds_since(since, now) >= thresholds.deletion


def _deleted_at(work: ManifestWork) -> datetime:
    assert work.deleted_at is not None
    return work.deleted_at


def _check_agent(work: ManifestWork) -> str:
    return f"check that the Maestro agent of {work.consumer} runs and reaches Maestro"


def _restart_agent(work: ManifestWork) -> str:
    return f"restart the Maestro agent of {work.consumer}: it sometimes misses the end of a deletion"


def _check_operator(work: ManifestWork) -> str:
    return (
        f"on {work.consumer}, check the HyperShift operator's log and what is left in the control plane's namespace; "
        "remove a finalizer by hand only when its resources are gone"
    )


_REMEDY: dict[Stage, Callable[[ManifestWork], str]] = {
    Stage.REQUESTED: _check_agent,
    Stage.INITIATED: _check_operator,
    Stage.FINALIZERS_RUNNING: _check_operator,
    Stage.DESTROYED: _check_operator,
    Stage.OBJECT_GONE: _restart_agent,
}
