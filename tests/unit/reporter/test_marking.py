"""Putting a verdict on the Job: which Job it is, and what is known of it before and after a write."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from shared.conditions import Condition, Status
from shared.errors import Forbidden, Misconfigured, Unavailable
from status_reporter.kube import Kube
from status_reporter.marking import Marker, Owner, owner_of
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
    """An API server that remembers what it was asked, and fails where it is told to."""

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
    marker = Marker(kube, Owner("a-job"))
    marker.learn(TIMEOUT)
    for _ in range(3):
        marker.mark(VERDICT, TIMEOUT)
    assert kube.asked == ["get", "patch", "patch", "patch"]
    assert set(kube.times) == {"2020-01-01T00:00:00Z"}


def test_a_job_that_nobody_asked_for_yet_is_read_first() -> None:
    kube = Recorded()
    Marker(kube, Owner("a-job")).mark(VERDICT, TIMEOUT)
    assert kube.asked == ["get", "patch"]


def test_after_a_write_of_which_nothing_was_heard_the_job_is_read_again() -> None:
    kube = Recorded(failures=1)
    marker = Marker(kube, Owner("a-job"))
    with pytest.raises(Unavailable):
        marker.mark(VERDICT, TIMEOUT)
    marker.mark(VERDICT, TIMEOUT)
    assert kube.asked == ["get", "patch", "get", "patch"]


def test_a_job_that_may_not_be_read_is_written_all_the_same() -> None:
    kube = Recorded(readable=False)
    marker = Marker(kube, Owner("a-job"))
    marker.mark(VERDICT, TIMEOUT)
    marker.mark(VERDICT, TIMEOUT)
    assert kube.asked == ["get", "patch", "patch"]
    assert kube.times[0] == kube.times[1] > "2026"
