"""`lab-maestro --agent`: a management cluster on which HostedClusters become available, are upgraded and deleted."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.adapter import Adapter, Cluster, Run

COMMAND = [sys.executable, "-m", "lab.maestro.command"]
# Each run is a process; the simulated operator is done long before.
MOST_RUNS = 300
# So fast that nobody waits for it, and so slow that a run sees a cluster before it is available.
FAST, SLOW = "2000", "30"


@pytest.fixture
def speed() -> str:
    return FAST


@pytest.fixture
def adapter(tmp_path: Path, speed: str) -> Iterator[Adapter]:
    options = ("--consumer", "mgmt-01", "--agent", "--speed", speed, "--output", "json")
    with subprocess.Popen([*COMMAND, *options], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            addresses = json.loads(server.stdout.readline())
            settings = {
                "MAESTRO_API_URL": addresses["rest"],
                "MAESTRO_GRPC_URL": addresses["grpc"],
                "MAESTRO_INSECURE": "true",
                "MANAGEMENT_CLUSTER_CONSUMER": "mgmt-01",
            }
            yield Adapter(tmp_path, settings)
        finally:
            server.terminate()


async def until_version(adapter: Adapter, cluster: Cluster, version: str) -> Run:
    for _ in range(MOST_RUNS):
        run = await adapter.run(cluster)
        if run.statuses["Available"] == "True" and run.report["data"].get("version") == version:
            return run
    raise AssertionError(f"{version} was never available; last: {run.report}")


async def test_a_cluster_becomes_available_is_upgraded_and_deleted(adapter: Adapter) -> None:
    cluster = Cluster()
    assert (await adapter.run(cluster)).reason("Applied") == "ManifestWorkCreated"
    await until_version(adapter, cluster, "4.22.0")

    cluster.change(openshift_version="4.22.1")
    await until_version(adapter, cluster, "4.22.1")

    cluster.delete()
    assert (await adapter.run(cluster)).statuses["Finalized"] == "True"


@pytest.mark.parametrize("speed", [SLOW])
async def test_a_cluster_that_is_created_again_starts_from_nothing(adapter: Adapter) -> None:
    cluster = Cluster()
    await until_version(adapter, cluster, "4.22.0")
    cluster.delete()
    await adapter.run(cluster)

    again = await adapter.run(Cluster(cluster_id="019466a0-8f8e-7abc-9def-0123456789ac"))

    assert again.statuses["Available"] == "False"


def test_an_agent_needs_a_consumer() -> None:
    ended = subprocess.run([*COMMAND, "--agent"], capture_output=True, text=True, timeout=240, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.endswith("lab-maestro: error: --agent needs a --consumer\n")
