"""Jobs run as local processes: what their objects show is what a cluster shows. On the stand-in and the real server."""

import asyncio
import base64
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lab.kubernetes.jobs import JobRunner
from shared import times
from tests.contracts.kubernetes_ground import PATIENCE, Api, Document, Ground, config_map, eventually, good

IMAGES = {"shell": ("sh", "-c"), "python": (sys.executable, "-c"), "nowhere": ("no-such-program",)}


@pytest.fixture
async def runner(kube: Ground, api: Api, tmp_path: Path) -> AsyncIterator[JobRunner]:
    async with JobRunner(kube, images=IMAGES, folder=tmp_path, namespace=api.namespace, retry_seconds=0.05) as running:
        yield running


def shell(script: str, name: str = "adapter", **more: Any) -> Document:
    return {"name": name, "image": "shell", "args": [script], **more}


def job_of(*containers: Document, pod: Document | None = None, **spec: Any) -> Document:
    template = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 5, "containers": list(containers)}
    return {"metadata": {"name": "j"}, "spec": {"template": {"spec": template | (pod or {})}, **spec}}


async def reached(api: Api, plural: str, holds: Callable[[Document], Any], **query: Any) -> Document:
    """The first object of a kind for which something holds, seen through a watch."""
    seen: Document = {}
    try:
        async with asyncio.timeout(PATIENCE), api.watch(plural, **query) as watch:
            while not (seen and holds(seen)):
                _, seen = await watch.next()
    except TimeoutError:
        raise AssertionError(f"not reached in {PATIENCE:g} s; last seen {seen}") from None
    return seen


def conditions(job: Document) -> dict[str, str]:
    """Reasons of the conditions that hold, by type."""
    listed = job.get("status", {}).get("conditions") or ()
    return {each["type"]: each["reason"] for each in listed if each["status"] == "True"}


def has_ended(job: Document) -> bool:
    return bool(conditions(job).keys() & {"Complete", "Failed"})


async def ended(api: Api, job: Document) -> Document:
    """Create a Job and wait for its end."""
    good(await api.create("jobs", job))
    return await reached(api, "jobs", has_ended)


async def pods(api: Api) -> list[Document]:
    listed: list[Document] = good(await api.get("pods"))["items"]
    return sorted(listed, key=lambda each: each["metadata"]["creationTimestamp"])


async def only_pod(api: Api) -> Document:
    [pod] = await pods(api)
    return pod


def state(pod: Document, container: str = "adapter", *, which: str = "state") -> Document:
    statuses = [
        each
        for field in ("containerStatuses", "initContainerStatuses")
        for each in pod.get("status", {}).get(field) or ()
        if each["name"] == container
    ]
    found: Document = statuses[0][which] if statuses else {}
    return found


def is_running(container: str = "adapter") -> Callable[[Document], bool]:
    return lambda pod: "running" in state(pod, container)


def log_of(runner: JobRunner, pod: Document, container: str = "adapter") -> str:
    return (runner.folder_of(pod) / "logs" / f"{container}.log").read_text()


def wrote(runner: JobRunner, text: str) -> Callable[[Document], bool]:
    """Whether a pod is running and has logged something."""

    def holds(pod: Document) -> bool:
        file = runner.folder_of(pod) / "logs" / "adapter.log"
        return file.exists() and text in file.read_text()

    return holds


async def said(runner: JobRunner, api: Api, text: str) -> Document:
    """The only pod, once its adapter has logged something."""
    pod = await reached(api, "pods", is_running())

    async def heard() -> bool:
        return wrote(runner, text)(pod)

    await eventually(heard)
    return pod


