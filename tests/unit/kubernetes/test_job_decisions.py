"""What the Job controller decides, one case after another."""

from datetime import timedelta
from typing import Any

import pytest

from lab.kubernetes.api.documents import Object
from lab.kubernetes.jobs.job_decisions import JobPod, Plan, decide
from shared import times

NOW = times.parse("2026-01-02T03:04:05Z")


def job(*conditions: str, started: int | None = 10, **spec: Any) -> Object:
    """A Job that started so many seconds ago, with conditions that hold since now."""
    status: Object = {} if started is None else {"startTime": times.to_seconds(NOW - timedelta(seconds=started))}
    if conditions:
        expected = {"status": "True", "reason": "R", "message": "m", "lastTransitionTime": times.to_seconds(NOW)}
        status["conditions"] = [{"type": each, **expected} for each in conditions]
    usual = {"backoffLimit": 1, "parallelism": 1, "completions": 1, "template": {"spec": {"restartPolicy": "Never"}}}
    return {"metadata": {"name": "j", "uid": "u"}, "spec": usual | spec, "status": status}


def pod(phase: str = "Running", *, code: int | None = None, deleting: bool = False, **more: Any) -> JobPod:
    state = {} if code is None else {"terminated": {"exitCode": code}}
    metadata = {"name": "p", "namespace": "n"} | ({"deletionTimestamp": times.to_seconds(NOW)} if deleting else {})
    container = {"name": "adapter", "state": state, "restartCount": more.pop("restarts", 0)}
    status = {"phase": phase, "containerStatuses": [container], "conditions": more.pop("conditions", [])}
    return JobPod({"metadata": metadata, "status": status}, **more)


def plan(given: Object, *pods: JobPod, failed_ago: float | None = None) -> Plan:
    last_failure = None if failed_ago is None else NOW - timedelta(seconds=failed_ago)
    return decide(given, pods, NOW, last_failure=last_failure, retry=5.0)


def ends(decided: Plan) -> list[tuple[str, str]]:
    return [(each["type"], each["reason"]) for each in decided.status.get("conditions") or ()]


COMPLETE = [("SuccessCriteriaMet", "CompletionsReached"), ("Complete", "CompletionsReached")]
POLICY = {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]}
IGNORE = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}


@pytest.mark.parametrize(
    ("given", "pods", "created"),
    [
        pytest.param(job(started=None), (), 1, id="a new Job gets its pod"),
        pytest.param(job(), (pod(),), 0, id="a running pod is enough"),
        pytest.param(job(), (pod("Failed", code=1),), 1, id="a failed pod is replaced"),
        pytest.param(job(), (pod(deleting=True),), 1, id="a pod on its way out is replaced"),
        pytest.param(
            job(podReplacementPolicy="Failed"), (pod(deleting=True),), 0, id="unless its end is to be waited for"
        ),
        pytest.param(job(parallelism=3, completions=5), (pod(), pod("Succeeded")), 2, id="several run at once"),
        pytest.param(job(parallelism=3, completions=2), (pod("Succeeded"),), 1, id="no more than are still needed"),
        pytest.param(job(suspend=True), (), 0, id="a suspended Job gets none"),
        pytest.param(job("FailureTarget"), (), 0, id="a failing Job gets none"),
        pytest.param(job("Complete"), (), 0, id="an ended Job gets none"),
    ],
)
def test_pods_are_made_where_they_are_missing(given: Object, pods: tuple[JobPod, ...], created: int) -> None:
    assert plan(given, *pods).create == created


