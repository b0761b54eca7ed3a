"""The rendered Job on the real API server, in a namespace that enforces the `restricted` pod security standard."""

import json
import ssl
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from lab.real.servers.kubernetes import RealKubernetes
from shared.languages.gotemplate import compile_structure

TEMPLATE = Path(__file__).parents[3] / "jobs" / "controlplane" / "job.yaml"
NAMESPACE = "hyperfleet-adapters"
LARGEST_GENERATION = 9_999_999_999
RESTRICTED = {
    f"pod-security.kubernetes.io/{mode}{more}": value
    for mode in ("enforce", "warn", "audit")
    for more, value in (("", "restricted"), ("-version", "latest"))
}

Document = dict[str, Any]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealKubernetes]:
    server = RealKubernetes(tmp_path_factory.mktemp("kubernetes"))
    server.prepare()
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
async def api(server: RealKubernetes) -> AsyncIterator[httpx.AsyncClient]:
    trust = ssl.create_default_context(cafile=str(server.ca_file))
    headers = {"Authorization": f"Bearer {server.admin_token}"}
    async with httpx.AsyncClient(base_url=server.url, verify=trust, headers=headers, timeout=300) as client:
        answer = await client.post("/api/v1/namespaces", json={"metadata": {"name": NAMESPACE, "labels": RESTRICTED}})
        assert answer.status_code in (201, 409), answer.text
        yield client


@pytest.fixture
def job() -> Document:
    """The Job of a new cluster, at the largest generation whose Job can have a name."""
    cluster_id = str(uuid.uuid4())
    snapshot = {"cluster": {"id": cluster_id, "name": "demo", "generation": LARGEST_GENERATION, "spec": {}}}
    rendered: Document = compile_structure(yaml.safe_load(TEMPLATE.read_text())).render(
        {
            "clusterId": cluster_id,
            "generation": LARGEST_GENERATION,
            "clusterSnapshot": json.dumps(snapshot),
            "managementCluster": "us-east-mgmt-01",
            "maestroApiUrl": "https://maestro.example.com",
            "maestroGrpcUrl": "maestro.example.com:8090",
            "adapterImage": "registry.example.com/controlplane-adapter:1",
            "reporterImage": "registry.example.com/status-reporter:1",
            "adapter": {"name": "controlplane"},
        }
    )
    return rendered


async def send(api: httpx.AsyncClient, path: str, document: Document) -> httpx.Response:
    return await api.post(path, params={"fieldValidation": "Strict"}, json=document)


async def create_job(api: httpx.AsyncClient, job: Document) -> httpx.Response:
    return await send(api, f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs", job)


async def create_pod(api: httpx.AsyncClient, job: Document) -> httpx.Response:
    """The pod that the Job controller would make."""
    template = job["spec"]["template"]
    pod = {"metadata": {"generateName": "controlplane-", **template["metadata"]}, "spec": template["spec"]}
    return await send(api, f"/api/v1/namespaces/{NAMESPACE}/pods", pod)


async def test_the_job_is_taken_without_a_warning(api: httpx.AsyncClient, job: Document) -> None:
    answer = await create_job(api, job)

    assert answer.status_code == 201, answer.text
    assert "warning" not in answer.headers
    assert len(answer.json()["metadata"]["name"]) == 63


async def test_a_generation_with_one_digit_more_would_be_refused(api: httpx.AsyncClient, job: Document) -> None:
    job["metadata"]["name"] += "0"

    answer = await create_job(api, job)

    assert answer.status_code == 422, answer.text
    assert "63" in answer.text


async def test_what_the_server_keeps_is_what_the_template_says(api: httpx.AsyncClient, job: Document) -> None:
    kept = (await create_job(api, job)).json()

    assert kept["spec"]["podFailurePolicy"] == job["spec"]["podFailurePolicy"]
    for member in ("backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"):
        assert kept["spec"][member] == job["spec"][member]
    annotations = kept["spec"]["template"]["metadata"]["annotations"]
    assert annotations["hyperfleet.io/cluster-snapshot"] == job["spec"]["template"]["metadata"]["annotations"]["hyperfleet.io/cluster-snapshot"]  # fmt: skip


async def test_its_pods_are_taken_where_only_restricted_ones_are(api: httpx.AsyncClient, job: Document) -> None:
    answer = await create_pod(api, job)

    assert answer.status_code == 201, answer.text
    assert "warning" not in answer.headers


async def test_its_pods_would_be_refused_if_they_asked_for_more(api: httpx.AsyncClient, job: Document) -> None:
    job["spec"]["template"]["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True

    answer = await create_pod(api, job)

    assert answer.status_code == 403, answer.text
    assert "restricted" in answer.text


async def test_a_snapshot_as_large_as_an_object_can_carry_is_taken(api: httpx.AsyncClient, job: Document) -> None:
    annotations = job["spec"]["template"]["metadata"]["annotations"]
    annotations["hyperfleet.io/cluster-snapshot"] = "x" * 250_000
    large = await create_job(api, job)
    annotations["hyperfleet.io/cluster-snapshot"] = "x" * 263_000
    job["metadata"]["name"] = "too-large"
    too_large = await create_job(api, job)

    assert large.status_code == 201, large.text
    assert too_large.status_code == 422, too_large.text
