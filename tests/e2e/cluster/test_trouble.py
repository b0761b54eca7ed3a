"""The control plane adapter's own containers while Maestro is away, and while their pod is told to go."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from lab.real.cluster.maestro import ClusterMaestro
from tests.contracts.adapter_ground import Cluster
from tests.contracts.cluster_ground import Jobs

# A good part of the adapter's time of 120 s.
OUTAGE_SECONDS = 30

Outage = Callable[[], AbstractAsyncContextManager[None]]


@pytest.fixture
def wanted() -> Cluster:
    return Cluster(cluster_id=str(uuid.uuid4()), name=f"troubled-{uuid.uuid4().hex[:6]}")


@pytest.fixture
def outage(maestro: ClusterMaestro) -> Outage:
    """While it lasts, nobody answers where Maestro was.

    The agent is started anew with it, as the real one takes two minutes and more to find back by itself.
    """

    @asynccontextmanager
    async def lasting() -> AsyncIterator[None]:
        maestro.agent.kill()
        maestro.server.kill()
        try:
            yield
        finally:
            maestro.server.start()
            maestro.agent.start()

    return lasting


async def test_a_maestro_that_is_down_for_half_a_minute_is_waited_for(
    jobs: Jobs, wanted: Cluster, outage: Outage
) -> None:
    async with outage():
        name = await jobs.start(wanted, ttlSecondsAfterFinished=60)
        await jobs.room.running_pod(name)
        await asyncio.sleep(OUTAGE_SECONDS)
        assert not (await jobs.room.job(name)).over
    seen = await jobs.room.ended(name, "CompletionsReached")
    assert seen.says("Applied", "True", "ManifestWorkCreated")
    assert not seen.document["status"].get("failed"), f"another pod was needed\n{await jobs.room.story(name)}"


async def test_a_pod_that_is_told_to_go_says_so_on_the_job_and_another_one_does_its_work(
    jobs: Jobs, wanted: Cluster, outage: Outage, maestro: ClusterMaestro
) -> None:
    """The adapter waits for Maestro, so that the pod's SIGTERM finds it at work."""
    async with outage():
        name = await jobs.start(wanted)
        first = await jobs.room.running_pod(name)
        await jobs.room.logged(first, "adapter", "trying again")
        await jobs.room.kubectl("delete", "pod", first, "--wait=false")
        told = await jobs.room.until(name, lambda job: job.reason("Applied"))
        assert told.says("Applied", "Unknown", "AdapterStopped")
        assert told.conditions["Available"]["status"] == "Unknown"
        assert not told.over
        await jobs.room.gone("pod", first)
        second = await jobs.room.running_pod(name)
        assert second != first
    seen = await jobs.room.ended(name, "CompletionsReached")
    assert seen.says("Applied", "True", "ManifestWorkCreated")
    assert len(maestro.works_of(wanted.cluster_id)) == 1
