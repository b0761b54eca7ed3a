"""Secrets while the API server is away, and how often it is asked."""

import asyncio

import pytest

from dispatcher.transports import KubernetesSecrets
from lab.kubernetes import LabKubernetes, Rule
from shared.errors import Transient
from shared.kubernetes import KubernetesClient
from shared.retry import RetryPolicy
from tests.support.kubernetes import standin
from tests.support.kubernetes_client import access_of
from tests.support.kubernetes_objects import config_map

ONCE = RetryPolicy(attempts=1)


def reads(server: LabKubernetes) -> int:
    return len([seen for seen in server.seen if seen.method == "GET" and "configmaps" in seen.path])


async def test_a_watched_value_costs_no_further_request(
    server: LabKubernetes, client: KubernetesClient, namespace: str
) -> None:
    await client.create(config_map(namespace, a="1"))
    async with KubernetesSecrets(client, kept_seconds=0.0) as secrets:
        async with asyncio.timeout(240):
            copy = None
            while copy is None or not copy._is_watched:
                await secrets.read("ConfigMap", namespace, "settings", "a")
                copy = next(iter(secrets._copies.values()))
                await asyncio.sleep(0.01)
        before = reads(server)
        for _ in range(100):
            assert await secrets.read("ConfigMap", namespace, "settings", "a") == "1"
        assert reads(server) == before


async def test_many_runs_at_once_read_an_object_once(server: LabKubernetes, namespace: str) -> None:
    token = server.new_token([Rule(verbs=("get",), resources=("configmaps",))])
    async with KubernetesClient(access_of(standin(server))) as admin:
        await admin.create(config_map(namespace, a="1"))
    async with (
        KubernetesClient(access_of(standin(server), token)) as client,
        KubernetesSecrets(client, kept_seconds=3600.0) as secrets,
    ):
        values = await asyncio.gather(*(secrets.read("ConfigMap", namespace, "settings", "a") for _ in range(20)))
        assert values == ["1"] * 20
        assert len([seen for seen in server.seen if seen.path.endswith("configmaps/settings")]) == 1


async def test_a_value_outlives_an_outage_for_as_long_as_it_is_kept(
    server: LabKubernetes, client: KubernetesClient, namespace: str
) -> None:
    await client.create(config_map(namespace, a="1"))
    async with KubernetesSecrets(client, kept_seconds=3600.0, retry=ONCE) as secrets:
        await secrets.read("ConfigMap", namespace, "settings", "a")
        await server.kill()
        assert await secrets.read("ConfigMap", namespace, "settings", "a") == "1"


async def test_a_value_that_was_never_read_is_not_made_up(
    server: LabKubernetes, client: KubernetesClient, namespace: str
) -> None:
    async with KubernetesSecrets(client, retry=ONCE) as secrets:
        await server.kill()
        with pytest.raises(Transient):
            await secrets.read("ConfigMap", namespace, "settings", "a")
