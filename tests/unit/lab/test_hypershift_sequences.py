"""The simulated operator: the real order of steps, restarts, and scripts with failures."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.hypershift.conditions import NO_QUORUM, ConditionText
from lab.hypershift.sequences import (
    FINALIZER,
    GRACE_PERIOD,
    HAS_BEEN_AVAILABLE,
    TAKES,
    Moment,
    Script,
    Step,
    next_step,
    preparation,
    written,
)
from tests.support.hosted_clusters import as_stored, hosted_cluster, played

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
INSTALLATION = [
    Moment.SEEN,
    Moment.CONTROL_PLANE_CREATED,
    Moment.INFRASTRUCTURE_READY,
    Moment.ETCD_STARTING,
    Moment.API_SERVER_STARTING,
    Moment.COMPONENTS_STARTING,
    Moment.AVAILABLE,
    Moment.INSTALLED,
]

Cluster = dict[str, Any]


@pytest.fixture
def cluster() -> Cluster:
    return as_stored(hosted_cluster("demo"))


@pytest.fixture
def installed(cluster: Cluster) -> Cluster:
    return played(cluster, Moment.INSTALLED, now=NOW)


def all_steps(cluster: Cluster, script: Script | None = None) -> Iterator[tuple[Step, Cluster]]:
    """Every step until there is nothing more to write, each with the object after it."""
    now = NOW
    while (step := next_step(cluster, script or Script(), now)) and not step.removes_finalizer:
        now += timedelta(seconds=step.takes)
        cluster = {**cluster, "status": written(cluster, step, now)}
        yield step, cluster


def moments(cluster: Cluster, script: Script | None = None) -> list[Moment]:
    return [step.moment for step, _ in all_steps(cluster, script)]


def condition(cluster: Cluster, type_: str) -> dict[str, Any]:
    return next(each for each in cluster["status"]["conditions"] if each["type"] == type_)


def test_an_installation_goes_through_all_its_moments_and_rests(cluster: Cluster) -> None:
    assert moments(cluster) == INSTALLATION


@pytest.mark.parametrize("stopped_at", INSTALLATION)
def test_an_operator_that_was_stopped_goes_on_where_it_was(stopped_at: Moment, cluster: Cluster) -> None:
    assert moments(played(cluster, stopped_at, now=NOW)) == INSTALLATION[INSTALLATION.index(stopped_at) + 1 :]


def test_the_host_of_the_endpoint_is_empty_before_the_infrastructure_is_ready(cluster: Cluster) -> None:
    hosts = [after["status"]["controlPlaneEndpoint"]["host"] for _, after in all_steps(cluster)]
    assert hosts[:3] == ["", "", "api.demo.hypershift.local"]


def test_the_control_plane_is_available_before_its_roll_out_is_complete(cluster: Cluster) -> None:
    available = played(cluster, Moment.AVAILABLE, now=NOW)
    assert condition(available, "Available")["status"] == "True"
    assert condition(available, "Degraded")["status"] == "True"
    assert [each["state"] for each in available["status"]["controlPlaneVersion"]["history"]] == ["Partial"]


def test_progressing_is_false_during_an_installation(cluster: Cluster) -> None:
    assert {condition(after, "Progressing")["status"] for _, after in all_steps(cluster)} == {"False"}


def test_the_time_of_a_condition_moves_only_with_its_status(cluster: Cluster) -> None:
    times_ = {condition(after, "ValidConfiguration")["lastTransitionTime"] for _, after in all_steps(cluster)}
    assert len(times_) == 1
    degraded = [condition(after, "Degraded") for _, after in all_steps(cluster)]
    assert len({(each["status"], each["lastTransitionTime"]) for each in degraded}) == 3


def test_what_the_object_lacks_is_added_and_what_it_has_is_kept(cluster: Cluster) -> None:
    assert preparation(cluster) == {"metadata": {"finalizers": [FINALIZER]}}
    del cluster["spec"]["clusterID"], cluster["spec"]["infraID"]
    assert preparation(cluster)["spec"].keys() == {"clusterID", "infraID"}


def test_a_control_plane_that_was_available_is_marked_for_ever(installed: Cluster) -> None:
    assert installed["metadata"]["annotations"] == {HAS_BEEN_AVAILABLE: "true"}


def test_an_upgrade_is_taken_up_rolled_out_and_complete(installed: Cluster) -> None:
    installed["spec"] = hosted_cluster("demo", "4.22.1")["spec"]
    steps = list(all_steps(installed))
    assert [step.moment for step, _ in steps] == [Moment.UPGRADE_TAKEN_UP, Moment.ROLLING_OUT, Moment.ROLLED_OUT]
    histories = [
        [(each["state"], each["version"]) for each in after["status"]["controlPlaneVersion"]["history"]]
        for _, after in steps
    ]
    assert histories == [
        [("Completed", "4.22.0")],
        [("Partial", "4.22.1"), ("Completed", "4.22.0")],
        [("Completed", "4.22.1"), ("Completed", "4.22.0")],
    ]
    assert {condition(after, "Available")["status"] for _, after in steps} == {"True"}


def test_a_blocked_upgrade_waits_and_goes_on_when_it_may(installed: Cluster) -> None:
    installed["spec"] = hosted_cluster("demo", "4.23.0")["spec"]
    [(_, blocked)] = all_steps(installed, Script(upgrade_blocked="not upgradeable"))
    assert condition(blocked, "Progressing")["reason"] == "Blocked"
    assert Moment.ROLLED_OUT in moments(blocked)


def test_a_validation_that_fails_is_reported_and_nothing_is_built(cluster: Cluster) -> None:
    bad = {"ValidReleaseImage": ConditionText("False", "InvalidImage", "manifest unknown")}
    [(_, failing)] = all_steps(cluster, Script(failing=bad))
    assert condition(failing, "Available")["message"] == "ValidReleaseImage condition is false: manifest unknown"
    assert moments(failing) == INSTALLATION


TROUBLES = [
    ("degraded", Script(degraded="etcd is slow"), "Degraded", ("True", "UnavailableReplicas")),
    ("out", Script(outage=NO_QUORUM), "Available", ("False", "EtcdWaitingForQuorum")),
    (
        "misconfigured",
        Script(failing={"ValidConfiguration": ConditionText("False", "InvalidConfiguration", "x509")}),
        "ValidConfiguration",
        ("False", "InvalidConfiguration"),
    ),
]


@pytest.mark.parametrize(
    ("script", "type_", "expected"), [row[1:] for row in TROUBLES], ids=[row[0] for row in TROUBLES]
)
def test_a_running_cluster_falls_ill_and_recovers(
    script: Script, type_: str, expected: tuple[str, str], installed: Cluster
) -> None:
    ill = played(installed, Moment.SETTLED, script=script, now=NOW)
    assert (condition(ill, type_)["status"], condition(ill, type_)["reason"]) == expected
    recovered = played(ill, Moment.SETTLED, now=NOW)
    assert condition(recovered, type_)["status"] == condition(installed, type_)["status"]
    assert next_step(recovered, Script(), NOW) is None


def deleted(cluster: Cluster, **annotations: str) -> Cluster:
    metadata = {**cluster["metadata"], "deletionTimestamp": "2026-11-16T13:00:00Z", "annotations": annotations}
    return {**cluster, "metadata": metadata}


def test_a_deletion_removes_cloud_resources_and_then_the_finalizer(installed: Cluster) -> None:
    going = deleted(installed)
    assert moments(going) == [Moment.DELETION_TAKEN_UP, Moment.CLOUD_RESOURCES_GONE]
    [*_, (_, torn_down)] = all_steps(going)
    last = next_step(torn_down, Script(), NOW)
    assert last is not None
    assert last.removes_finalizer


def test_a_deletion_with_grace_is_kept_readable_for_as_long(installed: Cluster) -> None:
    going = deleted(installed, **{GRACE_PERIOD: "5m0s"})
    assert moments(going) == [Moment.DELETION_TAKEN_UP, Moment.CLOUD_RESOURCES_GONE, Moment.TORN_DOWN]
    [*_, (_, torn_down)] = all_steps(going)
    last = next_step(torn_down, Script(), NOW)
    assert last is not None
    assert (last.moment, last.takes) == (Moment.FINALIZED, 300)


def test_a_deletion_that_is_held_is_stuck(installed: Cluster) -> None:
    held = Script(hold_before=Moment.CLOUD_RESOURCES_GONE)
    assert moments(deleted(installed), held) == [Moment.DELETION_TAKEN_UP]


def test_an_object_that_goes_without_the_operators_finalizer_is_left_alone(installed: Cluster) -> None:
    going = deleted(installed)
    going["metadata"]["finalizers"] = []
    assert next_step(going, Script(), NOW) is None


def test_every_moment_takes_a_time() -> None:
    assert TAKES.keys() == set(Moment)


@given(
    st.lists(st.sampled_from(["4.22.0", "4.22.1", "4.23.0", "4.23.4"]), min_size=1, max_size=5),
    st.sampled_from([Script(), Script(degraded="slow"), Script(outage=NO_QUORUM)]),
)
def test_every_life_comes_to_rest_with_the_wanted_release_completed(versions: list[str], script: Script) -> None:
    cluster = as_stored(hosted_cluster("demo"))
    for version in versions:
        cluster["spec"] = hosted_cluster("demo", version)["spec"]
        for _, after in all_steps(cluster, script):
            cluster = after
        newest = cluster["status"]["controlPlaneVersion"]["history"][0]
        assert (newest["state"], newest["version"]) == ("Completed", version)
