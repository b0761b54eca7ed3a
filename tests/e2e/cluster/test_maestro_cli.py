"""The Job of jobs/maestro-cli on a real cluster: manifests through Maestro, waited for, and shown by kubectl on the Job."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.real.cluster.maestro import CONSUMER, NAMESPACE, ClusterMaestro
from shared.languages.gotemplate import compile_structure
from tests.support.cluster import KEPT_SECONDS, JobNamespace, Kubectl, client_certificate
from tests.support.kubernetes import unique

TEMPLATE = Path(__file__).parents[3] / "jobs" / "maestro-cli" / "job.yaml"
CONDITIONS = "--output=jsonpath={range .status.conditions[*]}{.type}={.status} {end}"
KEPT = {"ttlSecondsAfterFinished": KEPT_SECONDS}


@pytest.fixture
async def variables(
    namespace: JobNamespace, maestro: ClusterMaestro, adapter_image: str, reporter_image: str
) -> dict[str, str]:
    """What the template is rendered with; the certificate for Maestro is there."""
    await namespace.create(client_certificate(maestro.ca_file, maestro.client.certificate, maestro.client.key))
    return {
        "eventId": unique("event"),
        "adapter": "e2e",
        "workName": unique("work"),
        "managementCluster": CONSUMER,
        "manifestConfigMap": "manifests",
        "waitFor": "Available",
        "maestroApiUrl": maestro.rest_url,
        "maestroGrpcUrl": maestro.grpc_address,
        "adapterImage": adapter_image,
        "reporterImage": reporter_image,
    }


async def start(namespace: JobNamespace, variables: dict[str, str], *manifests: dict[str, Any]) -> str:
    """Create the ConfigMap with the manifests and the Job that sends them; the Job's name."""
    job: dict[str, Any] = compile_structure(yaml.safe_load(TEMPLATE.read_text())).render(variables)
    del job["metadata"]["namespace"]  # the test's own
    job["spec"] |= KEPT
    files = {f"{number}.yaml": yaml.safe_dump(each) for number, each in enumerate(manifests)}
    metadata = {"name": variables["manifestConfigMap"]}
    await namespace.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": files}, job)
    return str(job["metadata"]["name"])


def config_map(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"colour": "blue"}}


def job_that_ends(name: str, image: str) -> dict[str, Any]:
    container = {"name": "quick", "image": image, "command": ["true"]}
    pod = {"restartPolicy": "Never", "containers": [container]}
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": {"spec": pod}}}


async def test_manifests_of_a_config_map_reach_the_management_cluster_and_the_job_shows_their_conditions(
    namespace: JobNamespace, variables: dict[str, str], kubectl: Kubectl, reporter_image: str
) -> None:
    there = variables["workName"]
    variables["waitFor"] = f"Job/{there}:Complete AND Available"
    name = await start(namespace, variables, config_map(there), job_that_ends(there, reporter_image))

    seen = await namespace.ended(name, "CompletionsReached")
    assert seen.has_condition("Applied", "True", "AppliedManifestWorkComplete")
    assert seen.has_condition("Available", "True", "ResourcesAvailable")
    assert (seen.data["manifestWorkName"], seen.data["consumer"]) == (there, CONSUMER)
    assert seen.data["status"] == "Applied"
    shown = (await namespace.kubectl("get", "job", name, CONDITIONS)).split()
    assert {"Applied=True", "Available=True", "Complete=True"} <= {*shown}
    delivered = await kubectl.get("configmap", there, f"--namespace={NAMESPACE}")
    assert delivered["data"] == {"colour": "blue"}


async def test_an_unknown_management_cluster_fails_the_job_with_its_first_pod_and_says_so(
    namespace: JobNamespace, variables: dict[str, str]
) -> None:
    variables["managementCluster"] = "nobody-has-this"
    name = await start(namespace, variables, config_map("never"))

    seen = await namespace.ended(name, "PodFailurePolicy")
    assert seen.has_condition("Applied", "False", "UnknownConsumer")
    assert "nobody-has-this" in seen.message("Applied")
    assert len(await namespace.pods(name)) == 1
