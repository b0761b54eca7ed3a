"""Each stand-in as a fixture does what it is there for."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx

from lab.api import LabApi
from lab.broker import LabBroker
from lab.fixtures import CONSUMER
from lab.hypershift.on_agent import HyperShiftOnAgent
from lab.kubernetes import LabKubernetes
from lab.kubernetes.jobs import JobRunner
from lab.maestro import LabMaestro
from lab.sentinel import LabSentinel
from shared.maestro import MaestroClient, MaestroSettings
from shared.model.manifestwork import ManifestWork
from tests.support.kubernetes_jobs import conditions, job_of

TIMEOUT = 240.0


async def eventually(holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(TIMEOUT):
        while True:
            if holds():
                return
            await asyncio.sleep(0.05)


async def test_sentinel_publishes_the_clusters_of_the_api_on_the_broker(
    lab_api: LabApi, lab_broker: LabBroker, lab_sentinel: LabSentinel
) -> None:
    async with httpx.AsyncClient(base_url=f"{lab_api.url}/api/hyperfleet/v1", timeout=TIMEOUT) as http:
        created = await http.post("/clusters", json={"kind": "Cluster", "name": "demo", "spec": {}})
    await eventually(lambda: lab_sentinel.events)
    assert created.json()["id"] in str(lab_sentinel.events[0].body)


async def test_jobs_run_on_the_api_server(lab_kubernetes: LabKubernetes, lab_jobs: JobRunner) -> None:
    job = job_of({"name": "adapter", "image": "sh", "args": ["exit 0"]})
    headers = {"Authorization": f"Bearer {lab_kubernetes.admin_token}"}
    async with httpx.AsyncClient(base_url=lab_kubernetes.url, headers=headers, timeout=TIMEOUT) as http:
        (await http.post("/apis/batch/v1/namespaces/default/jobs", json=job)).raise_for_status()
        async with asyncio.timeout(TIMEOUT):
            seen: dict[str, Any] = {}
            while "Complete" not in conditions(seen):
                seen = (await http.get("/apis/batch/v1/namespaces/default/jobs/j")).json()
                await asyncio.sleep(0.05)


async def test_a_hosted_cluster_becomes_available_on_the_management_cluster(
    lab_maestro: LabMaestro, lab_hypershift: HyperShiftOnAgent
) -> None:
    settings = MaestroSettings(
        grpc_server_address=lab_maestro.grpc_address,
        http_server_address=lab_maestro.rest_url,
        source_id="test",
        insecure=True,
    )
    hosted = {
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedCluster",
        "metadata": {"name": "demo", "namespace": "clusters"},
        "spec": {"release": {"image": "example/release:4.22.0"}},
    }
    async with MaestroClient(settings) as client:
        work = ManifestWork(name="demo", consumer=CONSUMER, manifests=(hosted,))
        await client.works(CONSUMER).apply(work)

        def is_available() -> bool:
            listed = lab_hypershift.clusters.get(("clusters", "demo"), {}).get("status", {}).get("conditions") or ()
            return any(each["type"] == "Available" and each["status"] == "True" for each in listed)

        await eventually(is_available)
