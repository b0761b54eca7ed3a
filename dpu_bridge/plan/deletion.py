"""How a control plane is removed: DPF lets go first, then HyperShift deletes, then the rest follows.

    unbind the DPUCluster, remove its kubeconfig ─▶ HostedCluster ─▶ NodePool ─▶ Secrets, ConfigMap ─▶ MetalLB ─▶ done

A stage begins when nothing of the one before is left. Only our own objects are deleted, and nothing else has to exist.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from dpu_bridge.api.conditions import CLEANUP
from dpu_bridge.plan.actions import Action, Delete
from dpu_bridge.plan.binding import release
from dpu_bridge.plan.observed import Observed, PlanSettings
from dpu_bridge.render.ownership import is_owned
from dpu_bridge.render.secrets import kubeconfig_name
from shared.kubernetes import Object, ObjectRef, uid_of
from shared.model.conditions import Condition, Status

_MINUTE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """`waits_for` names what is still there; nothing is left when it is empty and there are no actions.

    `held_by` are the finalizers of that.
    """

    actions: tuple[Action, ...] = ()
    waits_for: tuple[str, ...] = ()
    held_by: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        return not self.actions and not self.waits_for


def removal(observed: Observed) -> Removal:
    unbinding = release(observed, kubeconfig=kubeconfig_name(observed.bridge))
    if unbinding:
        return Removal(actions=(unbinding, *_deletions(observed, [observed.injected_kubeconfig])))
    for stage in _stages(observed):
        left = [each for each in stage if each is not None and is_owned(observed.bridge, each)]
        if left:
            return Removal(
                actions=tuple(_deletions(observed, left)),
                waits_for=tuple(str(ObjectRef.of(each)) for each in left),
                held_by=tuple(name for each in left for name in each["metadata"].get("finalizers") or ()),
            )
    return Removal()


def cleanup_condition(observed: Observed, settings: PlanSettings, left: Removal, since: datetime) -> Condition:
    taken = (observed.now - since).total_seconds()
    names = ", ".join(left.waits_for) or f"DPUCluster {'/'.join(observed.bridge.dpu_cluster)}"
    if taken < settings.cleanup_timeout:
        return _cleanup("InProgress", f"Waiting for the deletion of {names}")
    holders = f", and at what holds it: {', '.join(left.held_by)}" if left.held_by else ""
    lasted = f"{taken / 60:.0f} min" if taken >= _MINUTE else f"{taken:.0f} s"
    remedy = f"look at its events and status{holders}; it is tried again"
    return _cleanup("Failed", f"After {lasted} these are still there: {names}; {remedy}")


def not_deleting() -> Condition:
    return _cleanup("NotRequested", "The bridge is not being deleted", status=Status.UNKNOWN)


def _cleanup(reason: str, message: str, *, status: Status = Status.FALSE) -> Condition:
    return Condition(type=CLEANUP, status=status, reason=reason, message=message)


def _stages(observed: Observed) -> Iterator[list[Object | None]]:
    yield [observed.injected_kubeconfig]
    yield [observed.hosted_cluster]
    yield [observed.node_pool]
    yield [observed.machine_config, observed.pull_secret_copy, observed.ssh_key_copy, observed.encryption_key]
    yield [observed.advertisement, observed.address_pool]


def _deletions(observed: Observed, objects: Sequence[Object | None]) -> Iterator[Delete]:
    for each in objects:
        if each is not None and is_owned(observed.bridge, each) and not each["metadata"].get("deletionTimestamp"):
            yield Delete(ObjectRef.of(each), uid_of(each))
