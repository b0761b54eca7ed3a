"""`controlplane-adapter check` on the real Maestro, its real agent and real API servers: what the probe sees and leaves."""

import asyncio
import json
import os
import ssl
import sys
from typing import Any

import httpx

from controlplane_adapter.check.probe import probe_work
from lab.real.servers.maestro import RealMaestro
from lab.real.servers.management import ManagementCluster
from shared.maestro import MaestroClient

TIMEOUT = 300
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/hostedclusters.hypershift.openshift.io"


async def check(maestro: RealMaestro, consumer: str, *arguments: str) -> tuple[int, dict[str, dict[str, str]]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "controlplane_adapter", "check", "--output", "json", *arguments),
        env={
            **os.environ,
            "MAESTRO_API_URL": f"http://127.0.0.1:{maestro.rest_port}",
            "MAESTRO_GRPC_URL": f"127.0.0.1:{maestro.grpc_port}",
            "MAESTRO_INSECURE": "true",
            "MANAGEMENT_CLUSTER_CONSUMER": consumer,
        },
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, {each["name"]: each for each in json.loads(output)["checks"]}


async def definition(cluster: ManagementCluster) -> dict[str, Any]:
    server = cluster.server
    trust = ssl.create_default_context(cafile=str(server.ca_file))
    async with httpx.AsyncClient(base_url=server.url, verify=trust, timeout=TIMEOUT) as http:
        answer = await http.get(CRD, headers={"Authorization": f"Bearer {server.admin_token}"})
    document: dict[str, Any] = answer.raise_for_status().json()
    return document


async def test_the_probe_sees_that_hypershift_offers_gcp_and_changes_nothing_there(
    maestro: RealMaestro, management_cluster: ManagementCluster, client: MaestroClient
) -> None:
    before = await definition(management_cluster)

    code, found = await check(maestro, management_cluster.consumer, "--probe", "--wait", "120")

    assert code == 0
    assert found["hypershift"]["state"] == "ok", found
    assert found["consumer"]["state"] == "ok"
    assert await definition(management_cluster) == before, "not even its version has changed"
    await require_no_probe(client, management_cluster)


async def require_no_probe(client: MaestroClient, cluster: ManagementCluster) -> None:
    """Maestro's agent sometimes never confirms a deletion; it is then started anew, as an operator would."""
    listed = [work.name async for work in client.scan(consumer=cluster.consumer)]
    left = [name for name in listed if name.startswith("controlplane-check")]
    if left:
        cluster.agent.kill()
        cluster.agent.start()
    for name in left:
        await client.works(cluster.consumer).wait_gone(name, timeout=TIMEOUT)


async def test_the_probe_sees_that_a_default_hypershift_lacks_gcp(
    maestro: RealMaestro, management_cluster_without_gcp: ManagementCluster
) -> None:
    before = await definition(management_cluster_without_gcp)

    code, found = await check(maestro, management_cluster_without_gcp.consumer, "--probe", "--wait", "120")

    assert code == 3
    assert found["hypershift"]["state"] == "missing", found
    assert "TechPreviewNoUpgrade" in found["hypershift"]["remedy"]
    assert await definition(management_cluster_without_gcp) == before


async def test_an_agent_that_applies_the_probes_object_could_not_change_the_definition(
    management_cluster: ManagementCluster, client: MaestroClient
) -> None:
    """The object has nothing to apply: an agent that does not know ReadOnly is refused by its API server."""
    server = management_cluster.server
    before = await definition(management_cluster)
    (manifest,) = probe_work(management_cluster.consumer).manifests
    trust = ssl.create_default_context(cafile=str(server.ca_file))
    async with httpx.AsyncClient(base_url=server.url, verify=trust, timeout=TIMEOUT) as http:
        token = {"Authorization": f"Bearer {server.admin_token}"}
        version = {"resourceVersion": before["metadata"]["resourceVersion"]}
        replaced = await http.put(
            CRD, json={**manifest, "metadata": {**manifest["metadata"], **version}}, headers=token
        )

    assert replaced.status_code == 422
    assert await definition(management_cluster) == before
