"""The adapter's process, Job after Job, through the real Maestro and its real agent onto a real API server."""

import asyncio
import itertools
import uuid
from pathlib import Path

import pytest

from lab.hypershift.operator import Operator
from lab.hypershift.sequences import Moment, Script
from lab.real.servers.maestro import RealMaestro
from lab.real.servers.management import ManagementCluster
from shared.maestro import MaestroClient
from tests.support.adapter import TIMEOUT, Adapter, Cluster, Run, environment_for, until

_numbers = itertools.count()


@pytest.fixture
def cluster() -> Cluster:
    return Cluster(cluster_id=str(uuid.uuid4()), name=f"demo-{next(_numbers)}-{uuid.uuid4().hex[:6]}")


@pytest.fixture
def adapter(maestro: RealMaestro, management_cluster: ManagementCluster, tmp_path: Path) -> Adapter:
    return Adapter(tmp_path, environment_for(maestro.rest_port, maestro.grpc_port, management_cluster.consumer))


def is_available(run: Run) -> bool:
    return run.statuses["Available"] == "True"


def is_being_deleted(run: Run) -> bool:
    """Whether the deletion has arrived on the management cluster."""
    return run.reason("Finalized") in {"FinalizersRunning", "WaitingForGracePeriod"}


async def test_a_cluster_goes_from_nothing_to_available_to_upgraded_to_gone(
    adapter: Adapter, cluster: Cluster, operator: Operator, client: MaestroClient, management_cluster: ManagementCluster
) -> None:
    operator.play("clusters", cluster.name, Script(hold_before=Moment.AVAILABLE))
    created = await adapter.run(cluster)
    assert created.exit_code == 0
    assert (created.statuses["Applied"], created.reason("Applied")) == ("True", "ManifestWorkCreated")
    assert created.statuses["Available"] == "False"

    operator.play("clusters", cluster.name, Script())
    ready = await until(adapter, cluster, lambda run: is_available(run) and bool(run.report["data"]["version"]))
    assert ready.reason("Available") == "ControlPlaneReady"
    assert ready.report["data"]["control_plane_endpoint"] == f"https://api.{cluster.name}.hypershift.local:443"
    assert ready.report["data"]["version"] == "4.22.0"

    cluster.change(openshift_version="4.22.1")
    upgraded = await until(adapter, cluster, lambda run: run.report["data"]["version"] == "4.22.1")
    assert upgraded.statuses["Available"] == "True"
    assert upgraded.report["observedGeneration"] == 2

    cluster.change(gcp_region="us-east1")
    refused = await adapter.run(cluster)
    assert (refused.exit_code, refused.reason("Applied")) == (3, "ImmutableFieldChanged")
    assert refused.statuses["Available"] == "True"

    cluster.node_pools = 1
    cluster.delete()
    held = await adapter.run(cluster)
    assert held.reason("Applied") == "NodePoolsExist"
    assert held.statuses["Finalized"] == "False"

    cluster.node_pools = 0
    operator.play("clusters", cluster.name, Script(hold_before=Moment.FINALIZED))
    going = await until(adapter, cluster, is_being_deleted, CONFIRMATION_WAIT="1s")
    assert going.statuses["Finalized"] == "False"
    assert going.statuses["Available"] == "False"

    # The real agent now and then never confirms the end of a deletion; one that is started anew always does.
    management_cluster.agent.kill()
    operator.play("clusters", cluster.name, Script())
    async with asyncio.timeout(TIMEOUT):
        await operator.gone("clusters", cluster.name)
    management_cluster.agent.start()
    gone = await until(adapter, cluster, lambda run: run.statuses["Finalized"] == "True", CONFIRMATION_WAIT="2s")
    assert gone.exit_code == 0
    works = client.works(management_cluster.consumer)
    assert cluster.cluster_id not in {work.labels.get("hyperfleet.io/cluster-id") for work in await works.list()}


async def test_degraded_is_reported_when_it_lasts_and_forgotten_when_it_is_over(
    adapter: Adapter, cluster: Cluster, operator: Operator
) -> None:
    await until(adapter, cluster, is_available)
    operator.play("clusters", cluster.name, Script(degraded="kube-apiserver: 1 of 3 replicas unavailable"))
    degraded = await until(
        adapter, cluster, lambda run: run.statuses["Health"] == "False", DEGRADED_DAMPING="1ms", INSTALL_DAMPING="1ms"
    )
    assert degraded.reason("Health") == "Degraded"
    assert degraded.statuses["Available"] == "True"

    operator.play("clusters", cluster.name, Script())
    healthy = await until(adapter, cluster, lambda run: run.reason("Health") == "NoIssues", DEGRADED_DAMPING="1ms")
    assert healthy.statuses == {"Applied": "True", "Available": "True", "Health": "True"}


async def test_a_management_cluster_without_gcp_refuses_and_the_remedy_is_reported(
    cluster: Cluster, maestro: RealMaestro, management_cluster_without_gcp: ManagementCluster, tmp_path: Path
) -> None:
    adapter = Adapter(
        tmp_path, environment_for(maestro.rest_port, maestro.grpc_port, management_cluster_without_gcp.consumer)
    )

    run = await until(adapter, cluster, lambda run: run.statuses["Applied"] == "False")

    assert 'Unsupported value: "GCP"' in run.message("Applied") or "field not declared" in run.message("Applied")
    assert "TechPreviewNoUpgrade" in run.message("Applied")


async def test_a_run_that_was_killed_is_made_good_by_the_next(
    adapter: Adapter, cluster: Cluster, operator: Operator, client: MaestroClient, management_cluster: ManagementCluster
) -> None:
    for seconds in (0.3, 0.6, 0.9):
        await adapter.kill_after(cluster, seconds)

    run = await adapter.run(cluster)

    assert run.exit_code == 0
    works = [
        work
        for work in await client.works(management_cluster.consumer).list()
        if work.labels.get("hyperfleet.io/cluster-id") == cluster.cluster_id
    ]
    assert len(works) == 1
    assert works[0].generation == 1
