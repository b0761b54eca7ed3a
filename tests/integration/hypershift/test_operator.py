"""The simulated operator on an API server: it reconciles clusters, survives a restart of the server, and completes deletions."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from lab.hypershift.operator import API, Operator, Refused
from lab.hypershift.sequences import FINALIZER, Moment, Script
from lab.kubernetes import LabKubernetes
from tests.support.hosted_clusters import NAMESPACE, TIMEOUT, hosted_cluster

SPEED = 5000.0
PATH = f"{API}/namespaces/{NAMESPACE}/hostedclusters"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "hostedclusters.hypershift.openshift.io"},
    "spec": {
        "group": "hypershift.openshift.io",
        "scope": "Namespaced",
        "names": {"plural": "hostedclusters", "singular": "hostedcluster", "kind": "HostedCluster"},
        "versions": [
            {
                "name": "v1beta1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}


@pytest.fixture
async def server() -> AsyncIterator[LabKubernetes]:
    async with LabKubernetes() as server:
        yield server


@pytest.fixture
async def http(server: LabKubernetes) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {server.admin_token}"}
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=TIMEOUT) as http:
        (await http.post("/api/v1/namespaces", json={"metadata": {"name": NAMESPACE}})).raise_for_status()
        yield http


async def define(http: httpx.AsyncClient) -> None:
    answer = await http.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json=DEFINITION)
    answer.raise_for_status()


async def until(
    http: httpx.AsyncClient, name: str, reached: Callable[[dict[str, Any]], bool], *, since: str = "0"
) -> dict[str, Any]:
    """The object once it satisfies `reached`, by a watch of its own from this version on; "0" begins with what is there."""
    query = {"watch": "1", "fieldSelector": f"metadata.name={name}", "resourceVersion": since}
    async with asyncio.timeout(TIMEOUT), http.stream("GET", PATH, params=query, timeout=None) as answer:
        answer.raise_for_status()
        async for line in answer.aiter_lines():
            event = json.loads(line)
            if event["object"]["metadata"]["name"] == name and reached(event):
                found: dict[str, Any] = event["object"]
                return found
    raise AssertionError("the watch ended")


def is_installed(event: dict[str, Any]) -> bool:
    history = event["object"].get("status", {}).get("controlPlaneVersion", {}).get("history") or [{}]
    return bool(history[0].get("state") == "Completed")


async def test_a_cluster_is_installed_and_after_its_deletion_gone(
    server: LabKubernetes, http: httpx.AsyncClient
) -> None:
    await define(http)
    async with Operator(server.url, server.admin_token, server.ca_file, speed=SPEED):
        (await http.post(PATH, json=hosted_cluster("demo"))).raise_for_status()
        installed = await until(http, "demo", is_installed)
        assert installed["metadata"]["finalizers"] == [FINALIZER]
        (await http.delete(f"{PATH}/demo")).raise_for_status()
        since = installed["metadata"]["resourceVersion"]
        await until(http, "demo", lambda event: event["type"] == "DELETED", since=since)


async def test_a_kind_that_is_defined_later_is_waited_for(server: LabKubernetes, http: httpx.AsyncClient) -> None:
    async with Operator(server.url, server.admin_token, server.ca_file, speed=SPEED):
        await define(http)
        (await http.post(PATH, json=hosted_cluster("demo"))).raise_for_status()
        await until(http, "demo", is_installed)


async def test_what_one_operator_began_another_ends(server: LabKubernetes, http: httpx.AsyncClient) -> None:
    await define(http)
    (await http.post(PATH, json=hosted_cluster("demo"))).raise_for_status()
    async with Operator(server.url, server.admin_token, server.ca_file, speed=SPEED) as first:
        first.play(NAMESPACE, "demo", Script(hold_before=Moment.AVAILABLE))
        await until(http, "demo", lambda event: "kubeconfig" in event["object"].get("status", {}))
    async with Operator(server.url, server.admin_token, server.ca_file, speed=SPEED):
        await until(http, "demo", is_installed)


async def test_an_operator_survives_a_restart_of_the_server(server: LabKubernetes, http: httpx.AsyncClient) -> None:
    await define(http)
    async with Operator(server.url, server.admin_token, server.ca_file, speed=SPEED) as operator:
        operator.play(NAMESPACE, "demo", Script(hold_before=Moment.AVAILABLE))
        (await http.post(PATH, json=hosted_cluster("demo"))).raise_for_status()
        await until(http, "demo", lambda event: "kubeconfig" in event["object"].get("status", {}))
        await server.kill()
        await server.start()
        operator.play(NAMESPACE, "demo", Script())
        await until(http, "demo", is_installed)
        operator.check()


async def test_two_clusters_are_tended_side_by_side_each_by_its_script(
    server: LabKubernetes, http: httpx.AsyncClient
) -> None:
    await define(http)
    async with Operator(server.url, server.admin_token, server.ca_file, speed=SPEED) as operator:
        operator.play(NAMESPACE, "slow", Script(hold_before=Moment.SEEN))
        for name in ("slow", "quick"):
            (await http.post(PATH, json=hosted_cluster(name))).raise_for_status()
        await until(http, "quick", is_installed)
        assert "status" not in operator.clusters[NAMESPACE, "slow"]


async def test_an_operator_that_is_not_let_in_says_so(server: LabKubernetes, http: httpx.AsyncClient) -> None:
    await define(http)
    with pytest.raises(ExceptionGroup) as failure:
        async with Operator(server.url, "wrong-token", server.ca_file) as operator:
            await asyncio.wait([operator.task], timeout=TIMEOUT)
    assert failure.group_contains(Refused, match="401")
