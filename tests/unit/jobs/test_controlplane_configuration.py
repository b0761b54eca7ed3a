"""The shipped adapter: its configuration has no mistake, and its expressions say what its operators read."""

import json
from pathlib import Path
from typing import Any

import pytest

from dispatcher.config.compiled import ValueNode
from dispatcher.config.loading import Loaded, load

FOLDER = Path(__file__).parents[3] / "jobs" / "controlplane"
ENVIRONMENT = {
    "MANAGEMENT_CLUSTER_CONSUMER": "mgmt-01",
    "MAESTRO_API_URL": "https://maestro.example.com",
    "MAESTRO_GRPC_URL": "maestro.example.com:8090",
    "ADAPTER_IMAGE": "adapter",
    "REPORTER_IMAGE": "reporter",
}


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    return load(
        FOLDER / "hypershift-controlplane-adapter-config.yaml",
        FOLDER / "hypershift-controlplane-task-config.yaml",
        environment=ENVIRONMENT,
        strict=True,
    )


def test_nothing_is_found_wrong(loaded: Loaded) -> None:
    assert [str(each) for each in loaded.warnings] == []
    assert loaded.adapter.name == "controlplane"


SUCCESS = {"executionStatus": "success", "resourcesSkipped": False}
SKIPPED = {"executionStatus": "success", "resourcesSkipped": True, "skipReason": "dnsIsAvailable"}
FAILED = {
    "executionStatus": "failed",
    "resourcesSkipped": False,
    "executionError": {"phase": "resources", "message": "m"},
}
OURS = [
    {"type": "Applied", "status": "True", "reason": "ManifestWorkApplied", "message": "a"},
    {"type": "Available", "status": "True", "reason": "ControlPlaneReady", "message": "b"},
    {"type": "Health", "status": "True", "reason": "NoIssues"},
]
CONTROLLERS = {"type": "Complete", "status": "True"}
JOB_FAILED = {"type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "too late"}


def conditions(loaded: Loaded, **changes: Any) -> dict[str, tuple[str, str]]:
    variables: dict[str, Any] = {
        "generation": 2,
        "isDeleting": False,
        "readyAdapters": ["validation"],
        "reportedAvailable": [],
        "adapter": SUCCESS,
        "resources": {"controlPlaneJob": {"status": {}}},
        **changes,
    }
    build: Any = loaded.adapter.payloads[0].build
    node: ValueNode = dict((key.source, value) for key, value in build.entries)["conditions"]  # noqa: C402
    assert node.expression is not None
    found = node.expression.evaluate(variables)
    return {each["type"]: (each["status"], each["reason"]) for each in found}


def job(*listed: dict[str, Any]) -> dict[str, Any]:
    return {"controlPlaneJob": {"status": {"conditions": list(listed)}}}


def test_the_jobs_own_conditions_are_forwarded_without_those_of_its_controller(loaded: Loaded) -> None:
    assert conditions(loaded, resources=job(*OURS, CONTROLLERS)) == {
        "Applied": ("True", "ManifestWorkApplied"),
        "Available": ("True", "ControlPlaneReady"),
        "Health": ("True", "NoIssues"),
    }


@pytest.mark.parametrize(
    ("changes", "available", "health"),
    [
        pytest.param({}, ("False", "JobRunning"), "True", id="the Job has not reported yet"),
        pytest.param({"adapter": SKIPPED, "resources": {}}, ("False", "DependenciesNotReady"), "True", id="waiting"),
        pytest.param(
            {"adapter": FAILED, "resources": {}}, ("False", "ExecutionFailed"), "False", id="failed, never reported"
        ),
        pytest.param(
            {"adapter": FAILED, "resources": {}, "reportedAvailable": [OURS[1]]},
            ("True", "ControlPlaneReady"),
            "False",
            id="a failure of the dispatcher leaves Available as it was",
        ),
        pytest.param(
            {"resources": job(JOB_FAILED)}, ("False", "DeadlineExceeded"), "False", id="a Job that failed silently"
        ),
    ],
)
def test_without_a_report_the_reason_is_said(
    loaded: Loaded, changes: dict[str, Any], available: tuple[str, str], health: str
) -> None:
    found = conditions(loaded, **changes)
    assert found["Available"] == available
    assert found["Health"][0] == health
    assert "Finalized" not in found


def test_a_deletion_is_not_finalized_before_the_job_says_so(loaded: Loaded) -> None:
    assert conditions(loaded, isDeleting=True)["Finalized"] == ("False", "JobRunning")


SETTLED = {"version": "4.22.1", "desired_version": "4.22.1"}


@pytest.mark.parametrize(
    ("report", "available", "health", "looks_again"),
    [
        pytest.param(SETTLED, "True", "True", False, id="nothing is to be seen"),
        pytest.param(None, "True", "True", False, id="a healthy control plane without data"),
        pytest.param(SETTLED, "True", "False", True, id="it may become healthy"),
        pytest.param(SETTLED, "True", "Unknown", True, id="its health may become known"),
        pytest.param(SETTLED, "False", "False", False, id="not available: Sentinel asks again soon"),
        pytest.param(None, None, None, False, id="no report"),
        pytest.param(SETTLED | {"version": ""}, "True", "True", True, id="its first version is not complete"),
        pytest.param(SETTLED | {"version": "4.22.0"}, "True", "True", True, id="an upgrade goes on"),
        pytest.param(
            SETTLED | {"upgrade": {"state": "Progressing"}},
            "True",
            "True",
            True,
            id="HyperShift has not begun the upgrade",
        ),
        pytest.param(SETTLED | {"upgrade": {"state": "Completed"}}, "True", "True", False, id="the upgrade has ended"),
    ],
)
def test_a_job_comes_back_by_itself_while_an_available_control_plane_is_not_settled(
    loaded: Loaded, report: dict[str, Any] | None, available: str | None, health: str | None, *, looks_again: bool
) -> None:
    shown = {"Available": available, "Health": health}
    job = {
        "metadata": {"annotations": {"hyperfleet.io/adapter-report": json.dumps(report)} if report is not None else {}},
        "status": {"conditions": [{"type": each, "status": status} for each, status in shown.items() if status]},
    }
    repoll = loaded.adapter.resources[0].repoll
    assert repoll is not None
    assert repoll.when is not None
    assert repoll.when.evaluate({"resources": {"controlPlaneJob": job}}) is looks_again
