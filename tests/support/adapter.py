"""What every test of the control plane adapter stands on: a cluster that can change, and the adapter as a real process."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.real.servers.agent import RealAgent

# Generous, because the machine may be slow; nothing waits this long unless it is broken.
TIMEOUT = 300.0
CLUSTER_ID = "019466a0-8f8e-7abc-9def-0123456789ab"
PROJECT = "my-project-123"
ACCOUNTS = {
    "control_plane_sa_email": "ctrlplane",
    "nodepool_sa_email": "nodepool",
    "cloud_controller_sa_email": "cloudctl",
    "storage_sa_email": "pdcsidrv",
    "image_registry_sa_email": "registry",
    "network_sa_email": "cloudnet",
}
SPEC: dict[str, Any] = {
    "gcp_project_id": PROJECT,
    "gcp_project_number": "123456789012",
    "gcp_region": "us-central1",
    "vpc_network_name": "my-vpc",
    "psc_subnet_name": "my-subnet",
    "wif_pool_id": "my-pool",
    "wif_provider_id": "my-provider",
    "openshift_version": "4.22.0",
    "machine_network_cidr": "10.0.0.0/16",
    "base_domain": "example.com",
    **{name: f"{account}@{PROJECT}.iam.gserviceaccount.com" for name, account in ACCOUNTS.items()},
}


@dataclass(slots=True)
class Cluster:
    """A cluster as the HyperFleet API has it. Every change is a new generation."""

    cluster_id: str = CLUSTER_ID
    name: str = "demo"
    generation: int = 1
    spec: dict[str, Any] = field(default_factory=lambda: dict(SPEC))
    node_pools: int = 0
    deleted_time: str | None = None

    def change(self, **spec: Any) -> None:
        self.spec |= spec
        self.generation += 1

    def delete(self) -> None:
        self.deleted_time = "2026-11-17T00:00:00Z"
        self.generation += 1

    def snapshot(self) -> dict[str, Any]:
        cluster = {"id": self.cluster_id, "name": self.name, "generation": self.generation, "spec": self.spec}
        if self.deleted_time:
            cluster["deleted_time"] = self.deleted_time
        adapters = {"pullsecret": {"pull_secret_name": "demo-pull-secret"}}
        return {"cluster": cluster, "nodepools": {"total": self.node_pools}, "adapters": adapters}


@dataclass(frozen=True, slots=True)
class Run:
    """How one run of the adapter ended, and what it reported."""

    exit_code: int
    report: dict[str, Any]
    log: str

    @property
    def conditions(self) -> dict[str, dict[str, Any]]:
        return {each["type"]: each for each in self.report["conditions"]}

    @property
    def statuses(self) -> dict[str, str]:
        return {type_: condition["status"] for type_, condition in self.conditions.items()}

    def reason(self, type_: str) -> str:
        return str(self.conditions[type_]["reason"])

    def message(self, type_: str) -> str:
        return str(self.conditions[type_]["message"])


@dataclass(frozen=True, slots=True)
class Adapter:
    """The adapter's process, as a Job would start it for a cluster."""

    folder: Path
    environment: dict[str, str]

    async def start(self, cluster: Cluster, **environment: str) -> asyncio.subprocess.Process:
        snapshot = self.folder / "snapshot.json"
        snapshot.write_text(json.dumps(cluster.snapshot()))
        self.report_file.unlink(missing_ok=True)
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "controlplane_adapter"),
            env={
                **os.environ,
                "CLUSTER_SNAPSHOT_PATH": str(snapshot),
                "RESULTS_OUTPUT_PATH": str(self.report_file),
                "CONFIRMATION_WAIT": "20s",
                "LOG_FORMAT": "json",
                **self.environment,
                **environment,
            },
            stderr=asyncio.subprocess.PIPE,
        )

    async def ended(self, process: asyncio.subprocess.Process) -> Run:
        async with asyncio.timeout(TIMEOUT):
            _, errors = await process.communicate()
        assert process.returncode is not None
        assert self.report_file.exists(), f"no report; the adapter said: {errors.decode()}"
        return Run(process.returncode, json.loads(self.report_file.read_text()), errors.decode())

    async def run(self, cluster: Cluster, **environment: str) -> Run:
        return await self.ended(await self.start(cluster, **environment))

    async def kill_after(self, cluster: Cluster, seconds: float) -> None:
        """Start, and take the process away without warning."""
        process = await self.start(cluster)
        try:
            async with asyncio.timeout(seconds):
                await process.wait()
        except TimeoutError:
            process.send_signal(signal.SIGKILL)
        await process.communicate()

    @property
    def report_file(self) -> Path:
        return self.folder / "adapter-report.json"


# Enough for the slowest machine: each run is a process that waits for what it needs.
MOST_RUNS = 60
# Runs that may follow a deletion before its end is taken for one that the agent will never confirm.
PATIENT_RUNS = 3


async def until(adapter: Adapter, cluster: Cluster, reached: Callable[[Run], bool], **environment: str) -> Run:
    """The first run whose report satisfies `reached`, as the next pulses would bring it."""
    runs = []
    for _ in range(MOST_RUNS):
        runs.append(await adapter.run(cluster, **environment))
        if reached(runs[-1]):
            return runs[-1]
    raise AssertionError(f"not reached in {MOST_RUNS} runs; the last one reported {runs[-1].report}")


async def until_finalized(adapter: Adapter, cluster: Cluster, agent: RealAgent) -> Run:
    """Maestro's agent sometimes never confirms a deletion; it is then started anew, as an operator would."""
    for _ in range(PATIENT_RUNS):
        run = await adapter.run(cluster)
        if _is_finalized(run):
            return run
    agent.kill()
    agent.start()
    return await until(adapter, cluster, _is_finalized)


def _is_finalized(run: Run) -> bool:
    return run.statuses["Finalized"] == "True"


def environment_for(rest_port: int, grpc_port: int, consumer: str) -> dict[str, str]:
    """How the adapter reaches a Maestro of this machine."""
    return {
        "MAESTRO_API_URL": f"http://127.0.0.1:{rest_port}",
        "MAESTRO_GRPC_URL": f"127.0.0.1:{grpc_port}",
        "MAESTRO_INSECURE": "true",
        "MANAGEMENT_CLUSTER_CONSUMER": consumer,
        "MAESTRO_SOURCE_ID": "controlplane-adapter",
    }
