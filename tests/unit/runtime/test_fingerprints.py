"""What of a watched object is worth a wake."""

from dataclasses import replace
from typing import Any

import pytest

from dispatcher.runtime.watching.fingerprints import digest_of_object, digest_of_work
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestStatus, ManifestWork, WorkStatus

AVAILABLE = {
    "type": "Available",
    "status": "False",
    "reason": "Pending",
    "message": "",
    "lastTransitionTime": "2026-01-02T03:04:05Z",
}


def job(*conditions: dict[str, Any], report: str = "{}", **status: Any) -> dict[str, Any]:
    metadata = {"annotations": {"hyperfleet.io/adapter-report": report}, "resourceVersion": str(id(conditions))}
    return {"kind": "Job", "metadata": metadata, "status": {"conditions": list(conditions), **status}}


def test_a_job_without_conditions_is_no_news() -> None:
    assert digest_of_object({"kind": "Job"}) is None
    assert digest_of_object(job(active=1)) is None


@pytest.mark.parametrize(
    ("changed", "is_news"),
    [
        (job(AVAILABLE, active=1, ready=1), False),
        (job({**AVAILABLE, "lastTransitionTime": "2027-01-02T03:04:05Z"}), False),
        (job({**AVAILABLE, "status": "True"}), True),
        (job({**AVAILABLE, "reason": "Other"}), True),
        (job({**AVAILABLE, "message": "more"}), True),
        (job(AVAILABLE, {"type": "Complete", "status": "True"}), True),
        (job(AVAILABLE, report='{"endpoint": "x"}'), True),
    ],
    ids=["pods", "time", "status", "reason", "message", "another condition", "report"],
)
def test_of_a_job_conditions_and_report_count(changed: dict[str, Any], *, is_news: bool) -> None:
    assert (digest_of_object(changed) != digest_of_object(job(AVAILABLE))) == is_news


def test_the_order_of_conditions_does_not_count() -> None:
    other = {"type": "Complete", "status": "True"}
    assert digest_of_object(job(AVAILABLE, other)) == digest_of_object(job(other, AVAILABLE))


def test_of_another_kind_the_whole_status_counts() -> None:
    deployment = {"kind": "Deployment", "status": {"readyReplicas": 1}}
    assert digest_of_object({"kind": "Deployment"}) is None
    assert digest_of_object(deployment) != digest_of_object({**deployment, "status": {"readyReplicas": 2}})


@pytest.mark.parametrize(
    "broken",
    [
        {"kind": "Job", "status": None},
        {"kind": "Job", "status": {"conditions": ["x"]}},
        {"kind": "Job", "metadata": None, "status": {"conditions": [AVAILABLE]}},
    ],
)
def test_an_object_that_is_not_as_it_should_be_does_no_harm(broken: dict[str, Any]) -> None:
    digest_of_object(broken)


APPLIED = Condition(type="Applied", status=Status.TRUE, observed_generation=1)
WORK = ManifestWork(
    name="w",
    consumer="c",
    manifests=(),
    status=WorkStatus(conditions=(APPLIED,), manifests=(ManifestStatus(feedback={"phase": "Active"}),), sequence_id=1),
)


def with_status(**changes: Any) -> ManifestWork:
    return replace(WORK, status=replace(WORK.status, **changes))


@pytest.mark.parametrize(
    ("work", "is_news"),
    [
        (with_status(sequence_id=2), False),
        (with_status(conditions=(APPLIED._replace(status=Status.FALSE),)), True),
        (with_status(conditions=(APPLIED._replace(observed_generation=2),)), True),
        (with_status(manifests=(ManifestStatus(feedback={"phase": "Gone"}),)), True),
        (with_status(manifests=(ManifestStatus(conditions=(APPLIED,), feedback={"phase": "Active"}),)), True),
    ],
    ids=["sequence", "condition", "observed generation", "feedback", "condition of a manifest"],
)
def test_of_a_work_conditions_and_feedback_count(work: ManifestWork, *, is_news: bool) -> None:
    assert (digest_of_work(work) != digest_of_work(WORK)) == is_news


def test_a_work_without_status_is_no_news() -> None:
    assert digest_of_work(replace(WORK, status=WorkStatus())) is None
