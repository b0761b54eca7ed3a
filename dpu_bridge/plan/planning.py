"""The plan of one bridge.

    bound? ─▶ image? ─▶ secrets ─▶ MetalLB ─▶ HostedCluster, NodePool ─▶ kubeconfig ─▶ certificate requests ─▶ Ready

A step that cannot be done stops those that build on it, and nothing else: a control plane that is there is looked
after even while its upgrade or its DPUCluster is in trouble.
"""

from dataclasses import replace
from datetime import datetime

from dpu_bridge.api.conditions import (
    ALL,
    APPROVING,
    BOUND,
    CLEANUP,
    CONTROL_PLANE,
    INJECTED,
    READY,
)
from dpu_bridge.api.kinds import FINALIZER
from dpu_bridge.plan.actions import DELETING, Notice, Patch, Plan
from dpu_bridge.plan.binding import Binding, binding, deleted_too
from dpu_bridge.plan.deletion import Removal, cleanup_condition, not_deleting, removal
from dpu_bridge.plan.mirroring import lasting_degradation, mirrored, reported, version_of
from dpu_bridge.plan.observed import Observed, PlanSettings
from dpu_bridge.plan.step import Step, blocked, done, waiting
from dpu_bridge.plan.steps import (
    NO_NODE,
    approving_step,
    control_plane_step,
    image_step,
    kubeconfig_step,
    metallb_step,
    secrets_step,
)
from shared.model.conditions import Condition, Status, find

# How soon a deletion is looked at again, for the case that no event announces its end.
DELETION_SECONDS = 30.0
# No event says that a file of the pod was changed, or that a node became ready.
FILE_SECONDS = 300.0
NODE_SECONDS = 30.0


def plan(observed: Observed, settings: PlanSettings) -> Plan:
    bridge = observed.bridge
    if bridge.deleted is not None:
        return _deletion(observed, settings, bridge.deleted)
    if not bridge.is_held:
        return _hold(observed)
    bound = binding(observed)
    if bound.is_missing and bridge.deletes_with_dpu_cluster and not removal(observed).is_complete:
        return _teardown(observed, settings)
    return _provision(observed, settings, bound)


def _hold(observed: Observed) -> Plan:
    """The finalizer comes first: nothing is created that could be left behind."""
    bridge = observed.bridge
    finalizers = [*bridge.finalizers, FINALIZER]
    body = {"metadata": {"resourceVersion": bridge.resource_version, "finalizers": finalizers}}
    ready = Condition(type=READY, status=Status.FALSE, reason="Accepted", message="The bridge is taken up")
    conditions = _complete((ready, *mirrored(None), not_deleting()))
    return Plan(
        actions=(Patch(bridge.ref, body),),
        conditions=conditions,
        members=_members(observed, phase="Pending"),
    )


def _deletion(observed: Observed, settings: PlanSettings, since: datetime) -> Plan:
    bridge = observed.bridge
    left = removal(observed)
    if not left.is_complete:
        return _removing(observed, settings, left, since)
    if not bridge.is_held:
        return Plan(actions=(), conditions=())
    others = [each for each in bridge.finalizers if each != FINALIZER]
    body = {"metadata": {"resourceVersion": bridge.resource_version, "finalizers": others}}
    succeeded = Notice(reason="Succeeded", message="HostedClusterCleanup: nothing of the control plane is left")
    return Plan(actions=(Patch(bridge.ref, body),), conditions=(), notices=(succeeded,))


def _removing(observed: Observed, settings: PlanSettings, left: Removal, since: datetime) -> Plan:
    """`HostedClusterCleanup` is reported as an event too when it fails."""
    cleanup = cleanup_condition(observed, settings, left, since)
    before = find(reported({"status": observed.bridge.previous}), CLEANUP)
    is_news = cleanup.reason == "Failed" and (before is None or before.reason != "Failed")
    notices = (Notice(reason="CleanupFailed", message=cleanup.message, is_warning=True),) if is_news else ()
    ready = Condition(type=READY, status=Status.FALSE, reason="Deleting", message=cleanup.message)
    until_failed = settings.cleanup_timeout - (observed.now - since).total_seconds()
    return Plan(
        actions=left.actions,
        conditions=_complete((ready, *mirrored(observed.hosted_cluster), cleanup)),
        members=_members(observed, phase=DELETING),
        notices=notices,
        look_again=min(DELETION_SECONDS, until_failed) if until_failed > 0 else DELETION_SECONDS,
    )


