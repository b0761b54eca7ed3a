"""The whole way: one rendered Job, two containers, Maestro, its agent, a HostedCluster, and what the Job says of it.

`lab.hypershift` plays the operator. A Job that has ended is removed by its TTL, and the next one looks again, as the
dispatcher's pulses would have it.
"""

import asyncio
import itertools
import uuid

import pytest

from lab.hypershift.operator import Operator
from lab.hypershift.sequences import Moment, Script
from lab.real.cluster.maestro import NAMESPACE, ClusterMaestro
from tests.contracts.adapter_ground import Cluster
from tests.contracts.cluster_ground import Document, Jobs, Kubectl

OUTAGE_SECONDS = 20
_numbers = itertools.count()


@pytest.fixture
def wanted() -> Cluster:
    return Cluster(cluster_id=str(uuid.uuid4()), name=f"demo-{next(_numbers)}-{uuid.uuid4().hex[:6]}")


async def hosted_cluster(kubectl: Kubectl, name: str) -> Document | None:
    listed = await kubectl.get("hostedclusters", f"--namespace={NAMESPACE}")
    return next((each for each in listed["items"] if each["metadata"]["name"] == name), None)


async def test_a_cluster_goes_from_nothing_to_available_to_upgraded_to_gone(
    jobs: Jobs, wanted: Cluster, operator: Operator, kubectl: Kubectl
) -> None:
    operator.play(NAMESPACE, wanted.name, Script(hold_before=Moment.AVAILABLE))
    created = await jobs.run(wanted)
    assert created.says("Applied", "True", "ManifestWorkCreated")
    assert created.conditions["Available"]["status"] == "False"
    stored = await hosted_cluster(kubectl, wanted.name)
    assert stored is not None
    assert stored["spec"]["platform"]["gcp"]["project"] == wanted.spec["gcp_project_id"]

    operator.play(NAMESPACE, wanted.name, Script())
    ready = await jobs.until(
        wanted, lambda job: job.says("Available", "True", "ControlPlaneReady") and job.data["version"]
    )
    assert ready.data["control_plane_endpoint"] == f"https://api.{wanted.name}.hypershift.local:443"
    assert ready.data["version"] == "4.22.0"

    wanted.change(openshift_version="4.22.1")
    upgraded = await jobs.until(wanted, lambda job: job.data["version"] == "4.22.1")
    assert upgraded.conditions["Available"]["status"] == "True"
    assert upgraded.document["metadata"]["name"].endswith("-gen2")

    wanted.change(gcp_region="us-east1")
    refused = await jobs.run(wanted, "PodFailurePolicy")
    assert refused.says("Applied", "False", "ImmutableFieldChanged")
    assert refused.conditions["Available"]["status"] == "True"

    wanted.change(gcp_region="us-central1")
    wanted.delete()
    gone = await jobs.until(wanted, lambda job: job.conditions["Finalized"]["status"] == "True")
    assert gone.conditions["Available"]["status"] == "False"
    assert await hosted_cluster(kubectl, wanted.name) is None


async def test_a_spec_that_cannot_be_ends_the_job_with_its_first_pod_and_never_reaches_maestro(
    jobs: Jobs, wanted: Cluster, kubectl: Kubectl
) -> None:
    del wanted.spec["gcp_region"]
    name = await jobs.start(wanted, ttlSecondsAfterFinished=60)
    seen = await jobs.room.ended(name, "PodFailurePolicy")
    assert seen.conditions["Applied"]["status"] == "False"
    assert "gcp_region" in seen.message("Applied")
    assert len(await jobs.room.pods(name)) == 1
    assert await hosted_cluster(kubectl, wanted.name) is None


async def test_a_maestro_that_is_down_for_a_while_is_waited_for(
    jobs: Jobs, wanted: Cluster, maestro: ClusterMaestro
) -> None:
    maestro.server.kill()
    try:
        name = await jobs.start(wanted)
        await jobs.room.running_pod(name)
        await asyncio.sleep(OUTAGE_SECONDS)
        assert not (await jobs.room.job(name)).over
    finally:
        maestro.server.start()
    seen = await jobs.room.ended(name, "CompletionsReached")
    assert seen.says("Applied", "True", "ManifestWorkCreated")
    assert not seen.document["status"].get("failed"), "another pod was needed"
