"""The stand-ins as pytest fixtures, one of each per test: `pytest_plugins = ["lab.fixtures"]` in your conftest.py.

They listen on free ports of 127.0.0.1 and keep nothing. A fixture that needs another one shares it with the test.
The fixtures are asynchronous: pytest-asyncio runs them in its auto mode.
"""

import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from lab.api import LabApi
from lab.broker import LabBroker
from lab.hypershift.on_agent import HyperShiftOnAgent
from lab.kubernetes import LabKubernetes
from lab.kubernetes.jobs import JobRunner
from lab.maestro import LabMaestro
from lab.maestro.agent import Agent
from lab.sentinel import EmbeddedPublisher, LabSentinel, Sentinel
from lab.system import LabSystem

CONSUMER = "mgmt-01"
TOPIC = "hyperfleet-clusters"
IMAGES = {
    "sh": ("sh", "-c"),
    "controlplane-adapter": (sys.executable, "-m", "controlplane_adapter"),
    "status-reporter": (sys.executable, "-m", "status_reporter"),
}


@pytest.fixture
async def lab_api() -> AsyncIterator[LabApi]:
    """The HyperFleet API: `url`, and `journal` with every request."""
    async with LabApi() as api:
        yield api


@pytest.fixture
async def lab_broker() -> AsyncIterator[LabBroker]:
    """A broker: `address`."""
    async with LabBroker() as broker:
        yield broker


@pytest.fixture
async def lab_sentinel(lab_api: LabApi, lab_broker: LabBroker) -> AsyncIterator[LabSentinel]:
    """Sentinel for the clusters of `lab_api`, ten times a second: `events` has what it published."""
    soon = timedelta(seconds=0.1)
    settings = Sentinel(api_url=lab_api.url, topic=TOPIC, poll_interval=soon, debounce=soon)
    async with LabSentinel(settings, EmbeddedPublisher(lab_broker.address)) as sentinel:
        yield sentinel


@pytest.fixture
async def lab_kubernetes() -> AsyncIterator[LabKubernetes]:
    """An API server: `url` and `admin_token`. Its pods stay Pending without `lab_jobs`."""
    async with LabKubernetes() as kubernetes:
        yield kubernetes


@pytest.fixture
async def lab_jobs(lab_kubernetes: LabKubernetes, tmp_path: Path) -> AsyncIterator[JobRunner]:
    """Runs the Jobs of `lab_kubernetes` as processes. The images are those of `IMAGES`."""
    async with JobRunner(lab_kubernetes, images=IMAGES, folder=tmp_path / "pods") as runner:
        yield runner


@pytest.fixture
async def lab_maestro() -> AsyncIterator[LabMaestro]:
    """Maestro with the consumer `CONSUMER`: `rest_url`, `grpc_address`."""
    maestro = LabMaestro(heartbeat_seconds=1.0)
    maestro.store.add_consumer(CONSUMER)
    async with maestro:
        yield maestro


@pytest.fixture
async def lab_hypershift(lab_maestro: LabMaestro) -> AsyncIterator[HyperShiftOnAgent]:
    """The management cluster `CONSUMER` of `lab_maestro`, with a HyperShift operator: `clusters`."""
    async with (
        Agent(lab_maestro.broker_address, CONSUMER) as agent,
        HyperShiftOnAgent(agent, speed=1000.0) as hypershift,
    ):
        yield hypershift


@pytest.fixture
async def lab_system(tmp_path: Path) -> AsyncIterator[LabSystem]:
    """Everything, with the dispatchers of the shipped adapters."""
    async with LabSystem(folder=tmp_path) as system:
        yield system
