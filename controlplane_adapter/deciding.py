"""What to do about a cluster's ManifestWork: pure, from what is wanted and what is there to one small plan.

Nothing here reads or writes. A plan that writes carries the work to send, with the version that was observed, so that
whoever wrote in between is noticed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from controlplane_adapter.hostedcluster import value_at
from controlplane_adapter.immutability import Change, immutable_changes
from controlplane_adapter.rendering import IMAGE
from controlplane_adapter.versions import UpgradeKind, upgrade_kind
from controlplane_adapter.work import generation_of, hosted_cluster_in, owner_labels
from shared.errors import Problem
from shared.maestro.bundles import differences
from shared.manifestwork import Json, ManifestWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What this generation of the cluster asks for. `work` is None where the spec is not valid, or all is to go."""

    cluster_id: str
    generation: int
    deleting: bool
    node_pools: int | None
    work: ManifestWork | None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What is true in Maestro right now."""

    work: ManifestWork | None
    consumer_known: bool


@dataclass(frozen=True, slots=True)
class Create:
    work: ManifestWork


@dataclass(frozen=True, slots=True)
class Update:
    work: ManifestWork
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeaveAlone:
    """Nothing is to be done; `superseded` where a newer generation is already there."""

    superseded: bool = False


@dataclass(frozen=True, slots=True)
class Refuse:
    """It must not be done. What is there stays as it is."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Ask for the work to go, again where that was asked before."""


@dataclass(frozen=True, slots=True)
class AwaitSuccession:
    """A former work of that name is still going; the new one comes after it."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Nothing is left, as was wanted."""


Plan = Create | Update | LeaveAlone | Refuse | Delete | AwaitSuccession | Gone


def decide(wanted: Wanted, observed: Observed) -> Plan:
    work = observed.work
    if work is not None and not work.has_labels(owner_labels(wanted.cluster_id)):
        return Refuse("NotOwned", _not_owned(work, wanted))
    if work is not None and generation_of(work) > wanted.generation:
        return LeaveAlone(superseded=True)
    if wanted.deleting:
        return _decide_deletion(wanted, work)
    if wanted.problems:
        return Refuse("InvalidSpec", "; ".join(map(str, wanted.problems)))
    assert wanted.work is not None
    if work is None:
        return _decide_creation(wanted.work, observed)
    if work.deleting:
        return AwaitSuccession()
    return _decide_change(work, wanted.work)


def _decide_deletion(wanted: Wanted, work: ManifestWork | None) -> Plan:
    """Node pools go first: theirs would be made again, and the API forgets a cluster that is finalized before them."""
    if work is not None and work.deleting:
        return Delete()
    if wanted.node_pools is None:
        return Refuse("NodePoolsUnknown", "the snapshot does not say how many node pools are left, and they go first")
    if wanted.node_pools:
        return Refuse("NodePoolsExist", f"{wanted.node_pools} node pool(s) still exist and must go first")
    return Gone() if work is None else Delete()


def _decide_creation(work: ManifestWork, observed: Observed) -> Plan:
    if not observed.consumer_known:
        return Refuse("UnknownManagementCluster", f"management cluster {work.consumer!r} is not registered in Maestro")
    return Create(work)


def _decide_change(stored: ManifestWork, wanted: ManifestWork) -> Plan:
    before, after = hosted_cluster_in(stored), hosted_cluster_in(wanted)
    if before is not None and after is not None:
        if changes := immutable_changes(before, after):
            return Refuse("ImmutableFieldChanged", _told(changes))
        if refusal := _refused_version(before, after):
            return refusal
    changed = differences(stored, wanted)
    if not changed:
        return LeaveAlone()
    return Update(replace(wanted, generation=stored.generation), tuple(changed))


def _refused_version(before: Json, after: Json) -> Refuse | None:
    old, new = (str(value_at(each, IMAGE)) for each in (before, after))
    if upgrade_kind(old, new) is not UpgradeKind.MINOR_DOWNGRADE:
        return None
    return Refuse("DowngradeRefused", f"{old} → {new}: a control plane cannot go back to an earlier minor version")


def _told(changes: Sequence[Change]) -> str:
    return "; ".join(f"{each.path} cannot change from {each.old!r} to {each.new!r}" for each in changes)


def _not_owned(work: ManifestWork, wanted: Wanted) -> str:
    labels = ", ".join(f"{key}={value}" for key, value in owner_labels(wanted.cluster_id).items())
    return (
        f"ManifestWork {work.name!r} on {work.consumer} lacks the labels {labels}: it is somebody else's and left alone"
    )