async def test_a_job_completes(api: Api, runner: JobRunner) -> None:
    job = await ended(api, job_of(shell("echo done")))
    pod = await only_pod(api)

    assert conditions(job) == {"SuccessCriteriaMet": "CompletionsReached", "Complete": "CompletionsReached"}
    assert job["status"]["succeeded"] == 1
    assert not {"active", "failed"} & job["status"].keys()
    assert times.parse(job["status"]["completionTime"]) >= times.parse(job["status"]["startTime"])
    assert pod["status"]["phase"] == "Succeeded"
    terminated = state(pod)["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (0, "Completed")
    assert log_of(runner, pod) == "done\n"


async def test_a_pod_belongs_to_its_job(api: Api, runner: JobRunner) -> None:
    wanted = job_of(shell("true"))
    wanted["spec"]["template"]["metadata"] = {"labels": {"a": "b"}, "annotations": {"c": "d"}}
    job = await ended(api, wanted)
    metadata = (await only_pod(api))["metadata"]

    assert metadata["name"].startswith("j-")
    assert metadata["labels"] == job["spec"]["template"]["metadata"]["labels"]
    assert (metadata["labels"]["a"], metadata["annotations"]["c"]) == ("b", "d")
    assert metadata["ownerReferences"] == [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": "j",
            "uid": job["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


async def test_a_container_waits_runs_and_ends(api: Api, runner: JobRunner) -> None:
    since = good(await api.get("pods"))["metadata"]["resourceVersion"]
    await ended(api, job_of(shell("true")))
    seen: list[tuple[str, str]] = []

    async with api.watch("pods", resourceVersion=since) as watch:
        while ("Succeeded", "terminated") not in seen:
            _, pod = await watch.next()
            seen += [(pod["status"]["phase"], each) for each in state(pod)]

    order = list(dict.fromkeys(seen))
    assert order == [
        ("Pending", "waiting"),
        ("Running", "running"),
        ("Running", "terminated"),
        ("Succeeded", "terminated"),
    ]


async def test_command_and_arguments_replace_those_of_the_image(api: Api, runner: JobRunner) -> None:
    container = {
        "name": "adapter",
        "image": "shell",
        "command": ["printf", "%s-%s"],
        "args": ["$(A)", "$$(A) $(B)"],
        "env": [{"name": "A", "value": "1"}],
    }
    await ended(api, job_of(container))

    assert log_of(runner, await only_pod(api)) == "1-$(A) $(B)"


async def test_the_environment_comes_from_values_the_pod_and_other_objects(api: Api, runner: JobRunner) -> None:
    good(await api.create("configmaps", config_map("settings", level="debug")))
    secret = {"metadata": {"name": "keys"}, "data": {"token": base64.b64encode(b"s3cret").decode()}}
    good(await api.create("secrets", secret))
    env = [
        {"name": "PLAIN", "value": "x"},
        {"name": "BUILT", "value": "$(PLAIN)y"},
        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "SPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
        {"name": "LABEL", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['job-name']"}}},
        {"name": "LEVEL", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "level"}}},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "token"}}},
        {"name": "NONE", "valueFrom": {"configMapKeyRef": {"name": "no", "key": "no", "optional": True}}},
    ]
    script = 'echo "$PLAIN $BUILT $POD $SPACE $LABEL $LEVEL $TOKEN ${NONE-unset}"'
    await ended(api, job_of(shell(script, env=env)))

    pod = await only_pod(api)
    name = pod["metadata"]["name"]
    assert log_of(runner, pod) == f"x xy {name} {api.namespace} j debug s3cret unset\n"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"configMapKeyRef": {"name": "no", "key": "k"}}, 'configmap "no" not found'),
        ({"secretKeyRef": {"name": "no", "key": "k"}}, 'secret "no" not found'),
        ({"configMapKeyRef": {"name": "here", "key": "k"}}, "couldn't find key k in ConfigMap {namespace}/here"),
    ],
    ids=["no config map", "no secret", "no key"],
)
async def test_a_container_that_cannot_be_configured_waits(
    api: Api, runner: JobRunner, source: Document, message: str
) -> None:
    good(await api.create("configmaps", config_map("here")))
    container = shell("true", env=[{"name": "A", "valueFrom": source}])
    good(await api.create("jobs", job_of(container)))

    pod = await reached(api, "pods", lambda each: state(each).get("waiting", {}).get("message"))

    assert state(pod)["waiting"] == {
        "reason": "CreateContainerConfigError",
        "message": message.format(namespace=api.namespace),
    }
    assert pod["status"]["phase"] == "Pending"


