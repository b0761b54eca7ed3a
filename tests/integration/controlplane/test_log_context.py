"""Every log line of a run names its cluster, generation, management cluster and Job."""

import json

from lab.maestro import LabMaestro
from lab.maestro.agent import Agent
from shared.maestro import MaestroClient, Works
from tests.integration.controlplane.conftest import CONSUMER
from tests.support.adapter import CLUSTER_ID, Adapter, Cluster, Run

JOB = f"controlplane-{CLUSTER_ID}-gen1"
JOB_VARIABLES = {"JOB_NAME": JOB, "CLUSTER_ID": CLUSTER_ID, "GENERATION": "1", "LOG_FORMAT": "json"}


def contexts(run: Run) -> set[tuple[str, ...]]:
    lines = [json.loads(line) for line in run.log.splitlines()]
    assert lines
    return {tuple(str(line.get(key)) for key in ("cluster_id", "generation", "consumer", "job")) for line in lines}


async def test_every_line_names_cluster_generation_consumer_and_job(
    adapter: Adapter, works: Works, agent: Agent
) -> None:
    run = await adapter.run(Cluster(), **JOB_VARIABLES, LOG_LEVEL="debug")

    assert contexts(run) == {(CLUSTER_ID, "1", CONSUMER, JOB)}


async def test_also_a_run_that_cannot_start_names_them(adapter: Adapter) -> None:
    run = await adapter.run(Cluster(), **JOB_VARIABLES, ADAPTER_TIME_BUDGET="soon")

    assert run.exit_code == 2
    assert contexts(run) == {(CLUSTER_ID, "1", CONSUMER, JOB)}


async def test_the_report_of_a_control_plane_that_stays_where_it_is_names_that_management_cluster(
    adapter: Adapter, works: Works, agent: Agent, client: MaestroClient, maestro: LabMaestro
) -> None:
    await adapter.run(Cluster())
    await client.consumers.create("another-mgmt")

    run = await adapter.run(Cluster(), **JOB_VARIABLES, MANAGEMENT_CLUSTER_CONSUMER="another-mgmt")

    reported = [json.loads(line) for line in run.log.splitlines() if '"reported"' in line]
    assert {line["consumer"] for line in reported} == {CONSUMER}
