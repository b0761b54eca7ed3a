"""The sidecar's Role on the real API server: a whole run needs each of its rights, and it gives no other."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.kubernetes import APPLY, MERGE, STRATEGIC, Api, KubernetesServer, config_map, good, unique
from tests.support.reporter import APPLIED, ROLE, Scene, scene_on

FORBIDDEN = 403
REPORT = {"conditions": [APPLIED], "data": {"a": 1}}
CONDITIONS = {"status": {"conditions": [APPLIED]}}
LABEL = {"metadata": {"labels": {"touched": "yes"}}}


@dataclass(frozen=True, slots=True)
class Standing:
    """A Job with its pod, and the sidecar's own credentials in its namespace."""

    scene: Scene
    account: Api


@pytest.fixture
async def standing(server: KubernetesServer, api: Api, tmp_path: Path) -> AsyncIterator[Standing]:
    async with scene_on(server, api, tmp_path) as scene:
        token = (scene.folder / "account" / "token").read_text()
        yield Standing(scene, api.as_(token))


async def test_a_whole_run_needs_no_other_rights(standing: Standing) -> None:
    scene = standing.scene
    await scene.start()
    await scene.runs()
    await scene.until_logged("no report yet")
    scene.write(REPORT)
    await scene.until_reason("Applied", "Created")
    await scene.ends()

    assert await scene.exit_code() == 0
    refusals = [line for line in scene.output if "forbidden" in line.lower() or "not allowed" in line]
    assert refusals == []
    assert await scene.data() == {"a": 1}


@pytest.mark.parametrize(
    ("without", "expected"),
    [
        pytest.param(0, "not allowed", id="patch jobs/status"),
        pytest.param(1, "not allowed to read the Job", id="get jobs"),
        pytest.param(2, "the pod cannot be read", id="get and watch pods"),
    ],
)
async def test_each_right_is_missed_when_it_is_not_there(
    server: KubernetesServer, api: Api, tmp_path: Path, without: int, expected: str
) -> None:
    rules = tuple(rule for number, rule in enumerate(ROLE) if number != without)
    async with scene_on(server, api, tmp_path, rules=rules) as scene:
        await scene.start(JOB_NAME=scene.name)
        scene.write(REPORT)
        await scene.until_logged(expected)


ALLOWED = [
    pytest.param("GET", "jobs/{name}", None, STRATEGIC, id="get its Job"),
    pytest.param("PATCH", "jobs/{name}/status", CONDITIONS, STRATEGIC, id="patch its Job's status"),
    pytest.param("GET", "pods/{name}", None, STRATEGIC, id="get its pod"),
    pytest.param("GET", "pods?watch=1&timeoutSeconds=1&fieldSelector=metadata.name={name}", None, STRATEGIC, id="watch its pod"),
]  # fmt: skip

