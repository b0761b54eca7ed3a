"""The control plane adapter's own containers while Maestro is down, and while their pod is deleted."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

import pytest

from lab.real.cluster.maestro import ClusterMaestro
from tests.support.adapter import Cluster
from tests.support.cluster import Jobs, JobTemplate

# Longer than the waits between the adapter's attempts.
OUTAGE_SECONDS = 30

Outage = Callable[[], AbstractAsyncContextManager[None]]


@pytest.fixture
def wanted() -> Cluster:
    return Cluster(cluster_id=str(uuid.uuid4()), name=f"troubled-{uuid.uuid4().hex[:6]}")


@pytest.fixture
def template(template: JobTemplate) -> JobTemplate:
    """On a busy machine Maestro takes minutes to start, which belongs to its outage."""
    return replace(template, slowness=4)


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
        name = await jobs.start(wanted)
        await jobs.namespace.running_pod(name)
        await asyncio.sleep(OUTAGE_SECONDS)
        assert not (await jobs.namespace.job(name)).over
    seen = await jobs.namespace.ended(name, "CompletionsReached")
    assert seen.has_condition("Applied", "True", "ManifestWorkCreated")
    assert not seen.document["status"].get("failed"), f"another pod was needed\n{await jobs.namespace.story(name)}"


async def test_a_deleted_pod_is_reported_on_the_job_and_another_one_does_its_work(
    jobs: Jobs, wanted: Cluster, outage: Outage, maestro: ClusterMaestro
) -> None:
    """The adapter waits for Maestro, so that the pod's SIGTERM finds it at work."""
    async with outage():
        name = await jobs.start(wanted)
        first = await jobs.namespace.running_pod(name)
        await jobs.namespace.logged(first, "adapter", "retrying in")
        await jobs.namespace.kubectl("delete", "pod", first, "--wait=false")
        # Where the adapter is slow to stop, the reporter says before that it was stopped itself.
        seen = await jobs.namespace.until(name, lambda job: job.has_condition("Applied", "Unknown", "AdapterStopped"))
        assert seen.conditions["Available"]["status"] == "Unknown"
        assert not seen.over
        await jobs.namespace.gone("pod", first)
        second = await jobs.namespace.running_pod(name)
        assert second != first
    seen = await jobs.namespace.ended(name, "CompletionsReached")
    assert seen.has_condition("Applied", "True", "ManifestWorkCreated")
    assert len(maestro.works_of(wanted.cluster_id)) == 1
