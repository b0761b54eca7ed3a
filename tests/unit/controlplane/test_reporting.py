"""What the report says of each plan and of each error."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from controlplane_adapter import failures
from controlplane_adapter.acting import Result
from controlplane_adapter.deciding import AwaitSuccession, Create, Delete, Gone, LeaveAlone, Plan, Refuse, Update
from controlplane_adapter.limits import Limits
from controlplane_adapter.reporting import report_of, report_of_failure
from controlplane_adapter.work import work_for
from shared import errors
from shared.conditions import Condition, Status
from shared.errors import HyperFleetError, Problem
from shared.manifestwork import ManifestStatus, ManifestWork, WorkStatus
from shared.report import AdapterReport

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
CONSUMER = "us-east-mgmt-01"
IMAGE = "quay.io/openshift-release-dev/ocp-release:4.22.0-multi"
HOSTED_CLUSTER: dict[str, Any] = {
    "kind": "HostedCluster",
    "metadata": {"name": "demo", "namespace": "clusters"},
    "spec": {"release": {"image": IMAGE}},
}
READY: dict[str, Any] = {
    "conditions": [
        {"type": type_, "status": status, "lastTransitionTime": "2026-11-01T00:00:00Z"}
        for type_, status in (("Available", "True"), ("Degraded", "False"))
    ],
    "controlPlaneEndpoint": {"host": "api.demo.example.com", "port": 443},
    "controlPlaneVersion": {"history": [{"state": "Completed", "version": "4.22.0", "image": IMAGE}]},
}

SENT = replace(
    work_for(HOSTED_CLUSTER, cluster_id="an-id", consumer=CONSUMER, generation=3), generation=5, created_at=NOW
)


def answered(status: Status, *, words: str = "", feedback: Any = None) -> ManifestWork:
    """The work once its agent has spoken of it."""
    verdict = Condition(type="Applied", status=status, message=words, observed_generation=SENT.generation)
    there = Condition(type="Available", status=status)
    hosted_cluster = ManifestStatus(
        group="hypershift.openshift.io",
        kind="HostedCluster",
        name="demo",
        namespace="clusters",
        conditions=(verdict, there),
        feedback={"status": feedback} if feedback else {},
    )
    return replace(SENT, status=WorkStatus(conditions=(verdict,), manifests=(hosted_cluster,), sequence_id=1))


CONFIRMED = answered(Status.TRUE)
RUNNING = answered(Status.TRUE, feedback=READY)
REFUSED = answered(Status.FALSE, words='Unsupported value: "GCP"')
GOING = replace(RUNNING, deleted_at=NOW - timedelta(seconds=40))


def report(plan: Plan, work: ManifestWork | None, *, deleting: bool = False) -> AdapterReport:
    return report_of(Result(plan=plan, work=work), generation=3, deleting=deleting, limits=Limits(), now=NOW)


def summary(told: AdapterReport) -> dict[str, str]:
    return {each.type: f"{each.status.value} {each.reason}" for each in told.conditions}


Row = tuple[str, Plan, ManifestWork | None, dict[str, str]]

PROVISIONING = {"Available": "False Provisioning", "Health": "Unknown FeedbackMissing"}
WITHOUT_STATUS = {"Available": "False FeedbackMissing", "Health": "Unknown FeedbackMissing"}
SOUND = {"Available": "True ControlPlaneReady", "Health": "True NoIssues"}


def nothing_there(reason: str) -> dict[str, str]:
    return dict.fromkeys(("Applied", "Available", "Health"), f"False {reason}")


STAYING: list[Row] = [
    ("created and not yet confirmed", Create(SENT), SENT, {"Applied": "True ManifestWorkCreated", **PROVISIONING}),
    ("created and confirmed", Create(SENT), CONFIRMED, {"Applied": "True ManifestWorkCreated", **WITHOUT_STATUS}),
    ("created and refused there", Create(SENT), REFUSED, {"Applied": "False AppliedManifestWorkFailed", "Available": "False NotApplied", "Health": "Unknown NotApplied"}),
    ("updated and not yet confirmed", Update(SENT, ("manifests",)), SENT, {"Applied": "True ManifestWorkUpdated", **PROVISIONING}),
    ("updated and running", Update(SENT, ("manifests",)), RUNNING, {"Applied": "True ManifestWorkUpdated", **SOUND}),
    ("updated and refused there", Update(SENT, ("manifests",)), REFUSED, {"Applied": "False AppliedManifestWorkFailed", "Available": "False NotApplied", "Health": "Unknown NotApplied"}),
    ("left alone and running", LeaveAlone(), RUNNING, {"Applied": "True ManifestWorkExists", **SOUND}),
    ("left alone without a status", LeaveAlone(), CONFIRMED, {"Applied": "True ManifestWorkExists", **WITHOUT_STATUS}),
    ("superseded while it runs", LeaveAlone(superseded=True), RUNNING, {"Applied": "False Superseded", **SOUND}),
    ("superseded while it goes", LeaveAlone(superseded=True), GOING, {"Applied": "False Superseded", "Available": "False Deleting", "Health": "True NoIssues"}),
    ("refused while it runs", Refuse("ImmutableFieldChanged", "no"), RUNNING, {"Applied": "False ImmutableFieldChanged", **SOUND}),
    ("refused while it goes", Refuse("InvalidSpec", "no"), GOING, {"Applied": "False InvalidSpec", "Available": "False Deleting", "Health": "True NoIssues"}),
    ("refused with nothing there", Refuse("InvalidSpec", "no"), None, nothing_there("InvalidSpec")),
    ("waiting for a former work to go", AwaitSuccession(), GOING, nothing_there("FormerWorkDeleting")),
]  # fmt: skip

LEAVING: list[Row] = [
    ("deleted and not yet gone", Delete(), GOING, {"Applied": "True ManifestWorkExists", "Available": "False Deleting", "Health": "True NoIssues", "Finalized": "False DeletionRequested"}),
    ("asked to go and not yet going", Delete(), RUNNING, {"Applied": "True ManifestWorkExists", **SOUND, "Finalized": "False ManifestWorkExists"}),
    ("kept for its node pools", Refuse("NodePoolsExist", "no"), RUNNING, {"Applied": "False NodePoolsExist", **SOUND, "Finalized": "False NodePoolsExist"}),
    ("gone before its node pools", Refuse("NodePoolsExist", "no"), None, {**nothing_there("NodePoolsExist"), "Finalized": "False NodePoolsExist"}),
    ("somebody else's", Refuse("NotOwned", "no"), RUNNING, {"Applied": "False NotOwned", **SOUND, "Finalized": "False NotOwned"}),
    ("superseded", LeaveAlone(superseded=True), RUNNING, {"Applied": "False Superseded", **SOUND, "Finalized": "False Superseded"}),
    ("gone", Gone(), None, {"Applied": "False Deleted", "Available": "False Deleted", "Health": "True NoIssues", "Finalized": "True Deleted"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("plan", "work", "deleting", "expected"),
    [
        pytest.param(plan, work, deleting, expected, id=f"{'leaving' if deleting else 'staying'}: {title}")
        for deleting, rows in ((False, STAYING), (True, LEAVING))
        for title, plan, work, expected in rows
    ],
)
def test_each_plan_is_told(plan: Plan, work: ManifestWork | None, deleting: bool, expected: dict[str, str]) -> None:  # noqa: FBT001 - a column of the table
    assert summary(report(plan, work, deleting=deleting)) == expected


def test_only_what_is_gone_is_finalized() -> None:
    finalized = {title for title, *_, expected in LEAVING if expected["Finalized"].startswith("True")}

    assert finalized == {"gone"}


def test_a_work_that_was_sent_says_that_it_is_not_yet_confirmed() -> None:
    told = report(Create(SENT), SENT)

    assert "not yet confirmed" in told.conditions[0].message


def test_a_refusal_is_told_in_its_own_words() -> None:
    told = report(Refuse("ImmutableFieldChanged", "spec.x cannot change"), RUNNING)

    assert told.conditions[0].message == "spec.x cannot change"


def test_what_a_management_cluster_refused_is_told_with_its_remedy() -> None:
    told = report(Create(SENT), REFUSED)

    assert 'Unsupported value: "GCP"' in told.conditions[0].message
    assert "TechPreviewNoUpgrade" in told.conditions[0].message


def test_every_condition_says_since_when_and_the_report_of_which_generation() -> None:
    told = report(LeaveAlone(), RUNNING)

    assert {each.last_transition_time for each in told.conditions} == {NOW}
    assert told.observed_generation == 3


def test_the_data_say_what_runs_where() -> None:
    assert report(LeaveAlone(), RUNNING).data == {
        "control_plane_endpoint": "https://api.demo.example.com:443",
        "version": "4.22.0",
        "desired_version": "4.22.0",
        "management_cluster": CONSUMER,
        "manifest_work": "hostedcluster-an-id",
        "hosted_cluster": "clusters/demo",
    }


def test_the_data_are_there_before_anything_is_known() -> None:
    data = report(Create(SENT), SENT).data

    assert (data["control_plane_endpoint"], data["version"], data["desired_version"]) == ("", "", "")
    assert data["management_cluster"] == CONSUMER


@pytest.mark.parametrize(
    ("manifests", "named"),
    [
        ((), ""),
        (({"kind": "HostedCluster"},), ""),
        (({"kind": "HostedCluster", "metadata": {"name": "demo"}},), "demo"),
    ],
    ids=["no HostedCluster", "one without metadata", "one without a namespace"],
)
def test_a_work_that_somebody_spoiled_is_reported_all_the_same(
    manifests: tuple[dict[str, Any], ...], named: str
) -> None:
    told = report(Refuse("NotOwned", "no"), replace(SENT, manifests=manifests))

    assert told.data["hosted_cluster"] == named


def test_nothing_is_told_of_a_work_that_is_not_there() -> None:
    assert report(Gone(), None, deleting=True).data == {}


ERRORS: dict[HyperFleetError, tuple[Status, str]] = {
    errors.Unavailable("x"): (Status.UNKNOWN, "MaestroError"),
    errors.DeadlineExceeded("x"): (Status.UNKNOWN, "MaestroError"),
    errors.ServerError("x"): (Status.UNKNOWN, "MaestroError"),
    errors.Misconfigured("x"): (Status.FALSE, "AdapterError"),
    errors.Invalid("x"): (Status.FALSE, "InvalidSpec"),
    errors.InvalidReport("x"): (Status.FALSE, "InvalidSpec"),
    errors.TooLarge("x"): (Status.FALSE, "MaestroError"),
    errors.NotFound("x"): (Status.FALSE, "MaestroError"),
    errors.UnknownConsumer("x"): (Status.FALSE, "UnknownManagementCluster"),
    errors.AlreadyExists("x"): (Status.FALSE, "MaestroError"),
    errors.Conflict("x"): (Status.FALSE, "MaestroError"),
    errors.Deleting("x"): (Status.FALSE, "MaestroError"),
    errors.NotOwned("x"): (Status.FALSE, "NotOwned"),
    errors.Unauthenticated("x"): (Status.FALSE, "MaestroError"),
    errors.Forbidden("x"): (Status.FALSE, "MaestroError"),
    failures.Stopped("x"): (Status.UNKNOWN, "AdapterStopped"),
    failures.OutOfTime("x"): (Status.UNKNOWN, "AdapterTimeout"),
    failures.Surprised("x"): (Status.FALSE, "AdapterError"),
    failures.PlacementUnavailable("x"): (Status.UNKNOWN, "PlacementError"),
    failures.NoManagementCluster("x"): (Status.FALSE, "NoManagementCluster"),
}


def test_no_error_is_forgotten_here() -> None:
    kinds = {
        kind
        for module in (errors, failures)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, HyperFleetError) and not kind.__name__.startswith("_")
    }
    above = {HyperFleetError, errors.Transient, errors.Permanent}

    assert {type(each) for each in ERRORS} == kinds - above


@pytest.mark.parametrize(("error", "expected"), ERRORS.items(), ids=[type(each).__name__ for each in ERRORS])
def test_each_error_is_told(error: HyperFleetError, expected: tuple[Status, str]) -> None:
    status, reason = expected

    told = report_of_failure(error, generation=3, deleting=False, now=NOW)

    assert summary(told) == {
        "Applied": f"{status} {reason}",
        "Available": f"{status} Unknown",
        "Health": f"{status} AdapterError",
    }
    assert {each.last_transition_time for each in told.conditions} == {NOW}
    assert told.observed_generation == 3


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_no_error_finalizes_a_cluster(error: HyperFleetError) -> None:
    told = report_of_failure(error, generation=3, deleting=True, now=NOW)

    finalized = told.conditions[-1]
    assert finalized.type == "Finalized"
    assert finalized.status is not Status.TRUE
    assert finalized.reason == told.conditions[0].reason


def test_an_error_is_told_with_its_cause_and_its_remedy() -> None:
    error = errors.Invalid("refused", [Problem("spec.x", "is bad"), Problem("spec.y", "is worse")], remedy="do better")

    told = report_of_failure(error, generation=None, deleting=False, now=NOW)

    assert {each.message for each in told.conditions} == {"refused: spec.x: is bad; spec.y: is worse (do better)"}
    assert told.observed_generation is None