REFUSED = [
    pytest.param("GET", "jobs", None, STRATEGIC, id="list Jobs"),
    pytest.param("GET", "jobs?watch=1&timeoutSeconds=1", None, STRATEGIC, id="watch Jobs"),
    pytest.param("POST", "jobs", {"metadata": {"generateName": "x-"}}, "application/json", id="create a Job"),
    pytest.param("PATCH", "jobs/{name}", LABEL, STRATEGIC, id="patch a Job"),
    pytest.param("PATCH", "jobs/{name}", {"spec": {"suspend": True}}, MERGE, id="suspend a Job"),
    pytest.param("PATCH", "jobs/{name}", LABEL, APPLY, id="apply a Job"),
    pytest.param("PUT", "jobs/{name}", {"metadata": {"name": "{name}"}}, "application/json", id="replace a Job"),
    pytest.param("DELETE", "jobs/{name}", None, STRATEGIC, id="delete a Job"),
    pytest.param("DELETE", "jobs", None, STRATEGIC, id="delete all Jobs"),
    pytest.param("GET", "jobs/{name}/status", None, STRATEGIC, id="get a Job's status"),
    pytest.param("PUT", "jobs/{name}/status", {"metadata": {"name": "{name}"}}, "application/json", id="replace a Job's status"),
    pytest.param("GET", "pods", None, STRATEGIC, id="list pods"),
    pytest.param("POST", "pods", {"metadata": {"generateName": "x-"}}, "application/json", id="create a pod"),
    pytest.param("PATCH", "pods/{name}", LABEL, STRATEGIC, id="patch a pod"),
    pytest.param("PATCH", "pods/{name}/status", LABEL, STRATEGIC, id="patch a pod's status"),
    pytest.param("DELETE", "pods/{name}", None, STRATEGIC, id="delete a pod"),
    pytest.param("GET", "pods/{name}/log", None, STRATEGIC, id="read a pod's log"),
    pytest.param("POST", "pods/{name}/exec?command=sh", None, STRATEGIC, id="run a command in a pod"),
    pytest.param("POST", "pods/{name}/eviction", {"metadata": {"name": "{name}"}}, "application/json", id="evict a pod"),
    pytest.param("GET", "secrets", None, STRATEGIC, id="list secrets"),
    pytest.param("GET", "secrets/any", None, STRATEGIC, id="get a secret"),
    pytest.param("GET", "configmaps", None, STRATEGIC, id="list config maps"),
    pytest.param("POST", "configmaps", config_map("x"), "application/json", id="create a config map"),
    pytest.param("GET", "serviceaccounts", None, STRATEGIC, id="list accounts"),
    pytest.param("POST", "serviceaccounts/default/token", {"spec": {}}, "application/json", id="make a token"),
    pytest.param("GET", "roles", None, STRATEGIC, id="list Roles"),
    pytest.param("POST", "rolebindings", {"metadata": {"name": "x"}}, "application/json", id="bind a Role"),
    pytest.param("POST", "events", {"metadata": {"name": "x"}}, "application/json", id="create an event"),
    pytest.param("GET", "leases", None, STRATEGIC, id="list leases"),
]  # fmt: skip


async def ask(caller: Api, name: str, method: str, target: str, body: Any, media_type: str) -> int:
    where, _, query = target.format(name=name).partition("?")
    plural, _, rest = where.partition("/")
    path = "/".join(filter(None, (caller.path(plural), rest)))
    parameters = dict(pair.split("=", 1) for pair in query.split("&")) if query else {}
    if media_type == APPLY:
        parameters["fieldManager"] = "test"
    answer = await caller.send(method, path, body, media_type, **parameters)
    return answer.status_code


@pytest.mark.parametrize(("method", "target", "body", "media_type"), ALLOWED)
async def test_it_may(standing: Standing, method: str, target: str, body: Any, media_type: str) -> None:
    assert await ask(standing.account, standing.scene.name, method, target, body, media_type) == 200


@pytest.mark.parametrize(("method", "target", "body", "media_type"), REFUSED)
async def test_it_may_not(standing: Standing, method: str, target: str, body: Any, media_type: str) -> None:
    assert await ask(standing.account, standing.scene.name, method, target, body, media_type) == FORBIDDEN


@pytest.mark.parametrize(("method", "target", "body", "media_type"), ALLOWED)
async def test_it_may_nothing_in_another_namespace(
    standing: Standing, method: str, target: str, body: Any, media_type: str
) -> None:
    admin = standing.scene.api
    other = replace(admin, namespace=unique("other"))
    good(await admin.send("POST", "/api/v1/namespaces", {"metadata": {"name": other.namespace}}))
    visitor = replace(standing.account, namespace=other.namespace)
    assert await ask(visitor, standing.scene.name, method, target, body, media_type) == FORBIDDEN


@pytest.mark.parametrize(
    "path",
    ["/api/v1/pods", "/apis/batch/v1/jobs", "/api/v1/namespaces", "/api/v1/nodes", "/api/v1/secrets"],
)
async def test_it_may_nothing_of_the_cluster(standing: Standing, path: str) -> None:
    assert (await standing.account.send("GET", path)).status_code == FORBIDDEN
