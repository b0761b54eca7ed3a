"""What the Kubernetes transport does when the API server fails."""

import asyncio
import math
from typing import Any

import pytest

from dispatcher.engine.ports import Query
from dispatcher.transports import KubernetesTransport
from lab.kubernetes import EVERYTHING, LabKubernetes, Rule
from shared.errors import AlreadyExists, Conflict, Forbidden, Transient, Unavailable
from shared.kubernetes import KubernetesClient, ObjectRef
from shared.retry import RetryPolicy
from tests.support.kubernetes import standin
from tests.support.kubernetes_client import access_of
from tests.support.kubernetes_objects import config_map

QUICK = RetryPolicy(budget=240.0, first_delay=0.01, max_delay=0.05)


@pytest.fixture
async def transport(client: KubernetesClient) -> KubernetesTransport:
    await client.kind("v1", "ConfigMap")
    return KubernetesTransport(client, manager="adapter", retry=QUICK)


def about(namespace: str, name: str = "settings") -> Query:
    return Query(api_version="v1", kind="ConfigMap", namespace=namespace, name=name)


@pytest.mark.parametrize("status", [429, 500, 503, 504])
async def test_a_failure_that_passes_is_waited_out(
    server: LabKubernetes, transport: KubernetesTransport, namespace: str, status: int
) -> None:
    server.faults.fail(status, path="configmaps", times=3)
    created = await transport.create(config_map(namespace))
    server.faults.fail(status, path="configmaps", times=3)
    assert await transport.find(about(namespace)) == [created]
    server.faults.fail(status, path="configmaps", times=3)
    assert await transport.delete(created, policy="Background") is None


async def test_a_failure_that_lasts_ends_with_the_budget(
    server: LabKubernetes, client: KubernetesClient, namespace: str
) -> None:
    transport = KubernetesTransport(client, manager="adapter", retry=RetryPolicy(budget=0.2, first_delay=0.01))
    await server.kill()
    with pytest.raises(Unavailable):
        await transport.find(about(namespace))


async def test_a_creation_whose_answer_is_lost_is_our_own(
    server: LabKubernetes, transport: KubernetesTransport, namespace: str
) -> None:
    server.faults.lose_answer(method="PATCH")
    created = await transport.create(config_map(namespace, a="1"))
    assert await transport.find(about(namespace)) == [created]


async def test_an_object_of_somebody_else_is_not_mistaken_for_our_own(
    server: LabKubernetes, transport: KubernetesTransport, client: KubernetesClient, namespace: str
) -> None:
    await client.create(config_map(namespace, a="1"), manager="others")
    server.faults.cut(method="PATCH")
    with pytest.raises(AlreadyExists):
        await transport.create(config_map(namespace, a="1"))


async def test_an_update_whose_answer_is_lost_is_our_own(
    server: LabKubernetes, transport: KubernetesTransport, namespace: str
) -> None:
    observed = await transport.create(config_map(namespace, a="1"))
    server.faults.lose_answer(method="PATCH")
    updated = await transport.update(config_map(namespace, a="2"), observed)
    assert updated["data"] == {"a": "2"}


async def test_after_a_lost_answer_the_change_of_somebody_else_is_a_conflict(
    server: LabKubernetes, transport: KubernetesTransport, client: KubernetesClient, namespace: str
) -> None:
    observed = await transport.create(config_map(namespace, a="1"))
    await client.patch(ObjectRef.of(observed), {"data": {"a": "theirs"}}, manager="others")
    server.faults.cut(method="PATCH")
    with pytest.raises(Conflict):
        await transport.update(config_map(namespace, a="2"), observed)


async def test_a_deletion_whose_answer_is_lost_has_happened(
    server: LabKubernetes, transport: KubernetesTransport, namespace: str
) -> None:
    observed = await transport.create(config_map(namespace))
    server.faults.lose_answer(method="DELETE")
    assert await transport.delete(observed, policy="Background") is None


async def test_an_object_named_by_the_server_is_not_made_twice(
    server: LabKubernetes, transport: KubernetesTransport, namespace: str
) -> None:
    manifest: dict[str, Any] = config_map(namespace)
    manifest["metadata"] = {"namespace": namespace, "generateName": "settings-", "labels": {"x": "1"}}
    server.faults.lose_answer(method="POST")
    with pytest.raises(Transient):
        await transport.create(manifest)
    by_labels = Query(api_version="v1", kind="ConfigMap", namespace=namespace, labels={"x": "1"})
    assert len(await transport.find(by_labels)) == 1


async def test_a_server_that_has_just_started_is_not_believed_when_it_forbids(
    server: LabKubernetes, transport: KubernetesTransport, client: KubernetesClient, namespace: str
) -> None:
    client._http._unsettled_until = math.inf
    server.faults.fail(403, path="configmaps", times=2)
    assert await transport.create(config_map(namespace))


async def test_a_server_that_has_run_for_a_while_is_believed(
    server: LabKubernetes, transport: KubernetesTransport, client: KubernetesClient, namespace: str
) -> None:
    client._http._unsettled_until = 0.0
    server.faults.fail(403, path="configmaps")
    with pytest.raises(Forbidden):
        await transport.create(config_map(namespace))
    assert await transport.find(about(namespace)) == []


async def test_a_deletion_is_noticed_without_the_right_to_watch(server: LabKubernetes, namespace: str) -> None:
    limited = server.new_token([Rule(verbs=("get", "delete", "patch", "create"), resources=("*",))])
    manifest: dict[str, Any] = config_map(namespace)
    manifest["metadata"]["finalizers"] = ["tests.example.com/held"]
    async with (
        KubernetesClient(access_of(standin(server), limited)) as client,
        KubernetesClient(access_of(standin(server), server.new_token(EVERYTHING))) as other,
    ):
        transport = KubernetesTransport(client, manager="adapter")
        left = await transport.delete(await transport.create(manifest), policy="Background")
        assert left is not None
        waiting = asyncio.create_task(transport.wait_gone(left, timeout=240.0))
        await other.patch(ObjectRef.of(left), {"metadata": {"finalizers": None}})
        assert await waiting


async def test_a_deletion_is_noticed_over_an_outage(
    server: LabKubernetes, transport: KubernetesTransport, client: KubernetesClient, namespace: str
) -> None:
    manifest: dict[str, Any] = config_map(namespace)
    manifest["metadata"]["finalizers"] = ["tests.example.com/held"]
    left = await transport.delete(await transport.create(manifest), policy="Background")
    assert left is not None
    waiting = asyncio.create_task(transport.wait_gone(left, timeout=240.0))
    await server.kill()
    await server.start()
    await client.patch(ObjectRef.of(left), {"metadata": {"finalizers": None}})
    assert await waiting
