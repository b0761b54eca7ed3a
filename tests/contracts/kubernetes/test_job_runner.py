"""Jobs run as local processes: what their objects show is what a cluster shows. On the stand-in and the real server."""

import base64
from collections.abc import Sequence
from pathlib import Path

import pytest

from lab.kubernetes.jobs import JobRunner
from shared import times
from tests.support.kubernetes import Api, Document, KubernetesServer, admin, config_map, eventually, good
from tests.support.kubernetes_jobs import (
    conditions,
    ended,
    has_ended,
    is_running,
    job_of,
    log_of,
    only_pod,
    reached,
    shell,
    state,
)
from tests.support.kubernetes_jobs import (
    pods as pods_of,
)


async def test_only_jobs_of_its_namespace_are_run(api: Api, server: KubernetesServer, runner: JobRunner) -> None:
    async with admin(server) as elsewhere:
        good(await elsewhere.create("jobs", job_of(shell("true"))))

        await ended(api, job_of(shell("true")))

        assert good(await elsewhere.get("jobs", "j"))["status"] == {}
        assert good(await elsewhere.get("pods"))["items"] == []


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


async def test_a_container_finds_its_service_account(server: KubernetesServer, api: Api, runner: JobRunner) -> None:
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
    assert (url, namespace) == (server.url, api.namespace)
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


async def test_an_image_is_pulled_again_until_the_registry_has_it(
    server: KubernetesServer, api: Api, tmp_path: Path
) -> None:
    images: dict[str, tuple[str, ...]] = {}
    async with JobRunner(server, images=images, folder=tmp_path, namespace=api.namespace, retry_seconds=0.05):
        good(await api.create("jobs", job_of(shell("exit 0"))))
        await reached(api, "pods", lambda each: state(each).get("waiting", {}).get("reason") == "ImagePullBackOff")
        images["shell"] = ("sh", "-c")
        job = await reached(api, "jobs", has_ended)

    assert conditions(job)["Complete"] == "CompletionsReached"
    assert state(await only_pod(api))["terminated"]["reason"] == "Completed"


async def test_a_full_node_lets_pods_wait_until_one_has_ended(
    server: KubernetesServer, api: Api, tmp_path: Path
) -> None:
    first, second, third = (job_of(shell(script)) for script in (_until(tmp_path / "go"), "exit 0", "exit 0"))
    second["metadata"]["name"], third["metadata"]["name"] = "waiting", "deleted"
    pods, images = tmp_path / "pods", {"shell": ("sh", "-c")}
    pods.mkdir()
    node = JobRunner(server, images=images, folder=pods, namespace=api.namespace, retry_seconds=0.05, max_pods=1)
    async with node:
        good(await api.create("jobs", first))
        await reached(api, "pods", is_running())
        for each in (second, third):
            good(await api.create("jobs", each))
            await reached(api, "pods", _is_pending, labelSelector=f"job-name={each['metadata']['name']}")
        good(await api.delete("jobs", "deleted", propagationPolicy="Background"))
        await eventually(lambda: _has_no_pods(api, "deleted"))

        [_, waiting] = await pods_of(api)
        assert not state(waiting)
        (tmp_path / "go").touch()
        await reached(api, "jobs", has_ended, fieldSelector="metadata.name=waiting")


def _until(file: Path) -> str:
    return f"until test -e {file}; do sleep 0.05; done"


def _is_pending(pod: Document) -> bool:
    return bool(pod["status"]["phase"] == "Pending")


async def _has_no_pods(api: Api, job: str) -> bool:
    return not good(await api.get("pods", labelSelector=f"job-name={job}"))["items"]


async def test_a_program_that_cannot_be_started_ends_at_once(api: Api, runner: JobRunner) -> None:
    await ended(api, job_of({"name": "adapter", "image": "nowhere"}, backoffLimit=0))

    terminated = state(await only_pod(api))["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (128, "StartError")


@pytest.mark.parametrize(
    ("script", "code", "reason"),
    [
        ("exit 3", 3, "Error"),
        ("kill -TERM $$", 143, "Error"),
        ("kill -KILL $$", 137, "Error"),
    ],
)
async def test_an_exit_code_shows_how_a_container_ended(
    api: Api, runner: JobRunner, script: str, code: int, reason: str
) -> None:
    job = await ended(api, job_of(shell(script), backoffLimit=0))
    pod = await only_pod(api)

    assert conditions(job)["Failed"] == "BackoffLimitExceeded"
    assert pod["status"]["phase"] == "Failed"
    terminated = state(pod)["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (code, reason)


async def test_a_termination_message_is_read_from_its_file(api: Api, runner: JobRunner) -> None:
    mounted = {"volumeMounts": [{"name": "v", "mountPath": "/v"}], "terminationMessagePath": "/v/message"}
    await ended(
        api,
        job_of(
            shell('printf bye > "$TERMINATION_MESSAGE_PATH"'),
            shell("printf goodbye > /v/message", "other", **mounted),
            pod={"volumes": [{"name": "v", "emptyDir": {}}]},
        ),
    )
    pod = await only_pod(api)

    assert state(pod)["terminated"]["message"] == "bye"
    assert state(pod, "other")["terminated"]["message"] == "goodbye"


async def test_a_termination_message_falls_back_to_the_log_where_asked(api: Api, runner: JobRunner) -> None:
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


async def test_a_native_sidecar_runs_beside_and_is_stopped_after_the_others(api: Api, runner: JobRunner) -> None:
    sidecar = shell("trap 'echo stopping; exit 0' TERM; echo up; while :; do sleep 0.05; done", "sidecar")
    sidecar["restartPolicy"] = "Always"
    job = await ended(api, job_of(shell("sleep 0.3"), pod={"initContainers": [sidecar]}))
    pod = await only_pod(api)

    assert "Complete" in conditions(job)
    assert log_of(runner, pod, "sidecar") == "up\nstopping\n"
    assert state(pod, "sidecar")["terminated"]["exitCode"] == 0


async def test_a_pod_ends_when_all_its_containers_have(api: Api, runner: JobRunner) -> None:
    job = await ended(api, job_of(shell("exit 1"), shell("sleep 0.2", "reporter"), backoffLimit=0))
    pod = await only_pod(api)

    assert "Failed" in conditions(job)
    codes: Sequence[int] = [each["state"]["terminated"]["exitCode"] for each in pod["status"]["containerStatuses"]]
    assert codes == [1, 0]


async def test_jobs_run_on_while_the_api_server_is_away(
    server: KubernetesServer, api: Api, runner: JobRunner, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    good(await api.create("jobs", job_of(shell(f"until [ -e {go} ]; do sleep 0.01; done; exit 3"), backoffLimit=0)))
    await reached(api, "pods", is_running())

    await server.kill()
    go.touch()
    await server.start()
    job = await reached(api, "jobs", has_ended)

    assert "Failed" in conditions(job)
    assert state(await only_pod(api))["terminated"]["exitCode"] == 3
