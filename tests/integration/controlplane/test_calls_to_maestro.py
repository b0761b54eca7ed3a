"""What a run costs Maestro, and what it loads: the unchanged cluster is the common case, at every re-poll."""

import asyncio
import json
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from controlplane_adapter.hostedcluster.render_settings import RenderSettings
from controlplane_adapter.reconcile.loop import reconcile
from controlplane_adapter.reconcile.observe import Progress
from controlplane_adapter.reconcile.placement import FixedPlacement
from controlplane_adapter.reconcile.plan import Create, Delete, LeaveAlone, Update
from controlplane_adapter.reconcile.request import Request
from lab.maestro import LabMaestro
from shared.maestro import MaestroClient
from shared.model.snapshot import ClusterSnapshot
from tests.support.adapter import Adapter, Cluster

CONSUMER = "us-east-mgmt-01"


@pytest.fixture
def calls(maestro: LabMaestro, client: MaestroClient, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often Maestro was read and written since the fixtures were made."""
    counted: Counter[str] = Counter()
    next_rest, next_publish = maestro.faults.next_rest, maestro.faults.next_publish

    def read() -> object:
        counted["reads"] += 1
        return next_rest()

    def written() -> object:
        counted["writes"] += 1
        return next_publish()

    monkeypatch.setattr(maestro.faults, "next_rest", read)
    monkeypatch.setattr(maestro.faults, "next_publish", written)
    return counted


def request(cluster: Cluster) -> Request:
    return Request(
        snapshot=ClusterSnapshot.parse(json.dumps(cluster.snapshot()).encode()),
        render=RenderSettings(),
        overlay={},
        placement=FixedPlacement(CONSUMER),
        confirmation=0.0,
    )


async def test_an_unchanged_cluster_costs_one_read_and_no_write(client: MaestroClient, calls: Counter[str]) -> None:
    await reconcile(request(Cluster()), client, Progress())
    calls.clear()

    result = await reconcile(request(Cluster()), client, Progress())

    assert isinstance(result.plan, LeaveAlone)
    assert calls == {"reads": 1}


async def test_a_change_costs_one_read_and_one_write_before_the_confirmation(
    client: MaestroClient, calls: Counter[str]
) -> None:
    cluster = Cluster()
    await reconcile(request(cluster), client, Progress())
    cluster.change(openshift_version="4.22.3")
    calls.clear()

    result = await reconcile(request(cluster), client, Progress())

    assert isinstance(result.plan, Update)
    assert calls == {"reads": 1, "writes": 1}


async def test_a_deletion_costs_one_read_and_one_write_and_a_look_at_what_is_left(
    client: MaestroClient, calls: Counter[str]
) -> None:
    cluster = Cluster()
    await reconcile(request(cluster), client, Progress())
    cluster.delete()
    calls.clear()

    result = await reconcile(request(cluster), client, Progress())

    assert isinstance(result.plan, Delete)
    assert calls == {"reads": 2, "writes": 1}


async def test_a_deletion_in_progress_is_not_sent_again_within_a_minute(
    client: MaestroClient, calls: Counter[str]
) -> None:
    cluster = Cluster()
    await reconcile(request(cluster), client, Progress())
    cluster.delete()
    await reconcile(request(cluster), client, Progress())
    calls.clear()

    result = await reconcile(request(cluster), client, Progress())

    assert isinstance(result.plan, Delete)
    assert calls["writes"] == 0


async def test_a_new_cluster_is_created_by_one_write(client: MaestroClient, calls: Counter[str]) -> None:
    result = await reconcile(request(Cluster()), client, Progress())

    assert isinstance(result.plan, Create)
    assert calls["writes"] == 1


async def test_an_unchanged_cluster_loads_no_grpc_no_stream_and_nothing_that_only_writers_and_watchers_need(
    adapter: Adapter, client: MaestroClient, tmp_path: Path
) -> None:
    await reconcile(request(Cluster()), client, Progress())
    snapshot = tmp_path / "snapshot.json"
    snapshot.write_text(json.dumps(Cluster().snapshot()))
    program = (
        "import sys; from controlplane_adapter.__main__ import main; code = main(); print(*sys.modules); sys.exit(code)"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program),
        env={
            **os.environ,
            **adapter.environment,
            "CLUSTER_SNAPSHOT_PATH": str(snapshot),
            "RESULTS_OUTPUT_PATH": str(tmp_path / "report.json"),
        },
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()

    assert process.returncode == 0
    loaded = set(output.decode().split())
    assert "controlplane_adapter.run" in loaded
    of_others = {"grpc", "google.protobuf", "httpx", "yaml"}
    of_the_client = {"grpc.stream", "grpc.channel", "consumers"} | {
        f"works.{name}" for name in ("publishing", "executors", "waiting", "tracking", "feed")
    }
    assert loaded & (of_others | {f"shared.maestro.{name}" for name in of_the_client}) == set()
