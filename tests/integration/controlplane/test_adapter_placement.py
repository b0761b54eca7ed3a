"""Where a control plane goes, and what is left of it anywhere when it is to go, with the adapter as a real process."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from aiohttp import web

from controlplane_adapter.work.manifestwork import work_for
from lab.maestro import LabMaestro
from lab.maestro.agent import Agent
from shared.maestro import MaestroClient, Works
from tests.support.adapter import TIMEOUT, Adapter, Cluster

WORK = f"hostedcluster-{Cluster().cluster_id}"
HERE, ELSEWHERE = "us-east-mgmt-01", "us-east-mgmt-02"


@dataclass(slots=True)
class Registry:
    """A service that lists management clusters."""

    url: str = ""
    items: list[dict[str, Any]] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)

    async def list(self, request: web.Request) -> web.Response:
        self.asked.append(dict(request.query))
        return web.json_response({"items": self.items})


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    listing = Registry()
    application = web.Application()
    application.router.add_get("/management-clusters", listing.list)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    listing.url = f"http://{host}:{port}/management-clusters"
    yield listing
    await runner.cleanup()


@pytest.fixture
def placing(adapter: Adapter, registry: Registry) -> Adapter:
    """An adapter that asks the registry."""
    asking = {"MANAGEMENT_CLUSTER_CONSUMER": "", "MANAGEMENT_CLUSTERS_URL": registry.url}
    return Adapter(adapter.folder, adapter.environment | asking)


def healthy(name: str, load: int) -> dict[str, Any]:
    return {"name": name, "region": "us-central1", "status": "healthy", "load": load}


async def test_a_new_control_plane_goes_where_there_is_room_and_stays_there(
    placing: Adapter, works: Works, agent: Agent, registry: Registry
) -> None:
    registry.items = [healthy(ELSEWHERE, 9), healthy(HERE, 2)]
    first = await placing.run(Cluster())
    registry.items = [healthy(ELSEWHERE, 1), healthy(HERE, 50)]
    second = await placing.run(Cluster())

    assert (first.exit_code, second.exit_code) == (0, 0)
    for run in (first, second):
        assert run.report["data"]["management_cluster"] == HERE
    assert registry.asked == [{"region": "us-central1", "status": "healthy"}]


async def test_a_region_without_a_management_cluster_is_reported(placing: Adapter, works: Works) -> None:
    run = await placing.run(Cluster())

    assert run.exit_code == 3
    assert (run.statuses["Applied"], run.reason("Applied")) == ("False", "NoManagementCluster")
    assert "us-central1" in run.message("Applied")


async def test_a_list_that_is_away_is_unknown_and_worth_another_pod(adapter: Adapter, works: Works) -> None:
    run = await adapter.run(
        Cluster(),
        MANAGEMENT_CLUSTER_CONSUMER="",
        MANAGEMENT_CLUSTERS_URL="http://127.0.0.1:1/",
        MAESTRO_RETRY_BUDGET="1s",
    )

    assert run.exit_code == 4
    assert (run.statuses["Applied"], run.reason("Applied")) == ("Unknown", "PlacementError")


async def test_an_invalid_cluster_is_reported_what_is_wrong_with_it_before_it_is_placed(
    placing: Adapter, works: Works, registry: Registry
) -> None:
    cluster = Cluster()
    cluster.spec |= {"gcp_project_id": "NO", "gcp_region": ""}

    run = await placing.run(cluster)

    assert run.exit_code == 3
    assert run.reason("Applied") == "InvalidSpec"
    for path in ("spec.gcp_project_id", "spec.gcp_region"):
        assert path in run.message("Applied")
    assert registry.asked == []


async def test_a_cluster_that_was_never_placed_is_gone_though_it_could_not_be_placed(
    placing: Adapter, works: Works, registry: Registry
) -> None:
    cluster = Cluster()
    cluster.delete()

    run = await placing.run(cluster)

    assert run.exit_code == 0
    assert run.statuses["Finalized"] == "True"
    assert registry.asked == []


async def test_a_cluster_that_is_gone_is_not_finalized_before_its_node_pools(adapter: Adapter, works: Works) -> None:
    cluster = Cluster(node_pools=1)
    cluster.delete()

    held = await adapter.run(cluster)
    cluster.node_pools = 0
    after = await adapter.run(cluster)

    assert (held.statuses["Finalized"], held.reason("Finalized")) == ("False", "NodePoolsExist")
    assert after.statuses["Finalized"] == "True"


async def test_a_cluster_is_not_finalized_before_it_is_gone_from_everywhere(
    adapter: Adapter, works: Works, agent: Agent, client: MaestroClient, maestro: LabMaestro
) -> None:
    async with httpx.AsyncClient(timeout=TIMEOUT) as http:
        await http.post(f"{maestro.rest_url}/api/maestro/v1/consumers", json={"name": ELSEWHERE})
    cluster = Cluster()
    await adapter.run(cluster)
    twin = work_for(
        (await works.get(WORK)).manifests[0], cluster_id=cluster.cluster_id, consumer=ELSEWHERE, generation=1
    )
    await client.works(ELSEWHERE).create(twin)
    cluster.delete()

    during = await adapter.run(cluster, CONFIRMATION_WAIT="2s")
    async with Agent(maestro.broker_address, ELSEWHERE):
        after = await adapter.run(cluster)

    assert during.statuses["Finalized"] == "False"
    assert during.report["data"]["management_cluster"] == ELSEWHERE
    assert after.statuses["Finalized"] == "True"
    assert await client.find(WORK, {}) == []
