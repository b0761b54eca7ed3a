"""A cluster goes from nothing to available and is deleted, Job after Job.

Each Job is the shipped template, run by the stand-in Kubernetes as two local processes: the control plane adapter and
the status reporter. What is told of it is what `kubectl get job -o yaml` would show.
"""

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import yaml

from dispatcher.languages.gotemplate import compile_structure
from lab.demo.story import Story
from lab.kubernetes import LabKubernetes
from lab.kubernetes.jobs import JobRunner
from lab.maestro import LabMaestro
from lab.maestro.agent import Agent
from shared.maestro import MaestroClient, MaestroSettings

CONSUMER = "us-east-mgmt-01"
CLUSTER_ID = "019466a0-8f8e-7abc-9def-0123456789ab"
NAMESPACE = "hyperfleet-adapters"
ACCOUNT = "maestro-adapter-sa"
TEMPLATE = Path(__file__).parents[2] / "jobs" / "controlplane" / "job.yaml"
IMAGES = {
    "controlplane-adapter:demo": (sys.executable, "-m", "controlplane_adapter"),
    "status-reporter:demo": (sys.executable, "-m", "status_reporter"),
}
RIGHTS = [
    {"apiGroups": ["batch"], "resources": ["jobs/status"], "verbs": ["patch"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "watch"]},
]
PROJECT = "demo-project-1"
SPEC: dict[str, Any] = {
    "gcp_project_id": PROJECT,
    "gcp_project_number": "123456789012",
    "gcp_region": "us-east1",
    "vpc_network_name": "demo-vpc",
    "psc_subnet_name": "demo-subnet",
    "wif_pool_id": "demo-pool",
    "wif_provider_id": "demo-provider",
    "openshift_version": "4.22.0",
    "machine_network_cidr": "10.0.0.0/16",
    "base_domain": "example.com",
    "pull_secret_name": "demo-pull-secret",
    "service_account_emails": {
        role: f"demo-{role.lower()[:12]}@{PROJECT}.iam.gserviceaccount.com"
        for role in ("controlPlane", "nodePool", "cloudController", "storage", "imageRegistry", "network")
    },
}


async def tell(story: Story) -> None:
    story.chapter("a cluster, Job after Job")
    with tempfile.TemporaryDirectory() as folder:
        async with (
            LabMaestro(heartbeat_seconds=1.0) as maestro,
            LabKubernetes() as kubernetes,
            JobRunner(kubernetes, images=IMAGES, folder=Path(folder)),
            httpx.AsyncClient(base_url=kubernetes.url, headers=_as_admin(kubernetes), timeout=30) as http,
        ):
            await _prepare(http, maestro)
            async with Agent(maestro.broker_address, CONSUMER) as management_cluster:
                await _live(story, _Regional(http, maestro, story), management_cluster)


class _Regional:
    """The regional cluster, and the dispatcher's part of the work until there is one: making Jobs and reading them."""

    def __init__(self, http: httpx.AsyncClient, maestro: LabMaestro, story: Story) -> None:
        self._http, self._maestro, self._story = http, maestro, story

    async def run_job(self, generation: int, **cluster: Any) -> None:
        """Make the Job of a generation, tell each condition it gets, and wait until its TTL has removed it."""
        job = self._job(
            generation, {"id": CLUSTER_ID, "name": "demo", "generation": generation, "spec": SPEC, **cluster}
        )
        path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
        created = (await self._http.post(path, json=job)).raise_for_status().json()
        name = created["metadata"]["name"]
        self._story.tell("dispatcher", f"created Job {name}")
        query = {"watch": "true", "fieldSelector": f"metadata.name={name}"}
        told: dict[str, str] = {}
        async with self._http.stream(
            "GET", path, params=query | {"resourceVersion": created["metadata"]["resourceVersion"]}
        ) as watch:
            async for line in watch.aiter_lines():
                event = json.loads(line)
                self._tell_news(event["object"], told)
                if event["type"] == "DELETED":
                    return

    def _tell_news(self, job: Mapping[str, Any], told: dict[str, str]) -> None:
        for condition in job.get("status", {}).get("conditions", ()):
            words = f"{condition['type']}={condition['status']} {condition.get('reason', '')}".rstrip()
            if condition["type"] in ("Applied", "Available", "Health", "Finalized") and words not in told:
                told[words] = words
                self._story.tell("Job's condition", f"{words}: {condition.get('message', '')}"[:110])
        data = json.loads(job["metadata"].get("annotations", {}).get("hyperfleet.io/adapter-report", "{}"))
        if (endpoint := data.get("control_plane_endpoint")) and endpoint not in told:
            told[endpoint] = endpoint
            self._story.tell("Job's data", f"endpoint {endpoint}, version {data['version']}")

    def _job(self, generation: int, cluster: Mapping[str, Any]) -> Any:
        document = yaml.safe_load(TEMPLATE.read_text(encoding="utf-8"))
        job = compile_structure(document).render(
            {
                "clusterId": CLUSTER_ID,
                "generation": generation,
                "adapter": {"name": "demo"},
                "clusterSnapshot": json.dumps({"cluster": cluster, "nodepools": {"total": 0}, "adapters": {}}),
                "adapterImage": "controlplane-adapter:demo",
                "reporterImage": "status-reporter:demo",
                "managementCluster": CONSUMER,
                "maestroApiUrl": self._maestro.rest_url,
                "maestroGrpcUrl": self._maestro.grpc_address,
            }
        )
        # The lab's Maestro has no TLS, and nobody wants to wait a minute for a TTL.
        job["spec"]["ttlSecondsAfterFinished"] = 0
        adapter = job["spec"]["template"]["spec"]["containers"][0]
        adapter["env"].append({"name": "MAESTRO_INSECURE", "value": "true"})
        return job


