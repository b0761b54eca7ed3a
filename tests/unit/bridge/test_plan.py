"""The plan of a bridge, one row per situation: what is there, what is done, what is said."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from dpu_bridge.api.bridge import bridge_of
from dpu_bridge.api.conditions import ALL, BOUND, DOCUMENTED, INJECTED, METALLB, MIRRORED, READY, SECRETS
from dpu_bridge.api.kinds import FINALIZER
from dpu_bridge.plan import ApproverState, Contender, Material, Observed, Patch, Plan, plan
from shared.model.conditions import Status
from tests.support.bridges import (
    NOW,
    SETTINGS,
    bridge_object,
    changed,
    condition,
    described,
    dpu_cluster,
    fresh,
    settled,
    stored,
)

KUBECONFIG_SECRET = "dpu-a89d48-kubeconfig"


def actions_of(made: Plan) -> list[str]:
    return [described(action) for action in made.actions]


def reasons(made: Plan) -> dict[str, str]:
    return {each.type: each.reason for each in made.conditions}


def statuses(made: Plan) -> dict[str, Status]:
    return {each.type: each.status for each in made.conditions}


def message(made: Plan, type_: str) -> str:
    return next(each.message for each in made.conditions if each.type == type_)


CREATION = [
    "patch DPUCluster",
    "apply Secret dpu-pull-secret",
    "apply Secret dpu-ssh-key",
    "create encryption key",
    "apply IPAddressPool",
    "apply L2Advertisement",
    "apply ConfigMap dpu-bluefield-image",
    "apply HostedCluster",
    "apply NodePool",
]


def test_the_finalizer_comes_before_anything_is_made() -> None:
    observed = fresh(metadata={"finalizers": ["somebody/else"]})
    made = plan(observed, SETTINGS)
    [action] = made.actions
    assert isinstance(action, Patch)
    assert action.body["metadata"] == {"resourceVersion": "7", "finalizers": ["somebody/else", FINALIZER]}


def test_a_new_bridge_makes_everything_in_order() -> None:
    made = plan(fresh(), SETTINGS)
    assert actions_of(made) == CREATION
    assert made.members["phase"] == "Provisioning"


def test_a_control_plane_by_node_ports_needs_no_metallb() -> None:
    made = plan(fresh(exposeThroughLoadBalancer=False, metalLBVirtualIP=None), SETTINGS)
    assert actions_of(made) == CREATION[:4] + CREATION[6:]
    assert reasons(made)[METALLB] == "NotNeeded"


def test_a_settled_bridge_does_nothing_and_is_ready() -> None:
    made = plan(settled(fresh()), SETTINGS)
    assert actions_of(made) == []
    assert statuses(made)[READY] is Status.TRUE
    assert made.members["phase"] == "Ready"
    assert made.look_again is None


BLOCKED: dict[str, tuple[Callable[[Observed], Observed], str, str, list[str]]] = {
    "the DPUCluster is not there": (lambda o: replace(o, dpu_cluster=None), BOUND, "DPUClusterMissing", []),
    "DPF is not installed": (
        lambda o: replace(o, dpu_cluster=None, unserved=frozenset({"DPUCluster"})),
        BOUND,
        "DPFNotInstalled",
        [],
    ),
    "the DPUCluster is kamaji's": (
        lambda o: replace(o, dpu_cluster=dpu_cluster(type_="kamaji")),
        BOUND,
        "ClusterTypeInvalid",
        [],
    ),
    "the DPUCluster has another type": (
        lambda o: replace(o, dpu_cluster=dpu_cluster(type_="static")),
        BOUND,
        "ClusterTypeInvalid",
        [],
    ),
    "an older bridge has the DPUCluster": (
        lambda o: replace(o, contenders=(*o.contenders, Contender(NOW - timedelta(days=9), "z", ("a", "older")))),
        BOUND,
        "DPUClusterInUse",
        [],
    ),
    "a younger bridge has already claimed it": (
        lambda o: replace(
            o,
            dpu_cluster=dpu_cluster(claim="a/younger"),
            contenders=(*o.contenders, Contender(NOW, "z", ("a", "younger"))),
        ),
        BOUND,
        "DPUClusterInUse",
        [],
    ),
    "there is no ConfigMap of images": (
        lambda o: replace(o, images=None),
        "BlueFieldContainerImageAvailable",
        "ConfigMapNotFound",
        CREATION[:1],
    ),
    "there is no image for the version": (
        lambda o: replace(o, images={"4.21.9": "r/i:1"}),
        "BlueFieldContainerImageAvailable",
        "VersionNotFound",
        CREATION[:1],
    ),
    "the pull secret is missing": (
        lambda o: replace(o, pull_secret=Material(problem="no", reason="SecretNotFound")),
        SECRETS,
        "SecretNotFound",
        CREATION[:1],
    ),
    "the copy's name belongs to somebody else": (
        lambda o: replace(o, ssh_key_copy=stored({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "x"}})),
        SECRETS,
        "NotOwned",
        CREATION[:1],
    ),
    "MetalLB is not installed": (
        lambda o: replace(o, unserved=frozenset({"IPAddressPool"})),
        METALLB,
        "MetalLBNotInstalled",
        CREATION[:4],
    ),
    "HyperShift is not installed": (
        lambda o: replace(o, unserved=frozenset({"HostedCluster"})),
        "ControlPlaneApplied",
        "HyperShiftNotInstalled",
        CREATION[:6],
    ),
    "a HostedCluster of that name belongs to somebody else": (
        lambda o: replace(
            o,
            hosted_cluster=stored(
                {"kind": "HostedCluster", "apiVersion": "v1", "metadata": {"name": "dpu"}, "spec": {}},
            ),
            encryption_key=settled(o).encryption_key,
        ),
        "ControlPlaneApplied",
        "NotOwned",
        [*CREATION[:3], *CREATION[4:6]],
    ),
}


@pytest.mark.parametrize("row", BLOCKED)
def test_what_blocks_a_bridge_is_named_and_nothing_is_made_that_builds_on_it(row: str) -> None:
    change, type_, reason, expected = BLOCKED[row]
    made = plan(change(fresh()), SETTINGS)
    assert (reasons(made)[type_], statuses(made)[type_]) == (reason, Status.FALSE)
    assert actions_of(made) == expected
    assert made.members["phase"] == "Failed"
    assert statuses(made)[READY] is Status.FALSE


def test_a_missing_image_is_reported_with_the_versions_that_exist() -> None:
    made = plan(replace(fresh(), images={"4.9.0": "r/i:1", "4.21.9": "r/i:2", "4.21.10": "r/i:3"}), SETTINGS)
    assert "it has: 4.9.0, 4.21.9, 4.21.10;" in message(made, "BlueFieldContainerImageAvailable")


def test_the_oldest_bridge_wins_and_does_not_notice_others() -> None:
    younger = Contender(NOW, "a", ("a", "younger"))
    observed = replace(settled(fresh()), contenders=(younger, *fresh().contenders))
    assert statuses(plan(observed, SETTINGS))[READY] is Status.TRUE


def test_of_two_bridges_of_one_second_the_claim_decides() -> None:
    observed = fresh()
    other = Contender(observed.bridge.created, "aaa", ("a", "other"))
    both = replace(observed, contenders=(*observed.contenders, other))
    assert reasons(plan(both, SETTINGS))[BOUND] == "DPUClusterInUse"
    claimed = replace(both, dpu_cluster=dpu_cluster(claim="clusters/dpu"))
    assert reasons(plan(claimed, SETTINGS))[BOUND] == "Bound"


def test_a_claim_of_a_bridge_that_is_gone_does_not_hold() -> None:
    made = plan(replace(fresh(), dpu_cluster=dpu_cluster(claim="a/gone")), SETTINGS)
    assert actions_of(made) == CREATION


DRIFT: dict[str, tuple[Callable[[Observed], Observed], list[str]]] = {
    "the pull secret changed": (
        lambda o: replace(o, pull_secret=Material(data="bmV3")),
        ["apply Secret dpu-pull-secret"],
    ),
    "the SSH key changed": (lambda o: replace(o, ssh_key=Material(data="bmV3")), ["apply Secret dpu-ssh-key"]),
    "a copy was deleted": (lambda o: replace(o, ssh_key_copy=None), ["apply Secret dpu-ssh-key"]),
    "somebody changed the HostedCluster": (
        lambda o: replace(
            o, hosted_cluster=changed(o.hosted_cluster, "spec.infrastructureAvailabilityPolicy", "HighlyAvailable")
        ),
        ["apply HostedCluster"],
    ),
    "the NodePool was deleted": (lambda o: replace(o, node_pool=None), ["apply NodePool"]),
    "somebody changed the pool": (
        lambda o: replace(o, address_pool=changed(o.address_pool, "spec.addresses", ["192.0.2.0/24"])),
        ["apply IPAddressPool"],
    ),
    "the kubeconfig was renewed": (
        lambda o: replace(o, admin_kubeconfig=changed(o.admin_kubeconfig, "data.kubeconfig", "bmV3")),
        [f"apply Secret {KUBECONFIG_SECRET}"],
    ),
    "DPF's kubeconfig lost its key": (
        lambda o: replace(o, injected_kubeconfig=changed(o.injected_kubeconfig, "data", {})),
        [f"apply Secret {KUBECONFIG_SECRET}"],
    ),
    "the DPUCluster came back": (lambda o: replace(o, dpu_cluster=dpu_cluster()), ["patch DPUCluster"]),
    "the operator of before rendered other immutable fields": (
        lambda o: replace(o, hosted_cluster=changed(o.hosted_cluster, "spec.infraID", "dpu-older")),
        [],
    ),
    "HyperShift added fields": (
        lambda o: replace(o, hosted_cluster=changed(o.hosted_cluster, "spec.clusterID", "6d2e6a52")),
        [],
    ),
}


@pytest.mark.parametrize("row", DRIFT)
def test_drift_is_corrected_by_the_smallest_change(row: str) -> None:
    change, expected = DRIFT[row]
    assert actions_of(plan(change(settled(fresh())), SETTINGS)) == expected


def test_a_new_release_is_an_upgrade_that_blocks_nothing_else() -> None:
    before = settled(fresh())
    upgraded = fresh(ocpReleaseImage="registry.example.com/ocp-release:4.22.1-multi")
    made = plan(replace(before, bridge=upgraded.bridge, injected_kubeconfig=None), SETTINGS)
    assert actions_of(made) == [
        "apply ConfigMap dpu-bluefield-image",
        "apply HostedCluster",
        "apply NodePool",
        f"apply Secret {KUBECONFIG_SECRET}",
    ]


def test_an_upgrade_without_a_bluefield_image_waits_while_the_rest_goes_on() -> None:
    before = settled(fresh())
    upgraded = fresh(ocpReleaseImage="registry.example.com/ocp-release:4.23.0-multi")
    made = plan(replace(before, bridge=upgraded.bridge, node_pool=None), SETTINGS)
    assert actions_of(made) == ["apply NodePool"]
    assert "4.22.0-multi" in json.dumps(made.actions[0].manifest)  # type: ignore[union-attr]
    assert reasons(made)["BlueFieldContainerImageAvailable"] == "VersionNotFound"


def test_a_lost_encryption_key_is_reported_and_never_replaced() -> None:
    made = plan(replace(settled(fresh()), encryption_key=None), SETTINGS)
    assert actions_of(made) == []
    assert reasons(made)[SECRETS] == "EncryptionKeyLost"


def test_a_kubeconfig_of_somebody_else_is_not_replaced() -> None:
    foreign = dpu_cluster(claim="clusters/dpu", kubeconfig="mine")
    made = plan(replace(settled(fresh()), dpu_cluster=foreign), SETTINGS)
    assert (reasons(made)[INJECTED], actions_of(made)) == ("OtherKubeconfig", [])


def test_without_a_watch_for_certificate_requests_a_bridge_is_not_ready() -> None:
    broken = ApproverState(is_active=False, reason="HostedClusterNotReachable", message="refused")
    made = plan(replace(settled(fresh()), approver=broken), SETTINGS)
    assert reasons(made)[READY] == "HostedClusterNotReachable"
    assert made.members["phase"] == "Provisioning"


def test_all_conditions_are_there_from_the_beginning_and_the_fifteen_have_the_documents_names() -> None:
    assert len(DOCUMENTED) == 15
    for observed in (fresh(), fresh(metadata={"finalizers": []}), settled(fresh()), replace(fresh(), images=None)):
        listed = [each.type for each in plan(observed, SETTINGS).conditions]
        assert sorted(listed) == sorted(ALL)


def test_a_mirrored_condition_has_hypershifts_reason_and_message_and_a_missing_one_is_unknown() -> None:
    reported = [condition("EtcdAvailable", "False", reason="EtcdWaitingForQuorum", message="Waiting for quorum")]
    made = plan(settled(fresh(), conditions=reported), SETTINGS)
    assert reasons(made)["EtcdAvailable"] == "EtcdWaitingForQuorum"
    assert message(made, "EtcdAvailable") == "Waiting for quorum"
    absent = [name for type_, name in MIRRORED.items() if type_ != "EtcdAvailable"]
    assert {statuses(made)[name] for name in absent} == {Status.UNKNOWN}


@pytest.mark.parametrize(
    ("since", "phase", "look_again"),
    [
        pytest.param("2026-01-01T11:59:00Z", "Ready", 240, id="a rollout of a minute is no trouble"),
        pytest.param("2026-01-01T11:50:00Z", "Degraded", None, id="ten minutes are"),
    ],
)
def test_degraded_is_damped(since: str, phase: str, look_again: float | None) -> None:
    reported = [condition("Available", "True"), condition("Degraded", "True", since=since)]
    made = plan(settled(fresh(), conditions=reported), SETTINGS)
    assert (made.members["phase"], made.look_again) == (phase, look_again)


def deleting(minutes: float = 1, **facts: Any) -> Observed:
    since = (NOW - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return replace(settled(fresh(metadata={"deletionTimestamp": since})), **facts)


def unbound(**facts: Any) -> Observed:
    return deleting(dpu_cluster=dpu_cluster(), injected_kubeconfig=None, **facts)


GONE: dict[str, Any] = {"hosted_cluster": None, "node_pool": None}
REST: dict[str, Any] = {"machine_config": None, "pull_secret_copy": None, "ssh_key_copy": None, "encryption_key": None}
DELETION: dict[str, tuple[Observed, list[str]]] = {
    "first DPF lets go": (deleting(), ["patch DPUCluster", f"delete Secret {KUBECONFIG_SECRET}"]),
    "then the HostedCluster is deleted": (unbound(), ["delete HostedCluster"]),
    "then it is waited for": (
        unbound(hosted_cluster=changed(settled(fresh()).hosted_cluster, "metadata.deletionTimestamp", "2026")),
        [],
    ),
    "then the NodePool": (unbound(hosted_cluster=None), ["delete NodePool"]),
    "then Secrets and ConfigMap": (
        unbound(**GONE),
        [
            "delete ConfigMap dpu-bluefield-image",
            "delete Secret dpu-pull-secret",
            "delete Secret dpu-ssh-key",
            "delete Secret dpu-etcd-encryption-key",
        ],
    ),
    "then MetalLB's objects": (unbound(**GONE, **REST), ["delete L2Advertisement", "delete IPAddressPool"]),
    "at last the finalizer": (
        unbound(**GONE, **REST, address_pool=None, advertisement=None),
        ["patch DPUHCPBridge"],
    ),
    "nothing else has to be there": (
        replace(
            unbound(**GONE, **REST, address_pool=None, advertisement=None),
            dpu_cluster=None,
            images=None,
            unserved=frozenset({"DPUCluster", "IPAddressPool", "HostedCluster"}),
        ),
        ["patch DPUHCPBridge"],
    ),
    "an object of somebody else is left alone": (
        unbound(
            **GONE,
            **REST,
            advertisement=None,
            address_pool=changed(settled(fresh()).address_pool, "metadata.labels", {}),
        ),
        ["patch DPUHCPBridge"],
    ),
}


@pytest.mark.parametrize("row", DELETION)
def test_deletion_goes_in_order(row: str) -> None:
    observed, expected = DELETION[row]
    assert actions_of(plan(observed, SETTINGS)) == expected


def test_the_loser_of_a_dpucluster_leaves_it_alone_when_it_is_deleted() -> None:
    observed = deleting(dpu_cluster=dpu_cluster(claim="a/winner", kubeconfig="of-winner"), injected_kubeconfig=None)
    assert "patch DPUCluster" not in actions_of(plan(observed, SETTINGS))


def test_cleanup_is_in_progress_and_says_what_it_waits_for() -> None:
    made = plan(unbound(), SETTINGS)
    assert reasons(made)["HostedClusterCleanup"] == "InProgress"
    assert "HostedCluster clusters/dpu" in message(made, "HostedClusterCleanup")
    assert made.look_again


def test_cleanup_that_takes_too_long_has_failed_with_what_is_stuck_and_what_to_do() -> None:
    stuck = changed(settled(fresh()).hosted_cluster, "metadata.finalizers", ["hypershift.openshift.io/finalizer"])
    observed = deleting(45, dpu_cluster=None, injected_kubeconfig=None, hosted_cluster=stuck)
    made = plan(observed, SETTINGS)
    assert reasons(made)["HostedClusterCleanup"] == "Failed"
    said = message(made, "HostedClusterCleanup")
    assert "After 45 min" in said
    assert "hypershift.openshift.io/finalizer" in said
    assert [each.reason for each in made.notices] == ["CleanupFailed"]


def test_a_deleted_dpucluster_leaves_the_control_plane_and_says_what_to_do() -> None:
    made = plan(replace(settled(fresh()), dpu_cluster=None, node_pool=None), SETTINGS)
    assert reasons(made)[BOUND] == "DPUClusterDeleted"
    assert "Create the DPUCluster again" in message(made, BOUND)
    assert actions_of(made) == ["apply NodePool"]


def test_a_deleted_dpucluster_takes_the_control_plane_along_where_that_is_asked_for() -> None:
    observed = settled(fresh(onDPUClusterDeletion="Delete"))
    gone = replace(observed, dpu_cluster=None, injected_kubeconfig=None)
    assert actions_of(plan(gone, SETTINGS)) == ["delete HostedCluster"]
    assert actions_of(plan(replace(gone, **GONE), SETTINGS))[:1] == ["delete ConfigMap dpu-bluefield-image"]
    nothing = replace(gone, **GONE, **REST, address_pool=None, advertisement=None)
    made = plan(nothing, SETTINGS)
    assert (actions_of(made), reasons(made)[BOUND]) == ([], "DPUClusterMissing")


def test_dpf_being_uninstalled_does_not_count_as_a_deleted_dpucluster() -> None:
    observed = settled(fresh(onDPUClusterDeletion="Delete"))
    made = plan(replace(observed, dpu_cluster=None, unserved=frozenset({"DPUCluster"})), SETTINGS)
    assert not [each for each in actions_of(made) if each.startswith("delete")]


def test_names_that_make_no_namespace_are_refused() -> None:
    bridge = bridge_of(stored(bridge_object(name="d" * 60), finalizers=[FINALIZER]))
    observed = replace(fresh(), bridge=bridge, contenders=(Contender(bridge.created, bridge.uid, bridge.key),))
    assert reasons(plan(observed, SETTINGS))["ControlPlaneApplied"] == "NameTooLong"


def test_cleanup_is_looked_at_again_when_its_time_is_over() -> None:
    assert plan(unbound(), replace(SETTINGS, cleanup_timeout=1e9)).look_again == 30
    observed = deleting(1, dpu_cluster=None, injected_kubeconfig=None)
    assert plan(observed, replace(SETTINGS, cleanup_timeout=70)).look_again == 10


@pytest.mark.parametrize(
    ("observed", "seconds"),
    [
        pytest.param(settled(fresh()), None, id="events announce everything"),
        pytest.param(settled(fresh(sshKeySecretRef=None, sshKey="id_rsa.pub")), 300, id="a file"),
        pytest.param(
            replace(fresh(exposeThroughLoadBalancer=False, metalLBVirtualIP=None), node_address=""),
            30,
            id="no node is ready",
        ),
    ],
)
def test_what_no_event_announces_is_looked_at_again(observed: Observed, seconds: float | None) -> None:
    assert plan(observed, SETTINGS).look_again == seconds


def test_a_control_plane_that_goes_with_its_dpucluster_says_so_until_nothing_is_left() -> None:
    gone = replace(settled(fresh(onDPUClusterDeletion="Delete")), dpu_cluster=None, hosted_cluster=None)
    assert reasons(plan(gone, SETTINGS))["DPUClusterBound"] == "DPUClusterDeleted"
