"""What to say of a control plane that is being deleted, until nothing is left of it.

The stages follow each other: the deletion was sent, the agent took it up, the operator's finalizers run, all is torn
down and only kept for a while to be read, the object is gone and the agent has yet to say so. `Finalized` is never
True while the work exists. The operator freezes the other conditions of an object it deletes, so `Available` and
`Degraded` of it are not listened to here: Available is False, and Health is about the deletion.
"""

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum

from controlplane_adapter.feedback import CLOUD_RESOURCES_DESTROYED, DESTROYED
from controlplane_adapter.limits import Limits
from controlplane_adapter.observing import HostedClusterStatus
from controlplane_adapter.wording import how_long, seconds_since, sentence, words_of
from shared.conditions import Condition, Status
from shared.manifestwork import ManifestWork

# The operator goes on after these, and leaves behind what it could not remove.
_GIVEN_UP = ("CloudResourcesDeletionTimedOut", "CloudResourcesCleanupSkipped")


class Stage(StrEnum):
    """How far the deletion is; the value is the reason of Finalized."""

    REQUESTED = "DeletionRequested"
    INITIATED = "DeletionInitiated"
    FINALIZERS_RUNNING = "FinalizersRunning"
    TORN_DOWN = "WaitingForGracePeriod"
    OBJECT_GONE = "AwaitingAgent"


def judge_deletion(
    work: ManifestWork, status: HostedClusterStatus, now: datetime, limits: Limits
) -> tuple[Condition, ...]:
    """Applied, Available, Health and Finalized of a work that is being deleted."""
    assert work.deleted_at is not None
    stage = stage_of(work, status)
    progress = _progress(stage, work, status, now)
    return (
        Condition(type="Applied", status=Status.TRUE, reason="ManifestWorkExists", message=progress),
        Condition(type="Available", status=Status.FALSE, reason="Deleting", message="Control plane is being deleted"),
        _health(stage, work, status, now, limits),
        Condition(type="Finalized", status=Status.FALSE, reason=stage.value, message=progress),
    )


def gone(message: str = "Nothing is left of the HostedCluster") -> tuple[Condition, ...]:
    """The conditions once Maestro has no work of the cluster."""
    return (
        Condition(type="Applied", status=Status.FALSE, reason="Deleted", message=message),
        Condition(type="Available", status=Status.FALSE, reason="Deleted", message=message),
        Condition(type="Health", status=Status.TRUE, reason="NoIssues", message=message),
        Condition(type="Finalized", status=Status.TRUE, reason="Deleted", message=message),
    )


def stage_of(work: ManifestWork, status: HostedClusterStatus) -> Stage:
    deleting = work.status.condition("Deleting")
    taken_up = deleting is not None and deleting.status is Status.TRUE
    if taken_up and status.present is False:
        return Stage.OBJECT_GONE
    if status.says(DESTROYED, Status.TRUE):
        return Stage.TORN_DOWN
    if status.deletion_requested_at is not None:
        return Stage.FINALIZERS_RUNNING
    return Stage.INITIATED if taken_up else Stage.REQUESTED


def _progress(stage: Stage, work: ManifestWork, status: HostedClusterStatus, now: datetime) -> str:
    assert work.deleted_at is not None
    elapsed = how_long(work.deleted_at, now)
    match stage:
        case Stage.REQUESTED:
            return f"Deletion was sent to {work.consumer} {elapsed} ago; its agent has not taken it up yet"
        case Stage.INITIATED:
            return f"Deletion was taken up on {work.consumer}; it began {elapsed} ago"
        case Stage.FINALIZERS_RUNNING:
            return sentence(
                f"HostedCluster is being finalized on {work.consumer}, deletion began {elapsed} ago", *_left(status)
            )
        case Stage.TORN_DOWN:
            destroyed = status.condition(DESTROYED)
            words = destroyed.message if destroyed else ""
            return sentence(
                f"Control plane is torn down; the HostedCluster is kept on {work.consumer} to be read", words
            )
        case Stage.OBJECT_GONE:
            return f"HostedCluster is gone from {work.consumer}; its agent has yet to confirm that nothing is left"


def _left(status: HostedClusterStatus) -> list[str]:
    """What the finalizers still wait for, as far as it is known."""
    finalizers = f"finalizers: {', '.join(status.finalizers)}" if status.finalizers else ""
    cloud = status.condition(CLOUD_RESOURCES_DESTROYED)
    return [finalizers, words_of(cloud) if cloud is not None and cloud.status is not Status.TRUE else ""]


def _health(stage: Stage, work: ManifestWork, status: HostedClusterStatus, now: datetime, limits: Limits) -> Condition:
    if _is_stuck(work, status, now, limits):
        message = sentence(_progress(stage, work, status, now), remedy=_REMEDY[stage](work))
        return Condition(type="Health", status=Status.FALSE, reason="DeletionStuck", message=message)
    cloud = status.condition(CLOUD_RESOURCES_DESTROYED)
    if cloud is not None and cloud.status is Status.FALSE and cloud.reason in _GIVEN_UP:
        message = sentence(words_of(cloud), remedy="what is left in the cloud project has to be removed by hand")
        return Condition(type="Health", status=Status.FALSE, reason=cloud.reason, message=message)
    if stage is Stage.REQUESTED and seconds_since(_deleted_at(work), now) >= limits.agent_silence:
        message = sentence(_progress(stage, work, status, now), remedy=_REMEDY[stage](work))
        return Condition(type="Health", status=Status.UNKNOWN, reason="AgentSilent", message=message)
    return Condition(type="Health", status=Status.TRUE, reason="NoIssues", message="Deletion is in progress")


def _is_stuck(work: ManifestWork, status: HostedClusterStatus, now: datetime, limits: Limits) -> bool:
    """Torn down is a new beginning: the object is kept on purpose then, for a time of its own."""
    destroyed = status.condition(DESTROYED)
    since = _deleted_at(work)
    if destroyed is not None and destroyed.status is Status.TRUE and destroyed.last_transition_time is not None:
        since = max(since, destroyed.last_transition_time)
    return seconds_since(since, now) >= limits.deletion


def _deleted_at(work: ManifestWork) -> datetime:
    assert work.deleted_at is not None
    return work.deleted_at


def _check_agent(work: ManifestWork) -> str:
    return f"check that the Maestro agent of {work.consumer} runs and reaches Maestro"


def _restart_agent(work: ManifestWork) -> str:
    return f"restart the Maestro agent of {work.consumer}: now and then it misses the end, and a new one tells it"


def _check_operator(work: ManifestWork) -> str:
    return (
        f"look on {work.consumer} at the HyperShift operator's log and at what is left in the control plane's "
        "namespace; take a finalizer off by hand only when its resources are gone"
    )


_REMEDY: dict[Stage, Callable[[ManifestWork], str]] = {
    Stage.REQUESTED: _check_agent,
    Stage.INITIATED: _check_operator,
    Stage.FINALIZERS_RUNNING: _check_operator,
    Stage.TORN_DOWN: _check_operator,
    Stage.OBJECT_GONE: _restart_agent,
}
