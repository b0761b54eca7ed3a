"""A cluster from its creation on the HyperFleet API to its end, through every part of the installed system."""

from datetime import datetime, timedelta

import pytest

from lab.hypershift.operator import Operator
from lab.hypershift.sequences import Moment, Script
from lab.real.cluster.maestro import NAMESPACE, ClusterMaestro
from lab.real.installed.dependencies import Dependencies
from shared import times
from tests.support.cluster import TIMEOUT, JobNamespace
from tests.support.hyperfleet_api import conditions
from tests.support.installed import TTL_SECONDS, Clusters, Document, Status
from tests.support.outages import Component

RE_POLLS = 3


async def jobs_of(namespace: JobNamespace, cluster: Document) -> list[Document]:
    listed: list[Document] = (await namespace.kubectl.get("jobs", selector_of(cluster)))["items"]
    return listed


def generation_of(job: Document) -> int:
    return int(job["metadata"]["annotations"]["hyperfleet.io/generation"])


def reported_at(status: Status) -> datetime:
    return times.parse(status.document["last_report_time"])


def selector_of(cluster: Document) -> str:
    return f"--selector=hyperfleet.io/cluster-id={cluster['id']}"


async def test_a_cluster_that_is_created_on_the_api_is_applied_first_and_available_later(
    clusters: Clusters, operator: Operator
) -> None:
    cluster = await clusters.create()
    operator.play(NAMESPACE, cluster["name"], Script(hold_before=Moment.AVAILABLE))
    applied = await clusters.until(cluster, lambda seen: seen.says("Applied", "True"), "applied")
    assert applied.says("Available", "False")

    operator.play(NAMESPACE, cluster["name"], Script())
    ready = await clusters.until_available(cluster)
    assert ready.data["control_plane_endpoint"] == f"https://api.{cluster['name']}.hypershift.local:443"


# Sentinel announces a cluster that is Available again when its last report is as old as this.
SOON = pytest.mark.parametrize("stale", [timedelta(seconds=TTL_SECONDS)], ids=[""])


@SOON
async def test_three_jobs_look_again_after_their_ttl_and_the_status_never_flaps(
    clusters: Clusters, operator: Operator, jobs_namespace: JobNamespace
) -> None:
    cluster = await clusters.create()
    first = await clusters.until_available(cluster)
    operator.check()
    looked: set[str] = set()
    seen: list[Status] = []

    def again(job: Document) -> bool:
        looked.add(job["metadata"]["uid"])
        return len(looked) > RE_POLLS

    async with clusters.sampled(cluster, seen):
        last = await jobs_namespace.first(again, "jobs", selector_of(cluster), within=RE_POLLS * TIMEOUT)
        created = times.parse(last["metadata"]["creationTimestamp"])
        await clusters.until(cluster, lambda found: reported_at(found) > created, "a report of the last Job")
    changes = {each.conditions["Available"]["last_transition_time"] for each in seen}
    assert {each.is_available(1) for each in seen} == {True}
    assert changes == {first.conditions["Available"]["last_transition_time"]}


@SOON
async def test_a_new_generation_is_rolled_out_by_a_job_of_its_own(
    clusters: Clusters, operator: Operator, jobs_namespace: JobNamespace
) -> None:
    cluster = await clusters.create()
    await clusters.until_available(cluster)
    await clusters.upgrade(cluster)
    await clusters.until_upgraded(cluster)
    operator.check()
    await jobs_namespace.first(lambda job: generation_of(job) == 2, "jobs", selector_of(cluster))


async def test_a_change_of_what_cannot_change_is_refused_while_the_cluster_stays_available(
    clusters: Clusters, operator: Operator
) -> None:
    cluster = await clusters.create()
    await clusters.until_available(cluster)
    await clusters.change(cluster, gcp_region="us-east1")
    refused = await clusters.until(
        cluster, lambda seen: seen.generation == 2 and seen.says("Applied", "False", "ImmutableFieldChanged"), "refused"
    )
    assert refused.says("Available", "True")
    operator.check()


async def test_nothing_is_created_before_the_other_adapters_are_ready(
    clusters: Clusters,
    operator: Operator,
    dependencies: Dependencies,
    jobs_namespace: JobNamespace,
    maestro: ClusterMaestro,
) -> None:
    dependencies.hold("dns")
    cluster = await clusters.create()
    waiting = "Waiting for dns to be Available at generation 1"
    await clusters.until(
        cluster, lambda seen: seen.conditions.get("Available", {}).get("message") == waiting, "waiting for dns alone"
    )
    assert (await clusters.status(cluster)).says("Available", "False", "DependenciesNotReady")
    assert await jobs_of(jobs_namespace, cluster) == []
    assert maestro.works_of(cluster["id"]) == []

    dependencies.release()
    await clusters.until_available(cluster)
    operator.check()


async def test_a_node_pool_is_in_the_way_of_a_deletion_until_it_is_gone(
    clusters: Clusters, operator: Operator, maestro: ClusterMaestro, components: dict[str, Component]
) -> None:
    cluster = await clusters.create()
    await clusters.until_available(cluster)
    pool = await clusters.api.create_nodepool(cluster)
    await clusters.api.delete(cluster)
    waiting = await clusters.until(
        cluster, lambda seen: seen.generation == 2 and seen.says("Finalized", "False", "NodePoolsExist"), "waiting"
    )
    assert waiting.says("Available", "True")
    assert maestro.works_of(cluster["id"]) != []

    deleting = await clusters.api.reread(pool)
    gone = conditions("False", finalized="True")
    await clusters.api.accept(pool, "nodepool", deleting["generation"], conditions=gone)
    await clusters.until_gone(cluster, unstick=components["Maestro's agent"].restart)
    operator.check()
    assert maestro.works_of(cluster["id"]) == []
    assert (NAMESPACE, cluster["name"]) not in operator.clusters
