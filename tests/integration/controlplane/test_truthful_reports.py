"""The report says what is so: about works of others, about what runs while something is refused, and about a new cluster."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import grpc
import pytest

from controlplane_adapter.work.manifestwork import owner_labels
from lab.maestro import LabMaestro
from lab.maestro.agent import Agent, Script
from shared.maestro import MaestroClient, MaestroSettings, Works, apply_result
from shared.model.manifestwork import ManifestWork
from tests.support.adapter import Adapter, Cluster, Run

HERE, ELSEWHERE = "us-east-mgmt-01", "us-east-mgmt-02"
WORK = f"hostedcluster-{Cluster().cluster_id}"
TIMEOUT = 60.0
ENDPOINT = "https://api.demo.example.com:443"
CONFLICT = (
    'Operation cannot be fulfilled on hostedclusters.hypershift.openshift.io "demo": the object has been modified; '
    "please apply your changes to the latest version and try again"
)
RUNNING: dict[str, Any] = {
    "conditions": [
        {"type": type_, "status": status, "reason": "AsExpected", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for type_, status in (("Available", "True"), ("Degraded", "False"))
    ],
    "controlPlaneEndpoint": {"host": "api.demo.example.com", "port": 443},
    "controlPlaneVersion": {"history": [{"state": "Completed", "version": "4.22.0", "image": "x"}]},
}


@pytest.fixture
async def running(adapter: Adapter, works: Works, agent: Agent) -> Cluster:
    """A cluster whose control plane is available."""
    cluster = Cluster()
    await adapter.run(cluster)
    await agent.observe("HostedCluster", "clusters", "demo", RUNNING)
    run = await adapter.run(cluster)
    assert run.statuses == {"Applied": "True", "Available": "True", "Health": "True"}
    return cluster


@pytest.fixture
async def other_source(maestro: LabMaestro) -> AsyncIterator[MaestroClient]:
    settings = MaestroSettings(
        grpc_server_address=maestro.grpc_address,
        http_server_address=maestro.rest_url,
        source_id="other-source",
        insecure=True,
    )
    async with MaestroClient(settings) as client:
        yield client


def still_runs(run: Run) -> bool:
    return (run.statuses["Available"], run.statuses["Health"]) == ("True", "True") and (
        run.report["data"]["control_plane_endpoint"] == ENDPOINT
    )


async def test_a_cluster_is_not_finalized_while_its_work_of_another_source_exists(
    adapter: Adapter, running: Cluster, works: Works
) -> None:
    running.delete()

    run = await adapter.run(running, MAESTRO_SOURCE_ID="other-source")

    assert run.exit_code == 3
    assert (run.statuses["Finalized"], run.reason("Finalized")) == ("False", "NotOwned")
    assert "MAESTRO_SOURCE_ID" in run.message("Applied")
    assert still_runs(run)
    assert not (await works.get(WORK)).deleting


async def test_a_cluster_is_not_finalized_while_a_work_with_its_labels_exists_under_another_name(
    adapter: Adapter, works: Works, other_source: MaestroClient
) -> None:
    cluster = Cluster()
    theirs = ManifestWork(
        name="their-name",
        consumer=HERE,
        manifests=({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "y"}},),
        labels=owner_labels(cluster.cluster_id),
    )
    await other_source.works(HERE).create(theirs)
    cluster.delete()

    run = await adapter.run(cluster)

    assert (run.statuses["Finalized"], run.reason("Finalized")) == ("False", "NotOwned")
    assert "'their-name' on us-east-mgmt-01" in run.message("Finalized")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HOSTED_CLUSTER_LABELS", "team=a b"),
        ("HOSTED_CLUSTER_LABELS", "te am=x"),
        ("HOSTED_CLUSTER_ANNOTATIONS", "no/such/key=x"),
        ("HOSTED_CLUSTER_NETWORK_TYPE", "Magic"),
    ],
    ids=["value of a label", "key of a label", "key of an annotation", "value of a field"],
)
async def test_a_mistake_in_a_setting_is_named_by_the_setting_and_a_running_cluster_stays_available(
    adapter: Adapter, running: Cluster, name: str, value: str
) -> None:
    run = await adapter.run(running, **{name: value})

    assert run.exit_code == 2
    assert (run.statuses["Applied"], run.reason("Applied")) == ("False", "AdapterError")
    assert run.message("Applied").startswith(f"{name}: ")
    assert "spec.workload" not in run.message("Applied")
    assert still_runs(run)


MALFORMED = {
    "CONFIRMATION_WAIT": "soon",
    "ADAPTER_TIME_BUDGET": "600000h",
    "DEGRADED_DAMPING": "x",
    "HOSTED_CLUSTER_LABELS": "team",
    "HOSTED_CLUSTER_OVERLAY_PATH": "/nowhere/overlay.yaml",
    "HOSTED_CLUSTER_CLUSTER_NETWORK_HOST_PREFIX": "many",
    "MANAGEMENT_CLUSTER_CONSUMER": "Mgmt_01",
    "MANAGEMENT_CLUSTERS_URL": "nowhere",
    "MAESTRO_TIMEOUT": "soon",
    "HYPERFLEET_MAESTRO_KEEPALIVE_TIME": "600h",
    "MAESTRO_RETRY_ATTEMPTS": "0",
    "LOG_LEVEL": "loud",
}


@pytest.mark.parametrize(("name", "value"), MALFORMED.items(), ids=MALFORMED)
async def test_a_malformed_setting_is_named_nothing_is_written_and_the_control_plane_is_reported_as_it_is(
    adapter: Adapter, running: Cluster, works: Works, name: str, value: str
) -> None:
    running.change(openshift_version="4.22.3")

    run = await adapter.run(running, **{name: value})

    assert run.exit_code == 2
    assert (run.statuses["Applied"], run.reason("Applied")) == ("False", "AdapterError")
    assert f"{name}: " in run.message("Applied")
    assert run.message("Applied").endswith("correct these settings of the control plane adapter")
    assert still_runs(run)
    assert (await works.get(WORK)).generation == 1


async def test_a_malformed_setting_deletes_and_finalizes_nothing(
    adapter: Adapter, running: Cluster, works: Works
) -> None:
    running.delete()

    run = await adapter.run(running, CONFIRMATION_WAIT="soon")

    assert run.exit_code == 2
    assert (run.statuses["Finalized"], run.reason("Finalized")) == ("False", "AdapterError")
    assert still_runs(run)
    assert not (await works.get(WORK)).deleting


async def test_a_malformed_setting_is_named_also_where_maestro_cannot_be_read(
    adapter: Adapter, running: Cluster, maestro: LabMaestro
) -> None:
    maestro.faults.fail_rest(503, times=1000)

    run = await adapter.run(running, CONFIRMATION_WAIT="soon", ADAPTER_TIME_BUDGET="7s")

    assert run.exit_code == 2
    assert "CONFIRMATION_WAIT: " in run.message("Applied")
    assert (run.statuses["Applied"], run.statuses["Available"], run.statuses["Health"]) == (
        "False",
        "Unknown",
        "Unknown",
    )


async def test_a_rejected_token_on_a_write_does_not_change_what_was_just_read(
    adapter: Adapter, running: Cluster, maestro: LabMaestro
) -> None:
    running.change(openshift_version="4.22.3")
    maestro.faults.fail_publish(grpc.StatusCode.UNAUTHENTICATED, "invalid token", times=100)

    run = await adapter.run(running)

    assert run.exit_code == 3
    assert (run.statuses["Applied"], run.reason("Applied")) == ("False", "MaestroError")
    assert still_runs(run)


async def test_a_maestro_that_fails_while_it_is_written_leaves_what_was_just_read(
    adapter: Adapter, running: Cluster, maestro: LabMaestro
) -> None:
    running.change(openshift_version="4.22.3")
    maestro.faults.fail_publish(grpc.StatusCode.UNAVAILABLE, "connection reset", times=1000)

    run = await adapter.run(running, MAESTRO_RETRY_BUDGET="1s")

    assert run.exit_code == 4
    assert run.statuses["Applied"] == "Unknown"
    assert still_runs(run)


async def test_a_refused_update_leaves_what_the_previous_generation_shows(
    adapter: Adapter, running: Cluster, agent: Agent
) -> None:
    agent.script = Script(refuse="spec.release.image: no such release")
    running.change(openshift_version="4.22.3")

    first, next_run = await adapter.run(running), await adapter.run(running)

    for run in (first, next_run):
        assert (run.statuses["Applied"], run.reason("Applied")) == ("False", "AppliedManifestWorkFailed")
        assert still_runs(run)


async def test_a_conflict_of_the_agents_write_is_awaited_and_no_refusal(
    adapter: Adapter, works: Works, running: Cluster, agent: Agent
) -> None:
    """HyperShift writes into the same object; the agent reports the conflict and then writes again."""
    agent.script = Script(refuse=CONFLICT)
    running.change(openshift_version="4.22.3")

    def conflicts(work: ManifestWork | None) -> bool:
        return work is not None and CONFLICT in apply_result(work).message

    first = await adapter.run(running, CONFIRMATION_WAIT="1s")
    await works.wait_until(WORK, conflicts, timeout=TIMEOUT)
    next_run = await adapter.run(running)

    for run in (first, next_run):
        assert run.statuses["Applied"] == "True"
        assert "not yet confirmed" in run.message("Applied")
        assert still_runs(run)
    assert CONFLICT in next_run.message("Applied")


async def test_a_new_cluster_is_provisioning_and_has_no_issues(adapter: Adapter, works: Works, agent: Agent) -> None:
    created, next_run = await adapter.run(Cluster()), await adapter.run(Cluster())

    for run in (created, next_run):
        assert (run.statuses["Available"], run.reason("Available")) == ("False", "Provisioning")
        assert (run.statuses["Health"], run.reason("Health")) == ("True", "NoIssues")


async def test_an_operator_that_stays_silent_is_reported_once_its_status_is_overdue(
    adapter: Adapter, works: Works, agent: Agent
) -> None:
    await adapter.run(Cluster())

    run = await adapter.run(Cluster(), AGENT_SILENT_AFTER="0")

    assert (run.statuses["Available"], run.reason("Available")) == ("False", "FeedbackMissing")
    assert (run.statuses["Health"], run.reason("Health")) == ("Unknown", "FeedbackMissing")


async def test_two_works_of_one_cluster_are_reported_with_both_places_and_neither_is_changed(
    adapter: Adapter, running: Cluster, works: Works, client: MaestroClient
) -> None:
    await client.consumers.create(ELSEWHERE)
    twin = replace(await works.get(WORK), consumer=ELSEWHERE, generation=0, uid="")
    await client.works(ELSEWHERE).create(twin)
    running.change(openshift_version="4.22.3")

    run = await adapter.run(running)

    assert run.exit_code == 3
    assert (run.statuses["Applied"], run.reason("Applied")) == ("False", "DuplicateManifestWorks")
    message = run.message("Applied")
    assert HERE in message
    assert ELSEWHERE in message
    # Both were made in the same second, so either may be the one to delete.
    assert any(f"maestro-cli delete --adopt --consumer {place} {WORK}" in message for place in (HERE, ELSEWHERE))
    assert still_runs(run)
    assert (await works.get(WORK)).generation == 1
    assert (await client.works(ELSEWHERE).get(WORK)).generation == 1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"gcp_region": "us-east1"}, "spec.gcp_region, rendered as spec.platform.gcp.region"),
        (
            {"endpoint_access": "PublicAndPrivate"},
            "spec.endpoint_access or spec.base_domain, rendered as spec.services",
        ),
    ],
    ids=["region", "endpoint access, which is shown as a route"],
)
async def test_an_immutable_change_is_named_by_the_field_of_the_cluster_and_with_the_remedy(
    adapter: Adapter, running: Cluster, change: dict[str, str], named: str
) -> None:
    running.change(**change)

    run = await adapter.run(running)

    assert run.reason("Applied") == "ImmutableFieldChanged"
    assert named in run.message("Applied")
    assert "needs a new cluster" in run.message("Applied")
    assert still_runs(run)


async def test_a_management_cluster_that_is_not_registered_is_reported_with_the_remedy(
    adapter: Adapter, works: Works
) -> None:
    run = await adapter.run(Cluster(), MANAGEMENT_CLUSTER_CONSUMER="mgmt-99")

    assert run.exit_code == 3
    assert (run.statuses["Applied"], run.reason("Applied")) == ("False", "UnknownManagementCluster")
    assert "maestro-cli consumer ensure mgmt-99" in run.message("Applied")
