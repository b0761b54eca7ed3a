"""The whole way: one rendered Job, two containers, Maestro, its agent, a HostedCluster, and the Job's conditions.

`lab.hypershift` plays the operator. A Job that has ended is removed by its TTL, and the next one looks again, as the
dispatcher's pulses would have it.
"""

import itertools
import uuid

import pytest

from lab.hypershift.operator import Operator
from lab.hypershift.sequences import Moment, Script
from lab.real.cluster.maestro import NAMESPACE, ClusterMaestro
from tests.support.adapter import Cluster
from tests.support.cluster import Document, Jobs, Kubectl

_numbers = itertools.count()


@pytest.fixture
def wanted() -> Cluster:
    return Cluster(cluster_id=str(uuid.uuid4()), name=f"demo-{next(_numbers)}-{uuid.uuid4().hex[:6]}")


@pytest.fixture
async def installed(jobs: Jobs, wanted: Cluster, operator: Operator) -> Cluster:
    """A cluster that Jobs have brought to its version."""
    await jobs.until(
        wanted, lambda job: job.has_condition("Available", "True", "ControlPlaneReady") and job.data["version"]
    )
    operator.check()
    return wanted


async def hosted_cluster(kubectl: Kubectl, name: str) -> Document | None:
    listed = await kubectl.get("hostedclusters", f"--namespace={NAMESPACE}")
    return next((each for each in listed["items"] if each["metadata"]["name"] == name), None)


async def test_a_new_cluster_is_applied_first_and_available_with_endpoint_and_version_later(
    jobs: Jobs, wanted: Cluster, operator: Operator, kubectl: Kubectl
) -> None:
    operator.play(NAMESPACE, wanted.name, Script(hold_before=Moment.AVAILABLE))
    created = await jobs.run(wanted)
    assert created.has_condition("Applied", "True", "ManifestWorkCreated")
    assert created.conditions["Available"]["status"] == "False"
    stored = await hosted_cluster(kubectl, wanted.name)
    assert stored is not None
    assert stored["spec"]["platform"]["gcp"]["project"] == wanted.spec["gcp_project_id"]

    operator.play(NAMESPACE, wanted.name, Script())
    ready = await jobs.until(
        wanted, lambda job: job.has_condition("Available", "True", "ControlPlaneReady") and job.data["version"]
    )
    assert ready.data["control_plane_endpoint"] == f"https://api.{wanted.name}.hypershift.local:443"
    assert ready.data["version"] == "4.22.0"


async def test_a_job_is_removed_by_its_ttl_and_the_next_one_refreshes_the_conditions(
    jobs: Jobs, wanted: Cluster, operator: Operator
) -> None:
    operator.play(NAMESPACE, wanted.name, Script(hold_before=Moment.AVAILABLE))
    waiting = await jobs.until(wanted, lambda job: "ComponentsNotAvailable" in job.message("Available"))
    name = str(waiting.document["metadata"]["name"])
    listed = await jobs.namespace.kubectl.get("jobs,pods")
    assert listed["items"] == [], "the Job's TTL is over, so it is gone with its pods"

    operator.play(NAMESPACE, wanted.name, Script())
    refreshed = await jobs.until(wanted, lambda job: job.conditions["Available"]["status"] == "True")
    assert refreshed.document["metadata"]["name"] == name
    assert refreshed.document["metadata"]["uid"] != waiting.document["metadata"]["uid"]
    assert refreshed.has_condition("Available", "True", "ControlPlaneReady")


async def test_an_upgrade_is_followed_until_the_new_version_is_there(jobs: Jobs, installed: Cluster) -> None:
    installed.change(openshift_version="4.22.1")
    upgraded = await jobs.until(installed, lambda job: job.data["version"] == "4.22.1")
    assert upgraded.conditions["Available"]["status"] == "True"
    assert upgraded.document["metadata"]["name"].endswith("-gen2")


async def test_a_change_of_what_cannot_change_is_refused_and_the_cluster_stays_as_it_is(
    jobs: Jobs, installed: Cluster, kubectl: Kubectl
) -> None:
    installed.change(gcp_region="us-east1")
    refused = await jobs.run(installed, "PodFailurePolicy")
    assert refused.has_condition("Applied", "False", "ImmutableFieldChanged")
    assert refused.conditions["Available"]["status"] == "True"
    stored = await hosted_cluster(kubectl, installed.name)
    assert stored is not None
    assert stored["spec"]["platform"]["gcp"]["region"] == "us-central1"


async def test_a_deletion_is_followed_until_the_hosted_cluster_is_gone(
    jobs: Jobs, installed: Cluster, kubectl: Kubectl, maestro: ClusterMaestro
) -> None:
    assert maestro.works_of(installed.cluster_id)
    installed.delete()
    gone = await jobs.until_finalized(installed, maestro.agent)
    assert gone.conditions["Available"]["status"] == "False"
    assert await hosted_cluster(kubectl, installed.name) is None
    assert maestro.works_of(installed.cluster_id) == []


async def test_a_spec_that_cannot_be_never_reaches_maestro_until_it_is_corrected(
    jobs: Jobs, wanted: Cluster, kubectl: Kubectl, maestro: ClusterMaestro
) -> None:
    region = wanted.spec.pop("gcp_region")
    name = await jobs.start(wanted)
    seen = await jobs.namespace.ended(name, "PodFailurePolicy")
    assert seen.conditions["Applied"]["status"] == "False"
    assert "gcp_region" in seen.message("Applied")
    assert len(await jobs.namespace.pods(name)) == 1
    assert maestro.works_of(wanted.cluster_id) == []
    assert await hosted_cluster(kubectl, wanted.name) is None

    wanted.change(gcp_region=region)
    assert (await jobs.run(wanted)).has_condition("Applied", "True", "ManifestWorkCreated")
    (work,) = maestro.works_of(wanted.cluster_id)
    assert work["manifests"][0]["metadata"]["name"] == wanted.name
