"""The control plane adapter as a real process, Job after Job, on the stand-in Maestro and a scripted cluster behind it."""

from pathlib import Path

import grpc
import httpx
import pytest

from lab.maestro import LabMaestro
from lab.maestro.agent import Agent, Script
from shared.maestro import MaestroClient, MaestroSettings, Works
from shared.model.manifestwork import ManifestWork
from tests.support.adapter import TIMEOUT, Adapter, Cluster

CONSUMER = "us-east-mgmt-01"
WORK = f"hostedcluster-{Cluster().cluster_id}"
UNTIL_AVAILABLE = {
    "conditions": [
        {
            "type": type_,
            "status": status,
            "reason": "AsExpected",
            "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        for type_, status in (("Available", "True"), ("Degraded", "False"), ("Progressing", "False"))
    ],
    "controlPlaneEndpoint": {"host": "api.demo.example.com", "port": 443},
    "controlPlaneVersion": {
        "history": [
            {
                "state": "Completed",
                "version": "4.22.0",
                "image": "x",
                "startedTime": "2026-01-01T00:00:00Z",
                "completionTime": "2026-01-01T00:10:00Z",
            }
        ]
    },
}


async def test_the_first_run_creates_the_work_and_tells_what_the_agent_says(
    adapter: Adapter, works: Works, agent: Agent
) -> None:
    run = await adapter.run(Cluster())

    assert run.exit_code == 0
    assert run.statuses["Applied"] == "True"
    assert run.reason("Applied") == "ManifestWorkCreated"
    assert run.statuses["Available"] == "False"
    assert run.report["observedGeneration"] == 1
    assert run.report["data"]["management_cluster"] == CONSUMER
    assert run.report["data"]["manifest_work"] == WORK
    assert run.report["data"]["hosted_cluster"] == "clusters/demo"
    work = await works.get(WORK)
    assert work.labels["hyperfleet.io/adapter"] == "controlplane"
    assert work.annotations["hyperfleet.io/generation"] == "1"


async def test_a_work_that_nobody_has_answered_for_is_sent_and_not_yet_confirmed(
    adapter: Adapter, works: Works
) -> None:
    run = await adapter.run(Cluster(), CONFIRMATION_WAIT="200ms")

    assert run.exit_code == 0
    assert (run.statuses["Applied"], run.reason("Applied")) == ("True", "ManifestWorkCreated")
    assert "not yet confirmed" in run.message("Applied")


async def test_a_cluster_becomes_available_over_the_runs(adapter: Adapter, works: Works, agent: Agent) -> None:
    await adapter.run(Cluster())
    await agent.observe("HostedCluster", "clusters", "demo", UNTIL_AVAILABLE)

    run = await adapter.run(Cluster())

    assert run.exit_code == 0
    assert run.statuses == {"Applied": "True", "Available": "True", "Health": "True"}
    assert (run.reason("Applied"), run.reason("Available")) == ("ManifestWorkExists", "ControlPlaneReady")
    assert run.report["data"]["control_plane_endpoint"] == "https://api.demo.example.com:443"
    assert run.report["data"]["version"] == "4.22.0"
    assert (await works.get(WORK)).generation == 1


async def test_a_refusal_of_the_management_cluster_is_reported_with_its_remedy(
    adapter: Adapter, works: Works, agent: Agent
) -> None:
    agent.script = Script(refuse='spec.platform.type: Unsupported value: "GCP": supported values: "AWS"')

    run = await adapter.run(Cluster())

    assert run.statuses["Applied"] == "False"
    assert 'Unsupported value: "GCP"' in run.message("Applied")
    assert "TechPreviewNoUpgrade" in run.message("Applied")


async def test_a_change_is_applied_once(adapter: Adapter, works: Works, agent: Agent) -> None:
    cluster = Cluster()
    await adapter.run(cluster)
    cluster.change(openshift_version="4.22.3")

    first, second = await adapter.run(cluster), await adapter.run(cluster)

    assert (first.exit_code, second.exit_code) == (0, 0)
    assert first.reason("Applied") == "ManifestWorkUpdated"
    assert second.reason("Applied") == "ManifestWorkExists"
    work = await works.get(WORK)
    assert work.generation == 2
    assert work.manifests[0]["spec"]["release"]["image"].endswith(":4.22.3-multi")
    assert work.annotations["hyperfleet.io/generation"] == "2"


@pytest.mark.parametrize(
    ("change", "reason", "message"),
    [
        pytest.param({"gcp_region": "us-east1"}, "ImmutableFieldChanged", "us-east1", id="region"),
        pytest.param({"cluster_network_cidr": "10.200.0.0/14"}, "ImmutableFieldChanged", "10.200.0.0/14", id="network"),
        pytest.param({"openshift_version": "4.21.9"}, "DowngradeRefused", "4.21.9", id="earlier minor"),
        pytest.param({"gcp_project_id": "X"}, "InvalidSpec", "spec.gcp_project_id", id="invalid"),
    ],
)
async def test_a_change_that_cannot_be_made_is_refused_and_what_is_there_goes_on(
    adapter: Adapter, works: Works, agent: Agent, change: dict[str, str], reason: str, message: str
) -> None:
    cluster = Cluster()
    await adapter.run(cluster)
    await agent.observe("HostedCluster", "clusters", "demo", UNTIL_AVAILABLE)
    cluster.change(**change)

    run = await adapter.run(cluster)

    assert run.exit_code == 3
    assert (run.statuses["Applied"], run.reason("Applied")) == ("False", reason)
    assert message in run.message("Applied")
    assert run.statuses["Available"] == "True"
    assert (await works.get(WORK)).generation == 1


async def test_an_invalid_cluster_never_reaches_maestro(adapter: Adapter, works: Works) -> None:
    cluster = Cluster()
    cluster.spec |= {"gcp_project_id": "NO", "gcp_region": ""}

    run = await adapter.run(cluster)

    assert run.exit_code == 3
    assert run.reason("Applied") == "InvalidSpec"
    assert "spec.gcp_project_id" in run.message("Applied")
    assert "spec.gcp_region" in run.message("Applied")
    assert await works.list() == []


async def test_an_older_generation_does_not_overwrite_a_newer_one(adapter: Adapter, works: Works, agent: Agent) -> None:
    late = Cluster(generation=1)
    await adapter.run(Cluster(generation=2))

    run = await adapter.run(late)

    assert run.reason("Applied") == "Superseded"
    assert (await works.get(WORK)).annotations["hyperfleet.io/generation"] == "2"


async def test_nothing_is_deleted_while_there_are_node_pools(adapter: Adapter, works: Works, agent: Agent) -> None:
    cluster = Cluster(node_pools=2)
    await adapter.run(cluster)
    cluster.delete()

    run = await adapter.run(cluster)

    assert (run.statuses["Applied"], run.reason("Applied")) == ("False", "NodePoolsExist")
    assert "2 node pool" in run.message("Applied")
    assert run.statuses["Finalized"] == "False"
    assert not (await works.get(WORK)).deleting


async def test_a_deleted_cluster_is_finalized_when_nothing_is_left(
    adapter: Adapter, works: Works, agent: Agent
) -> None:
    cluster = Cluster()
    await adapter.run(cluster)
    cluster.delete()

    run, again = await adapter.run(cluster), await adapter.run(cluster)

    for each in (run, again):
        assert each.exit_code == 0
        assert each.statuses["Finalized"] == "True"
    assert await works.list() == []


async def test_a_slow_deletion_is_followed_and_not_finalized_before_its_time(
    adapter: Adapter, works: Works, agent: Agent
) -> None:
    cluster = Cluster()
    await adapter.run(cluster)
    agent.script = Script(stuck=True)
    cluster.delete()

    during = await adapter.run(cluster, CONFIRMATION_WAIT="500ms")
    stuck = await adapter.run(cluster, CONFIRMATION_WAIT="500ms", DELETION_STUCK_AFTER="1ms")
    agent.freed.set()
    after = await adapter.run(cluster)

    assert during.statuses["Finalized"] == "False"
    assert during.statuses["Health"] == "True"
    assert stuck.statuses["Health"] == "False"
    assert after.statuses["Finalized"] == "True"


async def test_a_work_that_somebody_else_made_is_left_alone(
    adapter: Adapter, works: Works, maestro: LabMaestro
) -> None:
    settings = MaestroSettings(
        grpc_server_address=maestro.grpc_address,
        http_server_address=maestro.rest_url,
        source_id="somebody-else",
        insecure=True,
    )
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "default"}}
    async with MaestroClient(settings) as other:
        await other.works(CONSUMER).create(ManifestWork(name=WORK, consumer=CONSUMER, manifests=(manifest,)))

    run = await adapter.run(Cluster())

    assert run.exit_code == 3
    assert (run.statuses["Applied"], run.reason("Applied")) == ("False", "NotOwned")


