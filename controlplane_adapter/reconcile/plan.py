"""What to do about a cluster's ManifestWork: pure, from the desired and the observed state to one plan.

An update carries the stored work beside the new one: its version makes Maestro refuse the write where somebody else
wrote in between.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from controlplane_adapter.hostedcluster.immutability import immutable_changes
from controlplane_adapter.hostedcluster.model import IMAGE, value_at
from controlplane_adapter.hostedcluster.versions import UpgradeKind, upgrade_kind
from controlplane_adapter.reconcile import refusals
from controlplane_adapter.reconcile.desire import Desired
from controlplane_adapter.reconcile.observe import Observed
from controlplane_adapter.work.manifestwork import generation_of, hosted_cluster_in, work_for
from shared.maestro import differences
from shared.model.manifestwork import Json, ManifestWork


@dataclass(frozen=True, slots=True)
class Create:
    """Create a work with this HostedCluster, on the management cluster that placement chooses."""

    hosted_cluster: Json


@dataclass(frozen=True, slots=True)
class Update:
    """Replace the content of the stored work by that of `work`; `changed` names the parts that differ."""

    stored: ManifestWork
    work: ManifestWork
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeaveAlone:
    """Nothing to do; `superseded` where a newer generation is already there."""

    superseded: bool = False


@dataclass(frozen=True, slots=True)
class Refuse:
    """The generation must not be applied. What is there stays as it is."""

    reason: str
    problems: tuple[str, ...]
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Delete:
    """Request the deletion of the work, again where that is due."""


@dataclass(frozen=True, slots=True)
class AwaitDeletion:
    """The previous work of this name is still being deleted; the new one is created after it."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Nothing is left of a deleted cluster."""


Plan = Create | Update | LeaveAlone | Refuse | Delete | AwaitDeletion | Gone


def decide(desired: Desired, observed: Observed) -> Plan:
    work = observed.work
    if work is None and observed.foreign:
        return Refuse("NotOwned", *refusals.not_owned(observed.foreign, desired.cluster_id))
    if work is not None and generation_of(work) > desired.generation:
        return LeaveAlone(superseded=True)
    if desired.deleting:
        return _decide_deletion(desired, observed.works)
    if len(observed.works) + len(observed.foreign) > 1:
        return Refuse("DuplicateManifestWorks", *refusals.duplicates(observed))
    if desired.problems:
        return Refuse(*refusals.invalid(desired.problems))
    assert desired.hosted_cluster is not None
    if work is None:
        return Create(desired.hosted_cluster)
    if work.deleting:
        return AwaitDeletion()
    return _decide_change(work, desired, desired.hosted_cluster)


def _decide_deletion(desired: Desired, works: Sequence[ManifestWork]) -> Plan:
    """Node pools go first: their works would recreate them, and the API never evaluates a finalized cluster again."""
    if works and all(work.deleting for work in works):
        return Delete()
    if desired.node_pools is None:
        return Refuse("NodePoolsUnknown", *refusals.node_pools_unknown())
    if desired.node_pools:
        return Refuse("NodePoolsExist", *refusals.node_pools_exist(desired.node_pools))
    return Delete() if works else Gone()


def _decide_change(stored: ManifestWork, desired: Desired, after: Json) -> Plan:
    before = hosted_cluster_in(stored)
    if before is not None:
        if changes := immutable_changes(before, after):
            return Refuse("ImmutableFieldChanged", *refusals.immutable(changes, desired.origins))
        old, new = (str(value_at(each, IMAGE)) for each in (before, after))
        if upgrade_kind(old, new) is UpgradeKind.MINOR_DOWNGRADE:
            return Refuse("DowngradeRefused", *refusals.downgrade(old, new, desired.origins))
    work = work_for(after, cluster_id=desired.cluster_id, consumer=stored.consumer, generation=desired.generation)
    changed = differences(stored, work)
    return Update(stored, work, tuple(changed)) if changed else LeaveAlone()
