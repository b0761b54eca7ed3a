"""Putting a verdict on the Job: which Job it is, and what is known of it before and after a write."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from shared.errors import Forbidden, Misconfigured, Unavailable
from shared.model.conditions import Condition, Status
from status_reporter import logging_setup
from status_reporter.job.job_status import JobOfPod, JobStatusWriter, Owner, owner_of
from status_reporter.kube import Kube
from status_reporter.verdict import Verdict

OLD = {"type": "Applied", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z", "reason": "Before"}
VERDICT = Verdict(conditions=(Condition(type="Applied", status=Status.TRUE, reason="Now"),))
TIMEOUT = 1.0


def pod(*owners: Mapping[str, str]) -> dict[str, Any]:
    return {"metadata": {"ownerReferences": list(owners)}}


JOB = {"kind": "Job", "name": "a-job", "uid": "u-1"}


@pytest.mark.parametrize(
    ("shown", "configured", "owner"),
    [
        pytest.param(pod(JOB), None, Owner("a-job", "u-1"), id="the pod's owner"),
        pytest.param(pod(JOB), "a-job", Owner("a-job", "u-1"), id="the named Job, which the pod knows better"),
        pytest.param(pod(JOB), "other", Owner("other"), id="a named Job that is not the pod's owner"),
        pytest.param(
            pod({"kind": "ReplicaSet", "name": "r"}, JOB), None, Owner("a-job", "u-1"), id="the Job among owners"
        ),
        pytest.param(pod(), "a-job", Owner("a-job"), id="the named Job of a pod without owners"),
    ],
)
def test_the_job_is_the_named_one_or_the_pods_owner(
    shown: dict[str, Any], configured: str | None, owner: Owner
) -> None:
    assert owner_of(shown, configured) == owner


@pytest.mark.parametrize("shown", [{}, pod(), pod({"kind": "ReplicaSet", "name": "r", "uid": "u-2"})])
def test_a_pod_of_no_job_needs_a_name(shown: dict[str, Any]) -> None:
    with pytest.raises(Misconfigured, match="JOB_NAME"):
        owner_of(shown, None)


class Recorded(Kube):
    """An API server that remembers what it was asked, and fails where a test says so."""

    def __init__(self, *, failures: int = 0, readable: bool = True) -> None:
        super().__init__("http://nowhere", Path("/nowhere"), "x")
        self.asked: list[str] = []
        self.times: list[str] = []
        self._failures, self._readable = failures, readable

    def job(self, name: str, timeout: float) -> dict[str, Any]:
        self.asked.append("get")
        if not self._readable:
            raise Forbidden("not allowed")
        return {"status": {"conditions": [OLD, {"type": "what nobody can read"}]}}

    def patch_job_status(self, name: str, body: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        self.asked.append("patch")
        self.times.append(body["status"]["conditions"][0]["lastTransitionTime"])
        if self._failures:
            self._failures -= 1
            raise Unavailable("nobody answers")
        return {}


def test_a_job_that_is_known_is_not_read_again() -> None:
    kube = Recorded()
    writer = JobStatusWriter(kube, Owner("a-job"))
    writer.load(TIMEOUT)
    for _ in range(3):
        writer.write(VERDICT, TIMEOUT)
    assert kube.asked == ["get", "patch", "patch", "patch"]
    assert set(kube.times) == {"2020-01-01T00:00:00Z"}


def test_a_job_that_nobody_asked_for_yet_is_read_first() -> None:
    kube = Recorded()
    JobStatusWriter(kube, Owner("a-job")).write(VERDICT, TIMEOUT)
    assert kube.asked == ["get", "patch"]


def test_after_a_write_of_which_nothing_was_heard_the_job_is_read_again() -> None:
    kube = Recorded(failures=1)
    writer = JobStatusWriter(kube, Owner("a-job"))
    with pytest.raises(Unavailable):
        writer.write(VERDICT, TIMEOUT)
    writer.write(VERDICT, TIMEOUT)
    assert kube.asked == ["get", "patch", "get", "patch"]


def test_a_job_that_may_not_be_read_is_written_all_the_same() -> None:
    kube = Recorded(readable=False)
    writer = JobStatusWriter(kube, Owner("a-job"))
    writer.write(VERDICT, TIMEOUT)
    writer.write(VERDICT, TIMEOUT)
    assert kube.asked == ["get", "patch", "patch"]
    assert kube.times[0] == kube.times[1] > "2026"


def test_the_log_names_the_job_and_the_cluster_once_the_pod_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    bound: dict[str, str] = {}
    monkeypatch.setattr(logging_setup, "bind", lambda **context: bound.update(context))
    labels = {"hyperfleet.io/cluster-id": "c-1", "hyperfleet.io/generation": "3"}
    JobOfPod(Recorded(), "a-pod", None, ("Applied",)).see({"metadata": {"ownerReferences": [JOB], "labels": labels}})
    assert bound == {"job": "a-job", "cluster_id": "c-1", "generation": "3"}


class Job(Recorded):
    """A Job that shows these conditions, and keeps what is sent."""

    def __init__(self, *conditions: dict[str, Any]) -> None:
        super().__init__()
        self.shown = list(conditions)
        self.sent: list[list[dict[str, Any]]] = []

    def job(self, name: str, timeout: float) -> dict[str, Any]:
        return {"status": {"conditions": self.shown}}

    def patch_job_status(self, name: str, body: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        self.sent.append(body["status"]["conditions"])
        return {}


SYNTHETIC = Verdict(
    conditions=tuple(
        Condition(type=each, status=Status.FALSE, reason="ReporterTerminated") for each in ("Applied", "Health")
    ),
    synthetic=True,
)


def test_a_report_takes_off_what_was_made_up_and_only_once() -> None:
    job = Job({"type": "Available", "status": "False", "reason": "AdapterEvicted"})
    writer = JobStatusWriter(job, Owner("a-job"), ("Applied", "Available", "Health"))
    for verdict in (SYNTHETIC, VERDICT, VERDICT):
        writer.write(verdict, TIMEOUT)
    synthetic, first, second = ([each["type"] for each in sent if "$patch" in each] for sent in job.sent)
    assert (synthetic, first, second) == ([], ["Available", "Health"], [])


def test_an_adapters_own_conditions_are_never_taken_off() -> None:
    job = Job(
        {"type": "Available", "status": "False", "reason": "Provisioning"},
        {"type": "Elsewhere", "status": "False", "reason": "AdapterEvicted"},
    )
    JobStatusWriter(job, Owner("a-job"), ("Applied", "Available")).write(VERDICT, TIMEOUT)
    assert [each["type"] for each in job.sent[0]] == ["Applied"]