async def test_an_unknown_management_cluster_is_named(adapter: Adapter, works: Works) -> None:
    run = await adapter.run(Cluster(), MANAGEMENT_CLUSTER_CONSUMER="nowhere")

    assert run.exit_code == 3
    assert run.reason("Applied") == "UnknownManagementCluster"
    assert "nowhere" in run.message("Applied")


async def test_a_control_plane_stays_where_it_is(
    adapter: Adapter, works: Works, agent: Agent, maestro: LabMaestro
) -> None:
    await adapter.run(Cluster())
    async with httpx.AsyncClient(timeout=TIMEOUT) as http:
        await http.post(f"{maestro.rest_url}/api/maestro/v1/consumers", json={"name": "another-mgmt"})

    run = await adapter.run(Cluster(), MANAGEMENT_CLUSTER_CONSUMER="another-mgmt")

    assert run.report["data"]["management_cluster"] == CONSUMER
    assert run.reason("Applied") == "ManifestWorkExists"


async def test_a_maestro_that_is_away_is_unknown_and_worth_another_pod(adapter: Adapter) -> None:
    run = await adapter.run(Cluster(), MAESTRO_API_URL="http://127.0.0.1:1", MAESTRO_RETRY_BUDGET="1s")

    assert run.exit_code == 4
    assert set(run.statuses.values()) == {"Unknown"}
    assert run.reason("Applied") == "MaestroError"