async def _live(story: Story, regional: _Regional, management_cluster: Agent) -> None:
    await regional.run_job(1)
    story.tell("HyperShift (played)", "the control plane is being installed")
    await management_cluster.observe("HostedCluster", "clusters", "demo", _status(available=False))
    await regional.run_job(1)
    story.tell("HyperShift (played)", "the control plane is up")
    await management_cluster.observe("HostedCluster", "clusters", "demo", _status(available=True))
    await regional.run_job(1)
    story.tell("HyperFleet API", "the cluster is deleted: generation 2")
    await regional.run_job(2, deleted_time="2026-01-01T00:00:00Z")


def _status(*, available: bool) -> dict[str, Any]:
    """The HostedCluster's status as HyperShift writes it, before and after the control plane is up."""
    now = "2026-01-01T00:00:00Z"
    answers = {"Available": available, "Degraded": False, "Progressing": False, "ValidConfiguration": True}
    rollout = {"state": "Completed" if available else "Partial", "version": "4.22.0", "image": "x", "startedTime": now}
    return {
        "conditions": [
            {
                "type": type_,
                "status": str(answer),
                "reason": "AsExpected" if type_ != "Available" or available else "EtcdWaitingForQuorum",
                "message": "",
                "lastTransitionTime": now,
            }
            for type_, answer in answers.items()
        ],
        "controlPlaneEndpoint": {"host": "api.demo.example.com" if available else "", "port": 443},
        "controlPlaneVersion": {"history": [rollout]},
    }


async def _prepare(http: httpx.AsyncClient, maestro: LabMaestro) -> None:
    """What a platform team has set up once: the namespace, the account and its rights, Maestro's consumer."""
    settings = MaestroSettings(
        grpc_server_address=maestro.grpc_address,
        http_server_address=maestro.rest_url,
        source_id="platform-team",
        insecure=True,
    )
    async with MaestroClient(settings) as client:
        await client.consumers.create(CONSUMER)
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ACCOUNT}
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}
    core, rbac = f"/api/v1/namespaces/{NAMESPACE}", f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}"
    for path, document in (
        ("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}),
        (f"{core}/serviceaccounts", {"metadata": {"name": ACCOUNT}}),
        (f"{core}/secrets", {"metadata": {"name": "maestro-client-tls"}, "stringData": {"ca.crt": "none"}}),
        (f"{core}/configmaps", {"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": "none"}}),
        (f"{rbac}/roles", {"metadata": {"name": ACCOUNT}, "rules": RIGHTS}),
        (f"{rbac}/rolebindings", {"metadata": {"name": ACCOUNT}, "roleRef": role, "subjects": [subject]}),
    ):
        (await http.post(path, json=document)).raise_for_status()


def _as_admin(kubernetes: LabKubernetes) -> dict[str, str]:
    return {"Authorization": f"Bearer {kubernetes.admin_token}"}
