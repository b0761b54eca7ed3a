"""The feedback rules: stable names, paths that find what the operator writes, and no more than a work can carry."""

from datetime import UTC, datetime
from typing import Any

import pytest

from controlplane_adapter.work.feedback import FEEDBACK, USER_ACTIONABLE
from lab.hypershift.sequences import HAS_BEEN_AVAILABLE, Moment
from shared.languages.jsonpath import compile_jsonpath
from shared.model.manifestwork_validation import MAX_MANIFEST_BYTES, problems_of
from tests.support.hosted_clusters import as_stored, fed_back, hosted_cluster, played, work_with_feedback

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture
def cluster() -> dict[str, Any]:
    installed = played(as_stored(hosted_cluster("demo")), Moment.INSTALLED, now=NOW)
    installed["metadata"]["annotations"] = {HAS_BEEN_AVAILABLE: "true"}
    installed["metadata"]["deletionTimestamp"] = "2026-11-16T12:30:00Z"
    return installed


FOUND = [
    ("Available.status", "True"),
    ("Available.reason", "AsExpected"),
    ("Available.message", "The hosted control plane is available"),
    ("Available.lastTransitionTime", "2026-11-16T12:00:00Z"),
    ("Degraded.status", "False"),
    ("Progressing.reason", "AsExpected"),
    ("ValidGCPWorkloadIdentity.reason", "ValidWIFConfiguration"),
    ("GCPServiceAttachmentAvailable.status", "True"),
    ("endpointHost", "api.demo.hypershift.local"),
    ("endpointPort", 443),
    ("version", "4.22.0"),
    ("rolloutState", "Completed"),
    ("rolloutVersion", "4.22.0"),
    ("desiredVersion", "4.22.0"),
    ("generation", 1),
    ("deletionTimestamp", "2026-11-16T12:30:00Z"),
    ("finalizers", "hypershift.openshift.io/finalizer"),
    ("hasBeenAvailable", "true"),
]


@pytest.mark.parametrize(("name", "value"), FOUND, ids=[name for name, _ in FOUND])
def test_each_name_brings_back_what_the_operator_wrote(name: str, value: Any, cluster: dict[str, Any]) -> None:
    assert fed_back(cluster)[name] == value


def test_the_whole_status_comes_back_too(cluster: dict[str, Any]) -> None:
    assert fed_back(cluster)["status"] == cluster["status"]


def test_nothing_of_an_object_without_a_status_comes_back_but_the_object_itself() -> None:
    assert set(fed_back(as_stored(hosted_cluster("demo")))) == {"generation"}


@pytest.mark.parametrize("name", FEEDBACK)
def test_every_path_is_one_that_the_agent_can_parse(name: str) -> None:
    compile_jsonpath(f"{{{FEEDBACK[name]}}}")


def test_all_that_a_person_can_put_right_is_asked_for_with_its_reason_message_and_time() -> None:
    members = ("status", "reason", "message", "lastTransitionTime")
    assert {f"{type_}.{member}" for type_ in USER_ACTIONABLE for member in members} <= FEEDBACK.keys()


def test_a_work_with_all_rules_is_one_that_maestro_and_the_agent_take(cluster: dict[str, Any]) -> None:
    work = work_with_feedback({}, hosted_cluster("demo"))
    assert list(problems_of(work)) == []
    assert len(str(work.manifest_configs)) < MAX_MANIFEST_BYTES / 10
