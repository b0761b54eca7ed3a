"""How Jobs end: how often they try, how long they may take, and which signal precedes their end."""

import os
from pathlib import Path

import pytest

from lab.kubernetes.jobs import JobRunner
from tests.support.kubernetes import Api, eventually, good
from tests.support.kubernetes_jobs import (
    conditions,
    ended,
    has_ended,
    job_of,
    log_of,
    logged,
    only_pod,
    pods,
    reached,
    shell,
    state,
)


async def test_a_failed_pod_is_replaced_until_the_limit(api: Api, runner: JobRunner) -> None:
    job = await ended(api, job_of(shell("exit 1"), backoffLimit=2))

    assert conditions(job) == {"FailureTarget": "BackoffLimitExceeded", "Failed": "BackoffLimitExceeded"}
    assert job["status"]["failed"] == 3
    assert len(await pods(api)) == 3
    [message] = {each["message"] for each in job["status"]["conditions"]}
    assert message == "Job has reached the specified backoff limit"


async def test_a_second_attempt_may_succeed(api: Api, runner: JobRunner, tmp_path: Path) -> None:
    mark = tmp_path / "tried"
    job = await ended(api, job_of(shell(f"[ -e {mark} ] || {{ touch {mark}; exit 1; }}"), backoffLimit=1))

    assert "Complete" in conditions(job)
    assert (job["status"]["failed"], job["status"]["succeeded"]) == (1, 1)


@pytest.mark.parametrize(
    ("action", "code", "failed", "tried", "reason"),
    [
        ("FailJob", 42, 1, 1, "PodFailurePolicy"),
        ("Count", 42, 2, 2, "BackoffLimitExceeded"),
        ("FailJob", 7, 2, 2, "BackoffLimitExceeded"),
    ],
    ids=["an exit code ends the Job", "an exit code is counted", "another exit code is not meant"],
)
async def test_the_pod_failure_policy_judges_exit_codes(
    api: Api, runner: JobRunner, action: str, code: int, failed: int, tried: int, reason: str
) -> None:
    rule = {"action": action, "onExitCodes": {"containerName": "adapter", "operator": "In", "values": [42]}}
    job = await ended(api, job_of(shell(f"exit {code}"), backoffLimit=1, podFailurePolicy={"rules": [rule]}))

    assert conditions(job)["Failed"] == reason
    assert (job["status"]["failed"], len(await pods(api))) == (failed, tried)
    if reason == "PodFailurePolicy":
        name = (await only_pod(api))["metadata"]["name"]
        expected = f"Container adapter for pod {api.namespace}/{name} failed with exit code 42 matching FailJob rule at index 0"
        assert job["status"]["conditions"][0]["message"] == expected


async def test_an_ignored_failure_is_not_counted(api: Api, runner: JobRunner, tmp_path: Path) -> None:
    mark = tmp_path / "tried"
    rule = {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [42]}}
    script = f"[ -e {mark} ] || {{ touch {mark}; exit 42; }}"
    job = await ended(api, job_of(shell(script), backoffLimit=0, podFailurePolicy={"rules": [rule]}))

    assert "Complete" in conditions(job)
    assert "failed" not in job["status"]
    assert len(await pods(api)) == 2


async def test_a_job_that_takes_too_long_fails(api: Api, runner: JobRunner) -> None:
    script = "trap 'echo stopping; exit 0' TERM; echo up; while :; do sleep 0.05; done"
    job = await ended(api, job_of(shell(script), activeDeadlineSeconds=1))

    assert conditions(job) == {"FailureTarget": "DeadlineExceeded", "Failed": "DeadlineExceeded"}
    assert job["status"]["conditions"][0]["message"] == "Job was active longer than specified deadline"
    assert await pods(api) == []


async def test_a_pod_that_takes_too_long_fails(api: Api, runner: JobRunner) -> None:
    script = "trap 'exit 5' TERM; while :; do sleep 0.05; done"
    job = await ended(api, job_of(shell(script), pod={"activeDeadlineSeconds": 1}, backoffLimit=0))
    pod = await only_pod(api)

    assert conditions(job)["Failed"] == "BackoffLimitExceeded"
    assert (pod["status"]["phase"], pod["status"]["reason"]) == ("Failed", "DeadlineExceeded")
    assert state(pod)["terminated"]["exitCode"] == 5