async def test_a_passing_trouble_of_maestro_is_not_noticed(
    adapter: Adapter, works: Works, agent: Agent, maestro: LabMaestro
) -> None:
    maestro.faults.fail_rest(503, times=2)
    maestro.faults.fail_publish(grpc.StatusCode.UNAVAILABLE, "connection reset", times=2)

    run = await adapter.run(Cluster())

    assert run.exit_code == 0
    assert run.statuses["Applied"] == "True"


async def test_authentication_is_not_tried_again(adapter: Adapter, works: Works, maestro: LabMaestro) -> None:
    maestro.faults.fail_publish(grpc.StatusCode.UNAUTHENTICATED, "invalid token")

    run = await adapter.run(Cluster())

    assert run.exit_code == 3
    assert (run.statuses["Applied"], run.reason("Applied")) == ("False", "MaestroError")
    assert "MAESTRO_TOKEN_FILE" in run.message("Applied")


async def test_being_stopped_is_reported(adapter: Adapter, works: Works, maestro: LabMaestro) -> None:
    maestro.faults.hang_publish()
    process = await adapter.start(Cluster())
    await maestro.faults.have_occurred()
    process.terminate()

    run = await adapter.ended(process)

    assert run.exit_code == 4
    assert set(run.statuses.values()) == {"Unknown"}
    assert "stopped" in run.message("Applied")


async def test_a_run_out_of_time_is_reported(adapter: Adapter, works: Works, maestro: LabMaestro) -> None:
    maestro.faults.hang_publish(times=100)

    run = await adapter.run(Cluster(), ADAPTER_TIME_BUDGET="7s", MAESTRO_TIMEOUT="60s")

    assert run.exit_code == 4
    assert "time" in run.message("Applied")


async def test_all_that_is_wrong_with_the_settings_is_reported_at_once(adapter: Adapter) -> None:
    run = await adapter.run(
        Cluster(),
        MAESTRO_API_URL="nonsense",
        ADAPTER_TIME_BUDGET="soon",
        GENERATION="7",
        MANAGEMENT_CLUSTER_CONSUMER="",
    )

    assert run.exit_code == 2
    message = run.message("Applied")
    for name in ("MAESTRO_API_URL", "ADAPTER_TIME_BUDGET", "GENERATION", "MANAGEMENT_CLUSTER_CONSUMER"):
        assert name in message


@pytest.mark.parametrize("seconds", [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 1.0])
async def test_a_run_that_was_killed_is_made_good_by_the_next(
    adapter: Adapter, works: Works, agent: Agent, seconds: float
) -> None:
    await adapter.kill_after(Cluster(), seconds)

    run = await adapter.run(Cluster())

    assert run.exit_code == 0
    assert run.statuses["Applied"] == "True"
    assert [work.name for work in await works.list()] == [WORK]
    assert (await works.get(WORK)).generation == 1


async def test_an_overlay_of_the_platform_team_is_merged_last(
    adapter: Adapter, works: Works, agent: Agent, tmp_path: Path
) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("spec:\n  tolerations: [{key: dedicated, operator: Exists}]\n")

    await adapter.run(Cluster(), HOSTED_CLUSTER_OVERLAY_PATH=str(overlay), HOSTED_CLUSTER_NAMESPACE="hosted")

    manifest = (await works.get(WORK)).manifests[0]
    assert manifest["spec"]["tolerations"] == [{"key": "dedicated", "operator": "Exists"}]
    assert manifest["metadata"]["namespace"] == "hosted"