async def test_containers_of_a_pod_share_its_volumes_and_no_others(api: Api, runner: JobRunner) -> None:
    mount: Document = {"volumeMounts": [{"name": "results", "mountPath": "/results"}]}
    writer = shell("echo report > /results/report.json; ls /results/report.json", **mount)
    reader = shell(
        'until [ -s "$FILE" ]; do sleep 0.01; done; cat "$FILE"',
        "reader",
        env=[{"name": "FILE", "value": "/results/report.json"}],
        **mount,
    )
    await ended(api, job_of(writer, reader, pod={"volumes": [{"name": "results", "emptyDir": {}}]}))

    pod = await only_pod(api)
    assert log_of(runner, pod, "reader") == "report\n"
    assert log_of(runner, pod).startswith(str(runner.folder_of(pod)))


async def test_volumes_hold_config_maps_secrets_and_the_pods_own_fields(api: Api, runner: JobRunner) -> None:
    good(await api.create("configmaps", config_map("settings", a="1", b="2")))
    good(await api.create("secrets", {"metadata": {"name": "keys"}, "stringData": {"c": "3"}}))
    volumes = [
        {"name": "all", "configMap": {"name": "settings"}},
        {"name": "some", "configMap": {"name": "settings", "items": [{"key": "b", "path": "deep/b"}]}},
        {"name": "keys", "secret": {"secretName": "keys"}},
        {
            "name": "self",
            "downwardAPI": {"items": [{"path": "x", "fieldRef": {"fieldPath": "metadata.annotations['x']"}}]},
        },
    ]
    mounts = [{"name": each["name"], "mountPath": f"/{each['name']}"} for each in volumes]
    wanted = job_of(
        shell("cat /all/a /all/b /some/deep/b /keys/c /self/x", volumeMounts=mounts), pod={"volumes": volumes}
    )
    wanted["spec"]["template"]["metadata"] = {"annotations": {"x": "4"}}
    await ended(api, wanted)

    assert log_of(runner, await only_pod(api)) == "12234"


async def test_a_container_finds_its_service_account(kube: Ground, api: Api, runner: JobRunner) -> None:
    rule = {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]}
    good(await api.create("serviceaccounts", {"metadata": {"name": "worker"}}))
    good(await api.create("roles", {"metadata": {"name": "worker"}, "rules": [rule]}))
    binding = {
        "metadata": {"name": "worker"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "worker"},
        "subjects": [{"kind": "ServiceAccount", "name": "worker", "namespace": api.namespace}],
    }
    good(await api.create("rolebindings", binding))
    mounted = "/var/run/secrets/kubernetes.io/serviceaccount"
    script = f'echo "$KUBERNETES_API_URL"; cat "$SERVICE_ACCOUNT_PATH/namespace"; echo; cat {mounted}/token'
    await ended(api, job_of(shell(script), pod={"serviceAccountName": "worker"}))

    url, namespace, token = log_of(runner, await only_pod(api)).splitlines()
    assert (url, namespace) == (kube.url, api.namespace)
    account = api.as_(token)

    async def may_get() -> bool:
        return await account.may("get", "batch", "jobs")

    await eventually(may_get)
    assert not await account.may("delete", "batch", "jobs")