async def test_a_deleted_pod_gets_sigterm_and_its_grace_period(api: Api, runner: JobRunner) -> None:
    script = "trap 'echo stopping; exit 9' TERM; echo up; while :; do sleep 0.05; done"
    good(await api.create("jobs", job_of(shell(script), backoffLimit=0)))
    pod = await logged(runner, api, "up")
    since = pod["metadata"]["resourceVersion"]

    async with api.watch("pods", resourceVersion=since) as watch:
        marked = good(await api.delete("pods", pod["metadata"]["name"]))
        last = await watch.next()
        while last[0] != "DELETED":
            last = await watch.next()
    job = await reached(api, "jobs", has_ended)

    assert marked["metadata"]["deletionGracePeriodSeconds"] == 5
    assert state(last[1])["terminated"]["exitCode"] == 9
    assert log_of(runner, pod) == "up\nstopping\n"
    assert (conditions(job)["Failed"], job["status"]["failed"]) == ("BackoffLimitExceeded", 1)


async def test_a_pod_that_does_not_listen_is_killed_when_its_time_is_over(api: Api, runner: JobRunner) -> None:
    script = "trap '' TERM; echo up; while :; do sleep 0.05; done"
    good(await api.create("jobs", job_of(shell(script), pod={"terminationGracePeriodSeconds": 1}, backoffLimit=0)))
    pod = await logged(runner, api, "up")

    async with api.watch("pods", resourceVersion=pod["metadata"]["resourceVersion"]) as watch:
        good(await api.delete("pods", pod["metadata"]["name"]))
        last = await watch.next()
        while last[0] != "DELETED":
            last = await watch.next()

    assert state(last[1])["terminated"]["exitCode"] == 137


async def test_nothing_runs_on_when_the_job_is_deleted(api: Api, runner: JobRunner) -> None:
    good(await api.create("jobs", job_of(shell("echo $$; exec sleep 600"))))
    pod = await logged(runner, api, "\n")
    pid = int(log_of(runner, pod))
    os.kill(pid, 0)

    good(await api.delete("jobs", "j", propagationPolicy="Background"))

    async def gone() -> bool:
        return not await pods(api)

    await eventually(gone)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_finished_job_goes_when_its_time_to_live_is_over(api: Api, runner: JobRunner) -> None:
    await ended(api, job_of(shell("true"), ttlSecondsAfterFinished=1))

    async def gone() -> bool:
        return (await api.get("jobs", "j")).status_code == 404 and not await pods(api)

    assert await eventually(gone)


async def test_a_container_is_restarted_in_its_pod_on_failure(api: Api, runner: JobRunner, tmp_path: Path) -> None:
    mark = tmp_path / "tried"
    job = await ended(
        api, job_of(shell(f"[ -e {mark} ] || {{ touch {mark}; exit 4; }}"), pod={"restartPolicy": "OnFailure"})
    )
    pod = await only_pod(api)

    assert "Complete" in conditions(job)
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 1
    assert state(pod, which="lastState")["terminated"]["exitCode"] == 4
    assert state(pod)["terminated"]["exitCode"] == 0


async def test_restarts_count_against_the_limit(api: Api, runner: JobRunner) -> None:
    job = await ended(api, job_of(shell("exit 1"), pod={"restartPolicy": "OnFailure"}, backoffLimit=2))

    assert conditions(job)["Failed"] == "BackoffLimitExceeded"


async def test_several_pods_run_at_once_until_enough_have_succeeded(api: Api, runner: JobRunner) -> None:
    job = await ended(api, job_of(shell("true"), parallelism=2, completions=3))

    assert job["status"]["succeeded"] == 3
    assert len(await pods(api)) == 3


async def test_a_suspended_job_does_not_run(api: Api, runner: JobRunner) -> None:
    good(await api.create("jobs", job_of(shell("true"), suspend=True)))
    other = job_of(shell("true")) | {"metadata": {"name": "other"}}
    good(await api.create("jobs", other))
    await reached(api, "jobs", has_ended, fieldSelector="metadata.name=other")

    [pod] = await pods(api)
    assert pod["metadata"]["labels"]["job-name"] == "other"
    good(await api.patch("jobs", "j", {"spec": {"suspend": False}}))
    assert await reached(api, "jobs", has_ended, fieldSelector="metadata.name=j")
