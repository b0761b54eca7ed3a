"""What the report says of each plan and of each error."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from controlplane_adapter.reconcile import errors as failures
from controlplane_adapter.reconcile.carry_out import Result
from controlplane_adapter.reconcile.observe import Observed
from controlplane_adapter.reconcile.plan import AwaitDeletion, Create, Delete, Gone, LeaveAlone, Plan, Refuse, Update
from controlplane_adapter.status.report import build_failure_report, build_report
from controlplane_adapter.status.thresholds import Thresholds
from controlplane_adapter.work.manifestwork import work_for
from shared import errors
from shared.errors import HyperFleetError, Problem
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestStatus, ManifestWork, WorkStatus
from shared.model.report import AdapterReport

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


def answered(status: Status, *, message: str = "", feedback: Any = None) -> ManifestWork:
    """The work once its agent has spoken of it."""
    verdict = Condition(type="Applied", status=status, message=message, observed_generation=SENT.generation)
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
REFUSED = answered(Status.FALSE, message='Unsupported value: "GCP"')
GOING = replace(RUNNING, deleted_at=NOW - timedelta(seconds=40))


def report(plan: Plan, work: ManifestWork | None, *, deleting: bool = False) -> AdapterReport:
    return build_report(Result(plan=plan, work=work), generation=3, deleting=deleting, thresholds=Thresholds(), now=NOW)


def failed(
    error: HyperFleetError,
    *,
    work: ManifestWork | None = None,
    observed: Observed | None = None,
    generation: int | None = 3,
    deleting: bool = False,
) -> AdapterReport:
    return build_failure_report(
        error,
        observed=observed if work is None else Observed(works=(work,)),
        generation=generation,
        deleting=deleting,
        thresholds=Thresholds(),
        now=NOW,
    )


def summary(reported: AdapterReport) -> dict[str, str]:
    return {each.type: f"{each.status.value} {each.reason}" for each in reported.conditions}


Row = tuple[str, Plan, ManifestWork | None, dict[str, str]]

PROVISIONING = {"Available": "False Provisioning", "Health": "True NoIssues"}
SOUND = {"Available": "True ControlPlaneReady", "Health": "True NoIssues"}


def nothing_there(reason: str) -> dict[str, str]:
    return dict.fromkeys(("Applied", "Available", "Health"), f"False {reason}")


STAYING: list[Row] = [
    ("created and not yet confirmed", Create(HOSTED_CLUSTER), SENT, {"Applied": "True ManifestWorkCreated", **PROVISIONING}),
    ("created and confirmed", Create(HOSTED_CLUSTER), CONFIRMED, {"Applied": "True ManifestWorkCreated", **PROVISIONING}),
    ("created and refused there", Create(HOSTED_CLUSTER), REFUSED, {"Applied": "False AppliedManifestWorkFailed", "Available": "False NotApplied", "Health": "Unknown NotApplied"}),
    ("updated and not yet confirmed", Update(SENT, SENT, ("manifests",)), SENT, {"Applied": "True ManifestWorkUpdated", **PROVISIONING}),
    ("updated and running", Update(SENT, SENT, ("manifests",)), RUNNING, {"Applied": "True ManifestWorkUpdated", **SOUND}),
    ("updated and refused there", Update(SENT, SENT, ("manifests",)), REFUSED, {"Applied": "False AppliedManifestWorkFailed", "Available": "False NotApplied", "Health": "Unknown NotApplied"}),
    ("left alone and running", LeaveAlone(), RUNNING, {"Applied": "True ManifestWorkExists", **SOUND}),
    ("left alone without a status", LeaveAlone(), CONFIRMED, {"Applied": "True ManifestWorkExists", **PROVISIONING}),
    ("superseded while it runs", LeaveAlone(superseded=True), RUNNING, {"Applied": "False Superseded", **SOUND}),
    ("superseded while it goes", LeaveAlone(superseded=True), GOING, {"Applied": "False Superseded", "Available": "False Deleting", "Health": "True NoIssues"}),
    ("refused while it runs", Refuse("ImmutableFieldChanged", ("no",)), RUNNING, {"Applied": "False ImmutableFieldChanged", **SOUND}),
    ("refused while it goes", Refuse("InvalidSpec", ("no",)), GOING, {"Applied": "False InvalidSpec", "Available": "False Deleting", "Health": "True NoIssues"}),
    ("refused with nothing there", Refuse("InvalidSpec", ("no",)), None, nothing_there("InvalidSpec")),
    ("waiting for a previous work to go", AwaitDeletion(), GOING, nothing_there("FormerWorkDeleting")),
]  # fmt: skip

LEAVING: list[Row] = [
    ("deleted and not yet gone", Delete(), GOING, {"Applied": "True ManifestWorkExists", "Available": "False Deleting", "Health": "True NoIssues", "Finalized": "False DeletionRequested"}),
    ("asked to go and not yet going", Delete(), RUNNING, {"Applied": "True ManifestWorkExists", **SOUND, "Finalized": "False ManifestWorkExists"}),
    ("kept for its node pools", Refuse("NodePoolsExist", ("no",)), RUNNING, {"Applied": "False NodePoolsExist", **SOUND, "Finalized": "False NodePoolsExist"}),
    ("gone before its node pools", Refuse("NodePoolsExist", ("no",)), None, {**nothing_there("NodePoolsExist"), "Finalized": "False NodePoolsExist"}),
    ("somebody else's", Refuse("NotOwned", ("no",)), RUNNING, {"Applied": "False NotOwned", **SOUND, "Finalized": "False NotOwned"}),
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
def test_each_plan_is_reported(plan: Plan, work: ManifestWork | None, deleting: bool, expected: dict[str, str]) -> None:  # noqa: FBT001 - a column of the table
    assert summary(report(plan, work, deleting=deleting)) == expected


def test_only_what_is_gone_is_finalized() -> None:
    finalized = {title for title, *_, expected in LEAVING if expected["Finalized"].startswith("True")}

    assert finalized == {"gone"}


def test_a_work_that_was_sent_says_that_it_is_not_yet_confirmed() -> None:
    reported = report(Create(HOSTED_CLUSTER), SENT)

    assert "not yet confirmed" in reported.conditions[0].message


def test_a_refusal_is_reported_in_its_own_words() -> None:
    reported = report(Refuse("ImmutableFieldChanged", ("spec.x cannot change",)), RUNNING)

    assert reported.conditions[0].message == "spec.x cannot change"


def test_what_a_management_cluster_refused_is_reported_with_its_remedy() -> None:
    reported = report(Create(HOSTED_CLUSTER), REFUSED)

    assert 'Unsupported value: "GCP"' in reported.conditions[0].message
    assert "TechPreviewNoUpgrade" in reported.conditions[0].message


def test_every_condition_says_since_when_and_the_report_of_which_generation() -> None:
    reported = report(LeaveAlone(), RUNNING)

    assert {each.last_transition_time for each in reported.conditions} == {NOW}
    assert reported.observed_generation == 3


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
    data = report(Create(HOSTED_CLUSTER), SENT).data

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
    reported = report(Refuse("NotOwned", ("no",)), replace(SENT, manifests=manifests))

    assert reported.data["hosted_cluster"] == named


def test_nothing_is_reported_of_a_work_that_is_not_there() -> None:
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
    errors.UnknownKind("x"): (Status.FALSE, "MaestroError"),
    errors.AlreadyExists("x"): (Status.FALSE, "MaestroError"),
    errors.Conflict("x"): (Status.FALSE, "MaestroError"),
    errors.Deleting("x"): (Status.FALSE, "MaestroError"),
    errors.NotOwned("x"): (Status.FALSE, "NotOwned"),
    errors.Unauthenticated("x"): (Status.FALSE, "MaestroError"),
    errors.Forbidden("x"): (Status.FALSE, "MaestroError"),
    failures.Stopped("x"): (Status.UNKNOWN, "AdapterStopped"),
    failures.OutOfTime("x"): (Status.UNKNOWN, "AdapterTimeout"),
    failures.InternalError("x"): (Status.FALSE, "AdapterError"),
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
def test_each_error_is_reported(error: HyperFleetError, expected: tuple[Status, str]) -> None:
    status, reason = expected

    reported = failed(error, generation=3, deleting=False)

    assert summary(reported) == {
        "Applied": f"{status} {reason}",
        "Available": "Unknown Unknown",
        "Health": "Unknown AdapterError",
    }, "what was not observed is unknown"
    assert {each.last_transition_time for each in reported.conditions} == {NOW}
    assert reported.observed_generation == 3


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_no_error_finalizes_a_cluster(error: HyperFleetError) -> None:
    reported = failed(error, generation=3, deleting=True)

    finalized = reported.conditions[-1]
    assert finalized.type == "Finalized"
    assert finalized.status is not Status.TRUE
    assert finalized.reason == reported.conditions[0].reason


def test_an_error_is_reported_with_its_cause_and_its_remedy() -> None:
    error = errors.Invalid("refused", [Problem("spec.x", "is bad"), Problem("spec.y", "is worse")], remedy="do better")

    reported = failed(error, generation=None, deleting=False)

    assert {each.message for each in reported.conditions} == {"refused: spec.x: is bad; spec.y: is worse; do better"}
    assert reported.observed_generation is None


@pytest.mark.parametrize(
    "error",
    [errors.Unauthenticated("x"), errors.Unavailable("x"), failures.Stopped("x"), failures.InternalError("x")],
    ids=lambda error: type(error).__name__,
)
def test_an_error_after_the_observation_leaves_what_was_observed(error: HyperFleetError) -> None:
    reported = failed(error, work=RUNNING)

    assert {name: summary(reported)[name] for name in SOUND} == SOUND
    assert reported.conditions[0].status is (Status.UNKNOWN if isinstance(error, errors.Transient) else Status.FALSE)
    assert reported.data["control_plane_endpoint"] == "https://api.demo.example.com:443"


def test_a_refused_update_without_feedback_leaves_what_the_previous_generation_showed() -> None:
    result = Result(plan=Update(RUNNING, SENT, ("manifests",)), work=REFUSED, previous=RUNNING)
    reported = build_report(result, generation=3, deleting=False, thresholds=Thresholds(), now=NOW)

    assert summary(reported) == {"Applied": "False AppliedManifestWorkFailed", **SOUND}
    assert reported.data["control_plane_endpoint"] == "https://api.demo.example.com:443"


def test_a_permanent_error_of_a_cluster_that_has_no_work_leaves_nothing_unknown() -> None:
    reported = failed(failures.NoManagementCluster("x"), observed=Observed())

    assert {each.status for each in reported.conditions} == {Status.FALSE}


MANY = tuple(f"spec.service_account_emails.role{index}: is not a role" for index in range(3000))


@pytest.mark.parametrize(
    "reported",
    [
        report(Refuse("InvalidSpec", MANY, "correct these values"), RUNNING),
        failed(
            errors.Misconfigured(
                "cannot start", [Problem(each, "is bad") for each in MANY], remedy="correct these values"
            )
        ),
        failed(errors.Invalid("refused", why="x" * 2_000_000, remedy="correct these values")),
    ],
    ids=["refused", "misconfigured", "one long text"],
)
def test_a_long_message_is_cut_with_its_remedy_kept_and_the_report_can_be_written(reported: AdapterReport) -> None:
    applied = reported.conditions[0]

    assert len(applied.message) <= 2000
    assert applied.message.endswith("correct these values")
    assert len(reported.to_bytes()) < 20_000


def test_a_cut_message_says_how_many_problems_it_leaves_out() -> None:
    message = report(Refuse("InvalidSpec", MANY, "correct these values"), None).conditions[0].message

    shown = message.count("is not a role")
    assert 0 < shown < len(MANY)
    assert f"and {len(MANY) - shown} more" in message