async def test_only_the_container_that_mounts_a_projected_token_finds_one(api: Api, runner: JobRunner) -> None:
    good(await api.create("serviceaccounts", {"metadata": {"name": "worker"}}))
    sources = [
        {"serviceAccountToken": {"path": "token"}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
    ]
    account = {"name": "account", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    script = 'cat "$SERVICE_ACCOUNT_PATH/namespace"; test -s "$SERVICE_ACCOUNT_PATH/token" && echo " token"'
    pod = {
        "serviceAccountName": "worker",
        "automountServiceAccountToken": False,
        "volumes": [{"name": "account", "projected": {"sources": sources}}],
    }
    await ended(api, job_of(shell(script, volumeMounts=[account]), shell(f"{script}; true", "other"), pod=pod))

    made = await only_pod(api)
    assert log_of(runner, made) == f"{api.namespace} token\n"
    assert "token\n" not in log_of(runner, made, "other").split("cat:")[0]


async def test_an_unknown_image_is_waited_for(api: Api, runner: JobRunner) -> None:
    job = job_of({"name": "adapter", "image": "registry/unknown:1"}, shell("sleep 60", "other"))
    good(await api.create("jobs", job))

    pod = await reached(
        api,
        "pods",
        lambda each: (
            state(each).get("waiting", {}).get("reason") == "ImagePullBackOff" and "running" in state(each, "other")
        ),
    )

    assert "registry/unknown:1" in state(pod)["waiting"]["message"]
    assert pod["status"]["phase"] == "Pending"


async def test_a_program_that_cannot_be_started_ends_at_once(api: Api, runner: JobRunner) -> None:
    await ended(api, job_of({"name": "adapter", "image": "nowhere"}, backoffLimit=0))

    terminated = state(await only_pod(api))["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (128, "StartError")


# --- last words -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "code", "reason"),
    [
        ("exit 3", 3, "Error"),
        ("kill -TERM $$", 143, "Error"),
        ("kill -KILL $$", 137, "Error"),
    ],
)
async def test_an_exit_code_tells_how_a_container_ended(
    api: Api, runner: JobRunner, script: str, code: int, reason: str
) -> None:
    job = await ended(api, job_of(shell(script), backoffLimit=0))
    pod = await only_pod(api)

    assert conditions(job)["Failed"] == "BackoffLimitExceeded"
    assert pod["status"]["phase"] == "Failed"
    terminated = state(pod)["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (code, reason)


async def test_last_words_are_read_from_their_file(api: Api, runner: JobRunner) -> None:
    mounted = {"volumeMounts": [{"name": "v", "mountPath": "/v"}], "terminationMessagePath": "/v/said"}
    await ended(
        api,
        job_of(
            shell('printf bye > "$TERMINATION_MESSAGE_PATH"'),
            shell("printf farewell > /v/said", "other", **mounted),
            pod={"volumes": [{"name": "v", "emptyDir": {}}]},
        ),
    )
    pod = await only_pod(api)

    assert state(pod)["terminated"]["message"] == "bye"
    assert state(pod, "other")["terminated"]["message"] == "farewell"


async def test_last_words_fall_back_to_the_log_where_asked(api: Api, runner: JobRunner) -> None:
    asks = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    await ended(api, job_of(shell("echo oh; exit 1", **asks), shell("echo no; exit 1", "other"), backoffLimit=0))
    pod = await only_pod(api)

    assert state(pod)["terminated"]["message"] == "oh\n"
    assert "message" not in state(pod, "other")["terminated"]


async def test_a_container_that_takes_too_much_memory_is_killed(api: Api, runner: JobRunner) -> None:
    greedy = {
        "name": "adapter",
        "image": "python",
        "args": ["held = bytearray(200 << 20)\nwhile True: pass"],
        "resources": {"limits": {"memory": "64Mi"}},
    }
    await ended(api, job_of(greedy, backoffLimit=0))

    terminated = state(await only_pod(api))["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (137, "OOMKilled")


# --- how often, how long --------------------------------------------------------------------------


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
        told = f"Container adapter for pod {api.namespace}/{name} failed with exit code 42 matching FailJob rule at index 0"
        assert job["status"]["conditions"][0]["message"] == told


async def test_an_ignored_failure_is_not_counted(api: Api, runner: JobRunner, tmp_path: Path) -> None:
    mark = tmp_path / "tried"
    rule = {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [42]}}
    script = f"[ -e {mark} ] || {{ touch {mark}; exit 42; }}"
    job = await ended(api, job_of(shell(script), backoffLimit=0, podFailurePolicy={"rules": [rule]}))

    assert "Complete" in conditions(job)
    assert "failed" not in job["status"]
    assert len(await pods(api)) == 2


async def test_a_job_that_takes_too_long_fails(api: Api, runner: JobRunner) -> None:
    script = "trap 'echo told; exit 0' TERM; echo up; while :; do sleep 0.05; done"
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


async def test_a_deleted_pod_is_told_and_given_time(api: Api, runner: JobRunner) -> None:
    script = "trap 'echo told; exit 9' TERM; echo up; while :; do sleep 0.05; done"
    good(await api.create("jobs", job_of(shell(script), backoffLimit=0)))
    pod = await said(runner, api, "up")
    since = pod["metadata"]["resourceVersion"]

    async with api.watch("pods", resourceVersion=since) as watch:
        marked = good(await api.delete("pods", pod["metadata"]["name"]))
        last = await watch.next()
        while last[0] != "DELETED":
            last = await watch.next()
    job = await reached(api, "jobs", has_ended)

    assert marked["metadata"]["deletionGracePeriodSeconds"] == 5
    assert state(last[1])["terminated"]["exitCode"] == 9
    assert log_of(runner, pod) == "up\ntold\n"
    assert (conditions(job)["Failed"], job["status"]["failed"]) == ("BackoffLimitExceeded", 1)


async def test_a_pod_that_does_not_listen_is_killed_when_its_time_is_over(api: Api, runner: JobRunner) -> None:
    script = "trap '' TERM; echo up; while :; do sleep 0.05; done"
    good(await api.create("jobs", job_of(shell(script), pod={"terminationGracePeriodSeconds": 1}, backoffLimit=0)))
    pod = await said(runner, api, "up")

    async with api.watch("pods", resourceVersion=pod["metadata"]["resourceVersion"]) as watch:
        good(await api.delete("pods", pod["metadata"]["name"]))
        last = await watch.next()
        while last[0] != "DELETED":
            last = await watch.next()

    assert state(last[1])["terminated"]["exitCode"] == 137


async def test_nothing_runs_on_when_the_job_is_deleted(api: Api, runner: JobRunner) -> None:
    good(await api.create("jobs", job_of(shell("echo $$; exec sleep 600"))))
    pod = await said(runner, api, "\n")
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


# --- more than one container ----------------------------------------------------------------------


async def test_init_containers_run_one_after_another_before_the_others(
    api: Api, runner: JobRunner, tmp_path: Path
) -> None:
    order = tmp_path / "order"
    init = [shell(f"echo {name} >> {order}", name) for name in ("first", "second")]
    await ended(api, job_of(shell(f"echo main >> {order}"), pod={"initContainers": init}))
    pod = await only_pod(api)

    assert order.read_text().split() == ["first", "second", "main"]
    assert state(pod, "second")["terminated"]["reason"] == "Completed"


async def test_a_failed_init_container_fails_its_pod(api: Api, runner: JobRunner) -> None:
    await ended(api, job_of(shell("true"), pod={"initContainers": [shell("exit 6", "init")]}, backoffLimit=0))
    pod = await only_pod(api)

    assert pod["status"]["phase"] == "Failed"
    assert state(pod, "init")["terminated"]["exitCode"] == 6
    assert state(pod)["waiting"]["reason"] == "PodInitializing"


async def test_a_native_sidecar_runs_beside_and_is_told_to_end_after_the_others(api: Api, runner: JobRunner) -> None:
    sidecar = shell("trap 'echo told; exit 0' TERM; echo up; while :; do sleep 0.05; done", "sidecar")
    sidecar["restartPolicy"] = "Always"
    job = await ended(api, job_of(shell("sleep 0.3"), pod={"initContainers": [sidecar]}))
    pod = await only_pod(api)

    assert "Complete" in conditions(job)
    assert log_of(runner, pod, "sidecar") == "up\ntold\n"
    assert state(pod, "sidecar")["terminated"]["exitCode"] == 0


async def test_a_pod_ends_when_all_its_containers_have(api: Api, runner: JobRunner) -> None:
    job = await ended(api, job_of(shell("exit 1"), shell("sleep 0.2", "reporter"), backoffLimit=0))
    pod = await only_pod(api)

    assert "Failed" in conditions(job)
    codes: Sequence[int] = [each["state"]["terminated"]["exitCode"] for each in pod["status"]["containerStatuses"]]
    assert codes == [1, 0]


async def test_jobs_run_on_while_the_api_server_is_away(
    kube: Ground, api: Api, runner: JobRunner, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    good(await api.create("jobs", job_of(shell(f"until [ -e {go} ]; do sleep 0.01; done; exit 3"), backoffLimit=0)))
    await reached(api, "pods", is_running())

    await kube.kill()
    go.touch()
    await kube.start()
    job = await reached(api, "jobs", has_ended)

    assert "Failed" in conditions(job)
    assert state(await only_pod(api))["terminated"]["exitCode"] == 3