@pytest.mark.parametrize(
    ("given", "pods", "expected"),
    [
        pytest.param(job(), (pod("Succeeded", code=0),), COMPLETE, id="enough have succeeded"),
        pytest.param(
            job(),
            (pod("Failed", code=1), pod("Failed", code=1)),
            [("FailureTarget", "BackoffLimitExceeded"), ("Failed", "BackoffLimitExceeded")],
            id="too many have failed",
        ),
        pytest.param(
            job(backoffLimit=0),
            (pod("Failed", code=1), pod()),
            [("FailureTarget", "BackoffLimitExceeded")],
            id="it has not failed before its last pod ended",
        ),
        pytest.param(
            job(activeDeadlineSeconds=10),
            (pod(),),
            [("FailureTarget", "DeadlineExceeded")],
            id="it takes too long",
        ),
        pytest.param(
            job(podFailurePolicy=POLICY),
            (pod("Failed", code=42),),
            [("FailureTarget", "PodFailurePolicy"), ("Failed", "PodFailurePolicy")],
            id="the policy ends it",
        ),
        pytest.param(
            job(backoffLimit=0, podFailurePolicy=IGNORE),
            (pod("Failed", code=1, conditions=[{"type": "DisruptionTarget", "status": "True"}]),),
            [],
            id="the policy ignores a disruption",
        ),
        pytest.param(
            job(backoffLimit=2, template={"spec": {"restartPolicy": "OnFailure"}}),
            (pod(restarts=2),),
            [("FailureTarget", "BackoffLimitExceeded")],
            id="containers restarted too often",
        ),
        pytest.param(job("FailureTarget"), (), [("Failed", "R")], id="what was announced comes true"),
        pytest.param(
            job(backoffLimit=0),
            (pod("Running", gone=True),),
            [
                ("FailureTarget", "BackoffLimitExceeded"),
                ("Failed", "BackoffLimitExceeded"),
            ],
            id="a pod that vanished has failed",
        ),
        pytest.param(
            job(backoffLimit=0),
            (pod("Succeeded", code=0, was_terminating=True),),
            [
                ("FailureTarget", "BackoffLimitExceeded"),
                ("Failed", "BackoffLimitExceeded"),
            ],
            id="a pod that was deleted has failed, even if it ended well",
        ),
        pytest.param(job(completions=None, parallelism=2), (pod("Succeeded"), pod()), [], id="one worker is left"),
        pytest.param(job(completions=None, parallelism=2), (pod("Succeeded"),), COMPLETE, id="no worker is left"),
    ],
)
def test_a_job_ends(given: Object, pods: tuple[JobPod, ...], expected: list[tuple[str, str]]) -> None:
    assert ends(plan(given, *pods)) == expected


def test_a_failing_job_takes_its_living_pods_with_it() -> None:
    living, leaving = pod(), pod(deleting=True)

    assert plan(job("FailureTarget"), living, leaving, pod("Failed")).delete == (living.document,)


def test_a_failed_pod_is_not_replaced_at_once() -> None:
    decided = plan(job(), pod("Failed", code=1), failed_ago=2.0)

    assert (decided.create, decided.requeue_after) == (0, 3.0)


def test_a_deadline_is_looked_for_in_time() -> None:
    assert plan(job(activeDeadlineSeconds=25), pod()).requeue_after == 15.0


def test_pods_are_counted() -> None:
    status = plan(
        job(parallelism=3, completions=4),
        pod("Succeeded"),
        pod(conditions=[{"type": "Ready", "status": "True"}]),
        pod("Pending"),
        pod(deleting=True),
    ).status

    counts = ("active", "ready", "terminating", "succeeded", "failed")
    assert {key: status[key] for key in counts} == {
        "active": 2,
        "ready": 1,
        "terminating": 1,
        "succeeded": 1,
        "failed": 1,
    }


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(None, Plan()), (7, Plan(requeue_after=7.0)), (0, Plan(remove_job=True))],
    ids=["it stays", "it stays for a while", "it goes"],
)
def test_a_finished_job_is_removed_after_its_ttl(seconds: int | None, expected: Plan) -> None:
    limit = {} if seconds is None else {"ttlSecondsAfterFinished": seconds}

    assert plan(job("Complete", **limit)) == expected
