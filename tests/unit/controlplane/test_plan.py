"""What is done about a cluster's work: one row per case, and what holds in every case there is."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from controlplane_adapter.hostedcluster.model import place
from controlplane_adapter.reconcile.desire import Desired
from controlplane_adapter.reconcile.observe import Observed
from controlplane_adapter.reconcile.plan import (
    AwaitDeletion,
    Create,
    Delete,
    Gone,
    LeaveAlone,
    Plan,
    Refuse,
    Update,
    decide,
)
from controlplane_adapter.work.manifestwork import owner_labels, work_for
from shared.errors import Problem
from shared.model.manifestwork import ManifestWork

CLUSTER_ID = "019466a0-8f8e-7abc-9def-0123456789ab"
CONSUMER = "us-east-mgmt-01"
RELEASE = "quay.io/openshift-release-dev/ocp-release:{}-multi"
IMAGE, REGION, NETWORK = "spec.release.image", "spec.platform.gcp.region", "spec.networking.clusterNetwork"
ASKED_TO_GO = datetime(2026, 1, 1, tzinfo=UTC)
VERSION_IN_MAESTRO = 7
PROBLEMS = (Problem("spec.gcp_project_id", "is required"), Problem("spec.gcp_region", "must be a region"))


def manifest(**changes: Any) -> dict[str, Any]:
    """A HostedCluster; a change is written with `__` for the dots of its path."""
    hosted_cluster: dict[str, Any] = {
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedCluster",
        "metadata": {"name": "demo", "namespace": "clusters"},
        "spec": {"release": {"image": RELEASE.format("4.22.3")}, "platform": {"type": "GCP"}},
    }
    for path, value in ({REGION.replace(".", "__"): "us-central1"} | changes).items():
        place(hosted_cluster, path.replace("__", "."), value)
    return hosted_cluster


def work(generation: int = 2, **changes: Any) -> ManifestWork:
    return work_for(manifest(**changes), cluster_id=CLUSTER_ID, consumer=CONSUMER, generation=generation)


def stored(generation: int = 2, **changes: Any) -> ManifestWork:
    """The work as Maestro has it."""
    return replace(work(generation, **changes), generation=VERSION_IN_MAESTRO, uid="an-id")


def going(generation: int = 2) -> ManifestWork:
    return replace(stored(generation), deleted_at=ASKED_TO_GO)


def foreign(**labels: str) -> ManifestWork:
    return replace(stored(), labels=labels)


def observed(*works: ManifestWork | None) -> Observed:
    present = [each for each in works if each is not None]
    ours = [each for each in present if each.has_labels(owner_labels(CLUSTER_ID))]
    return Observed(works=tuple(ours), foreign=tuple(each for each in present if each not in ours))


def wanted(generation: int = 2, **changes: Any) -> Desired:
    return Desired(
        cluster_id=CLUSTER_ID, generation=generation, deleting=False, node_pools=0, hosted_cluster=manifest(**changes)
    )


def invalid(generation: int = 2) -> Desired:
    return replace(wanted(generation), hosted_cluster=None, problems=PROBLEMS)


def unwanted(node_pools: int | None = 0, generation: int = 2) -> Desired:
    return Desired(
        cluster_id=CLUSTER_ID, generation=generation, deleting=True, node_pools=node_pools, hosted_cluster=None
    )


@dataclass(frozen=True)
class Updated:
    """An update of what is stored to this work."""

    work: ManifestWork
    changed: tuple[str, ...]


def update(*changed: str, generation: int = 2, **changes: Any) -> Updated:
    return Updated(work(generation, **changes), changed)


Expected = Plan | Updated | tuple[str, ...]
Row = tuple[str, Desired, ManifestWork | None, Expected]

# A plan is expected as a whole; a refusal by its reason and by parts of its message.
WANTED_ROWS: list[Row] = [
    ("a cluster without a work gets one", wanted(), None, Create(manifest())),
    ("an invalid cluster gets none", invalid(), None, ("InvalidSpec", "spec.gcp_project_id: is required; spec.gcp_region: must be a region")),
    ("a work that is as desired is left alone", wanted(), stored(), LeaveAlone()),
    ("a node pool does not matter to a cluster that stays", replace(wanted(), node_pools=2), stored(), LeaveAlone()),
    ("an unknown number of node pools does not matter either", replace(wanted(), node_pools=None), stored(), LeaveAlone()),
    ("an invalid change leaves what is there alone", invalid(), stored(), ("InvalidSpec", "spec.gcp_project_id")),
    ("a newer generation without a change is written down", wanted(3), stored(2), update("labels", "annotations", generation=3)),
    ("a patch upgrade is an update", wanted(3, spec__release__image=RELEASE.format("4.22.4")), stored(2), update("labels", "annotations", "manifests", generation=3, spec__release__image=RELEASE.format("4.22.4"))),
    ("a minor upgrade is an update", wanted(2, spec__release__image=RELEASE.format("4.23.0")), stored(), update("manifests", spec__release__image=RELEASE.format("4.23.0"))),
    ("a patch downgrade is an update", wanted(2, spec__release__image=RELEASE.format("4.22.1")), stored(), update("manifests", spec__release__image=RELEASE.format("4.22.1"))),
    ("an image by digest is an update", wanted(2, spec__release__image="mirror.example.com/release@sha256:1f"), stored(), update("manifests", spec__release__image="mirror.example.com/release@sha256:1f")),
    ("a minor downgrade is refused", wanted(3, spec__release__image=RELEASE.format("4.21.9")), stored(2), ("DowngradeRefused", "4.22.3", "4.21.9")),
    ("another region is refused", wanted(3, spec__platform__gcp__region="us-east1"), stored(2), ("ImmutableFieldChanged", REGION, "'us-central1'", "'us-east1'")),
    ("a network that was not there is refused", wanted(3, spec__networking__clusterNetwork=[{"cidr": "10.0.0.0/14"}]), stored(2), ("ImmutableFieldChanged", NETWORK, "10.0.0.0/14")),
    ("all that cannot change is reported at once", wanted(3, spec__platform__gcp__region="us-east1", metadata__name="other"), stored(2), ("ImmutableFieldChanged", REGION, "metadata.name")),
    ("what cannot change is reported before a downgrade", wanted(3, spec__platform__gcp__region="us-east1", spec__release__image=RELEASE.format("4.21.9")), stored(2), ("ImmutableFieldChanged", REGION)),
    ("a work without a HostedCluster gets one", wanted(), replace(stored(), manifests=()), update("manifests")),
    ("a HostedCluster without a release gets one", wanted(), stored(spec__release={}), update("manifests")),
    ("another update strategy is put right", wanted(), replace(stored(), manifest_configs=()), update("manifestConfigs")),
    ("another way of deletion is put right", wanted(), replace(stored(), delete_option={"propagationPolicy": "Orphan"}), update("deleteOption")),
    ("a previous work that is going is waited for", wanted(3), going(2), AwaitDeletion()),
    ("an invalid cluster is reported while a previous work is going", invalid(3), going(2), ("InvalidSpec", "spec.gcp_region")),
    ("a newer generation is not overwritten", wanted(1), stored(2), LeaveAlone(superseded=True)),
    ("an invalid older generation is not reported any more", invalid(1), stored(2), LeaveAlone(superseded=True)),
    ("a newer generation that is going is not brought back", wanted(1), going(2), LeaveAlone(superseded=True)),
    ("a work that does not say its generation is brought up", wanted(), replace(stored(), annotations={}), update("annotations")),
    ("the label does not tell the generation", wanted(), replace(stored(), labels={**stored().labels, "hyperfleet.io/generation": "99"}), update("labels")),
    ("a work without our labels is somebody else's", wanted(), foreign(), ("NotOwned", "hyperfleet.io/adapter=controlplane", CONSUMER)),
    ("a work of another cluster is somebody else's", wanted(), foreign(**{"hyperfleet.io/cluster-id": "another", "hyperfleet.io/adapter": "controlplane"}), ("NotOwned", CLUSTER_ID)),
    ("a work of another adapter is somebody else's", wanted(), foreign(**{"hyperfleet.io/cluster-id": CLUSTER_ID, "hyperfleet.io/adapter": "dns"}), ("NotOwned", "adapter=controlplane")),
    ("whose it is comes before which generation it is", wanted(1), foreign(), ("NotOwned",)),
    ("whose it is comes before whether the cluster is valid", invalid(), foreign(), ("NotOwned",)),
]  # fmt: skip

UNWANTED_ROWS: list[Row] = [
    ("a cluster that shall go and has no work is gone", unwanted(), None, Gone()),
    ("a cluster that shall go is deleted", unwanted(), stored(), Delete()),
    ("a cluster that shall go is deleted whatever its spec is", replace(unwanted(), problems=PROBLEMS), stored(), Delete()),
    ("a cluster that shall go and is going is asked for again", unwanted(), going(), Delete()),
    ("nothing is deleted while there are node pools", unwanted(2), stored(), ("NodePoolsExist", "2 node pool(s)")),
    ("nothing is deleted while nobody knows of node pools", unwanted(None), stored(), ("NodePoolsUnknown", "nodepools.total")),
    ("a deletion that has begun goes on though there are node pools", unwanted(2), going(), Delete()),
    ("a deletion that has begun goes on though nobody knows of node pools", unwanted(None), going(), Delete()),
    ("a cluster without a work is not gone while there are node pools", unwanted(2), None, ("NodePoolsExist", "2 node pool(s)")),
    ("a cluster without a work is not gone while nobody knows of node pools", unwanted(None), None, ("NodePoolsUnknown",)),
    ("an older request to delete does not reach a newer generation", unwanted(0, generation=1), stored(2), LeaveAlone(superseded=True)),
    ("a later request to delete reaches an older generation", unwanted(0, generation=3), stored(2), Delete()),
    ("somebody else's work is not deleted", unwanted(), foreign(), ("NotOwned", "not ours")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("desired", "there", "expected"),
    [pytest.param(*row[1:], id=row[0]) for row in (*WANTED_ROWS, *UNWANTED_ROWS)],
)
def test_what_is_done(desired: Desired, there: ManifestWork | None, expected: Expected) -> None:
    plan = decide(desired, observed(there))

    match expected:
        case Updated(work=sent, changed=changed):
            assert there is not None
            assert plan == Update(there, sent, changed)
        case (reason, *message):
            assert isinstance(plan, Refuse)
            assert plan.reason == reason
            for each in message:
                assert each in "; ".join((*plan.problems, plan.remedy))
        case _:
            assert plan == expected


def elsewhere(work: ManifestWork) -> ManifestWork:
    return replace(work, consumer="us-east-mgmt-02", uid="another-id")


DUPLICATES = {
    "two of ours": observed(stored(), elsewhere(stored())),
    "one of ours and one of another source": observed(stored(), elsewhere(foreign())),
    "one of ours and one that is being deleted": observed(stored(), elsewhere(going())),
}


@pytest.mark.parametrize("seen", DUPLICATES.values(), ids=DUPLICATES)
@pytest.mark.parametrize(
    "desired", [wanted(3, spec__channel="x"), invalid(), wanted()], ids=["changed", "invalid", "same"]
)
def test_of_two_works_none_is_changed_and_both_are_named(seen: Observed, desired: Desired) -> None:
    plan = decide(desired, seen)

    assert isinstance(plan, Refuse)
    assert plan.reason == "DuplicateManifestWorks"
    assert CONSUMER in plan.problems[0]
    assert "us-east-mgmt-02" in plan.problems[0]
    assert "maestro-cli delete" in plan.remedy


def test_of_two_works_of_ours_both_are_deleted() -> None:
    assert decide(unwanted(), DUPLICATES["two of ours"]) == Delete()


def test_a_cluster_is_not_gone_while_a_work_of_another_source_is_left() -> None:
    plan = decide(unwanted(), observed(foreign()))

    assert isinstance(plan, Refuse)
    assert plan.reason == "NotOwned"


def test_a_second_work_is_not_deleted_before_the_node_pools_because_the_first_is() -> None:
    plan = decide(unwanted(node_pools=2), observed(going(), elsewhere(stored())))

    assert isinstance(plan, Refuse)
    assert plan.reason == "NodePoolsExist"


def test_a_mistake_of_the_platform_alone_is_not_called_one_of_the_spec() -> None:
    setting, overlay = Problem("HOSTED_CLUSTER_LABELS", "is bad"), Problem("overlay.spec.x", "is bad")
    alone = decide(replace(invalid(), problems=(setting, overlay)), observed(stored()))
    both = decide(replace(invalid(), problems=(setting, *PROBLEMS)), observed(stored()))

    assert isinstance(alone, Refuse)
    assert isinstance(both, Refuse)
    assert (alone.reason, both.reason) == ("AdapterError", "InvalidSpec")


CHANGES: dict[str, dict[str, Any]] = {
    "no difference": {},
    "a difference": {"spec__release__image": RELEASE.format("4.22.9")},
    "a downgrade": {"spec__release__image": RELEASE.format("4.20.0")},
    "an immutable change": {"spec__platform__gcp__region": "europe-west1"},
}
WORKS: dict[str, ManifestWork | None] = {
    "none": None,
    "older": stored(1),
    "same": stored(2),
    "newer": stored(3),
    "older and going": going(1),
    "same and going": going(2),
    "newer and going": going(3),
    "not owned": foreign(),
    "not owned and going": replace(foreign(), deleted_at=ASKED_TO_GO),
}


def every_case() -> Iterator[tuple[Desired, Observed]]:
    for there, change, node_pools in itertools.product(WORKS.values(), CHANGES.values(), (0, 2, None)):
        for desired in (wanted(**change), invalid(), unwanted(node_pools)):
            yield replace(desired, node_pools=node_pools), observed(there)


def test_every_case_there_is_keeps_the_promises() -> None:
    cases = list(every_case())
    assert len(cases) == len(WORKS) * len(CHANGES) * 3 * 3
    for desired, seen in cases:
        keeps_the_promises(desired, seen.reported, decide(desired, seen))


def keeps_the_promises(desired: Desired, there: ManifestWork | None, plan: Plan) -> None:
    ours = there is not None and bool(there.labels)
    newer = there is not None and int(there.annotations["hyperfleet.io/generation"]) > desired.generation
    match plan:
        case Create(hosted_cluster=sent):
            assert there is None
            assert not desired.deleting
            assert sent == desired.hosted_cluster
        case Update(stored=stored, changed=changed):
            assert there is not None
            assert ours
            assert not any((newer, there.deleting, desired.deleting))
            assert stored is there, "sent with the version that was observed"
            assert changed
        case Delete():
            assert there is not None
            assert ours
            assert desired.deleting
            assert not newer
            assert there.deleting or desired.node_pools == 0
        case Gone():
            assert there is None
            assert desired.deleting
            assert desired.node_pools == 0
        case AwaitDeletion():
            assert there is not None
            assert there.deleting
            assert not desired.deleting
        case LeaveAlone(superseded=superseded):
            assert ours
            assert superseded == newer
        case Refuse(reason=reason, problems=problems, remedy=remedy):
            assert reason
            assert problems
            assert remedy
            assert (reason == "NotOwned") == (there is not None and not ours)