def _teardown(observed: Observed, settings: PlanSettings) -> Plan:
    """The control plane goes with its DPUCluster; the bridge stays, and binds a DPUCluster that comes back."""
    before = find(reported({"status": observed.bridge.previous}), BOUND)
    started = before.last_transition_time if before and before.status is Status.FALSE else None
    removing = _removing(observed, settings, removal(observed), started or observed.now)
    bound = deleted_too(observed.bridge.dpu_cluster)
    refused = blocked(BOUND, bound.reason, bound.message).condition
    others = tuple(each for each in removing.conditions if each.type != BOUND)
    return replace(removing, conditions=(*others, refused))


def _provision(observed: Observed, settings: PlanSettings, bound: Binding) -> Plan:
    steps = _steps(observed, settings, bound)
    degraded, look_again = lasting_degradation(observed.hosted_cluster, settings.grace_periods, observed.now)
    conditions = tuple(step.condition for step in steps)
    ready, phase = _verdict(observed, conditions, degraded)
    members: dict[str, object] = {}
    for step in steps:
        members |= step.members
    return Plan(
        actions=tuple(action for step in steps for action in step.actions),
        conditions=_complete((ready, *mirrored(observed.hosted_cluster), *conditions, not_deleting())),
        members=_members(observed, phase=phase) | members,
        look_again=min(filter(None, (look_again, _unannounced(observed, conditions))), default=None),
    )


def _unannounced(observed: Observed, conditions: tuple[Condition, ...]) -> float:
    """In how many seconds to look for changes that no event announces; 0 where there can be none."""
    if any(each.reason == NO_NODE for each in conditions):
        return NODE_SECONDS
    return FILE_SECONDS if observed.bridge.ssh_key.file or observed.bridge.pull_secret.file else 0.0


def _steps(observed: Observed, settings: PlanSettings, bound: Binding) -> list[Step]:
    """A control plane that is there is looked after without a DPUCluster too; a new one is not begun without it."""
    bind = _bound_step(bound)
    image, found = image_step(observed, settings)
    exists = observed.hosted_cluster is not None
    if not exists and not bound.is_ours:
        return [bind, image]
    if not exists and found is None:
        return [bind, image]
    secrets = secrets_step(observed)
    steps = [bind, image, secrets]
    if not exists and not secrets.is_done:
        return steps
    steps.append(metallb_step(observed, settings))
    if not exists and not steps[-1].is_done:
        return steps
    steps.append(control_plane_step(observed, found))
    if bound.is_ours and bound.claim is None:
        steps += [kubeconfig_step(observed), approving_step(observed)]
    return steps


def _bound_step(bound: Binding) -> Step:
    if not bound.is_ours:
        return blocked(BOUND, bound.reason, bound.message)
    return done(BOUND, bound.reason, bound.message, *([bound.claim] if bound.claim else []))


def _verdict(observed: Observed, conditions: tuple[Condition, ...], degraded: str) -> tuple[Condition, str]:
    """Ready, and the phase: the first thing that is wrong decides."""
    failed = [each for each in conditions if each.status is Status.FALSE and each.type != APPROVING]
    if failed:
        return _ready(failed[0].reason, failed[0].message), "Failed"
    available = find(mirrored(observed.hosted_cluster), "HostedClusterAvailable")
    if available is None or available.status is not Status.TRUE:
        message = f"Waiting for the control plane: {available.message}" if available else "Waiting"
        return _ready("ControlPlaneNotAvailable", message), "Provisioning"
    if degraded:
        return _ready("Degraded", degraded), "Degraded"
    for type_ in (CONTROL_PLANE, INJECTED, APPROVING):
        found = find(conditions, type_)
        if found is None or found.status is not Status.TRUE:
            reason, message = (found.reason, found.message) if found else ("Waiting", f"Waiting for {type_}")
            return _ready(reason, message), "Provisioning"
    ready = Condition(type=READY, status=Status.TRUE, reason="AsExpected", message="DPUs can join the hosted cluster")
    return ready, "Ready"


def _ready(reason: str, message: str) -> Condition:
    return Condition(type=READY, status=Status.FALSE, reason=reason, message=message)


def _members(observed: Observed, *, phase: str) -> dict[str, object]:
    members: dict[str, object] = {"phase": phase, "observedGeneration": observed.bridge.generation}
    if version := version_of(observed.hosted_cluster):
        members["version"] = version
    return members


def _complete(conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """Every condition that a bridge can have is there; one that no step spoke about is Unknown."""
    present = {each.type for each in conditions}
    absent = [type_ for type_ in ALL if type_ not in present]
    return (*conditions, *(waiting(type_, "Waiting", "Waiting for earlier steps").condition for type_ in absent))
