"""The dispatcher's watch of its works: what changes on a management cluster wakes the object it was made for."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial

import pytest

from dispatcher.engine.runs import Cause
from dispatcher.runtime.scheduling.wakes import Wake
from dispatcher.runtime.watching import works as work_watch
from dispatcher.runtime.watching.awaiting import AwaitedDeletions
from dispatcher.runtime.watching.owners import Owners
from dispatcher.runtime.watching.works import WorkWatch
from lab.maestro.agent import Agent
from shared.maestro import MaestroClient, Works
from shared.model.manifestwork import ManifestWork
from tests.support.adapters import resource
from tests.support.kubernetes import eventually
from tests.support.maestro import TIMEOUT, Cutter, MaestroServer, some_work, unique
from tests.support.maestro_works import is_applied
from tests.support.wakes import deletion_of_work, event, key

LABEL = ("hyperfleet.io/managed-by", "dns")
WORK = resource("work", "ManifestWork", "work.open-cluster-management.io/v1", transport="maestro")


class Wakes:
    def __init__(self) -> None:
        self.woken: list[Wake] = []
        self._news = asyncio.Condition()

    def wake(self, wake: Wake) -> None:
        self.woken.append(wake)
        asyncio.get_running_loop().create_task(self._notify())

    async def _notify(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def wait_for_deliveries(self) -> None:
        return

    async def until(self, wanted: Callable[[Wake], bool]) -> Wake:
        """The first wake that is as wanted, whatever comes before or between: an agent reports in several steps."""
        async with asyncio.timeout(TIMEOUT), self._news:
            await self._news.wait_for(lambda: any(map(wanted, self.woken)))
        return next(filter(wanted, self.woken))


@pytest.fixture
async def client(server: MaestroServer) -> AsyncIterator[MaestroClient]:
    async with MaestroClient(server.settings()) as connected:
        yield connected


@pytest.fixture
async def works(client: MaestroClient) -> Works:
    consumer = await client.consumers.create(unique("mgmt"))
    return client.works(consumer.name)


@pytest.fixture
async def agent(server: MaestroServer, works: Works) -> AsyncIterator[Agent]:
    async with Agent(server.broker_address, works.consumer) as connected:
        yield connected


@pytest.fixture
def wakes() -> Wakes:
    return Wakes()


@pytest.fixture
def awaited() -> AwaitedDeletions:
    return AwaitedDeletions()


@contextlib.asynccontextmanager
async def watching(client: MaestroClient, wakes: Wakes, awaited: AwaitedDeletions) -> AsyncIterator[WorkWatch]:
    watch = WorkWatch(client, Owners([WORK]), wakes, awaited, label=LABEL)
    task = asyncio.create_task(watch.run())
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def work_of(owner: str, name: str = "w", adapter: str = "dns") -> ManifestWork:
    stamp = json.dumps({"kind": "Cluster", "id": owner})
    annotations = {"hyperfleet.io/event": stamp, "hyperfleet.io/generation": "4"}
    return some_work(name, labels={LABEL[0]: adapter}, annotations=annotations)


def shows_work(wake: Wake) -> bool:
    """Found by listing, or by a status that was still on its way when the stream began."""
    return wake.key == key("a") and wake.delivered is not None


def shows_phase(wake: Wake) -> bool:
    return wake.delivered is not None and '"phase"' in json.dumps(wake.delivered.object["status"])


async def is_healthy(watch: WorkWatch) -> bool:
    return watch.healthy


async def applied(works: Works, name: str = "w") -> ManifestWork:
    work = await works.wait_until(name, is_applied, timeout=TIMEOUT)
    assert work is not None
    return work


async def test_feedback_that_changes_wakes_the_object_with_the_work(
    client: MaestroClient, works: Works, agent: Agent, wakes: Wakes, awaited: AwaitedDeletions
) -> None:
    await works.create(work_of("a"))
    await applied(works)
    async with watching(client, wakes, awaited):
        await wakes.until(shows_work)
        await agent.observe("ConfigMap", "default", "settings", {"phase": "Ready"})
        wake = await wakes.until(shows_phase)
    assert (wake.key, wake.cause, wake.background) == (key("a"), Cause.WATCH, False)
    assert wake.event.data == {"kind": "Cluster", "id": "a", "generation": 4}
    assert wake.delivered is not None
    assert wake.delivered.resource == "work"
    assert wake.delivered.object["metadata"]["name"] == "w"


async def test_works_of_other_adapters_wake_nobody(
    client: MaestroClient, works: Works, agent: Agent, wakes: Wakes, awaited: AwaitedDeletions
) -> None:
    await works.create(work_of("a", "other", adapter="validation"))
    await works.create(some_work("plain"))
    async with watching(client, wakes, awaited):
        await applied(works, "other")
        await applied(works, "plain")
        await works.create(work_of("b", "ours"))
        await wakes.until(lambda wake: wake.key == key("b"))
    assert {wake.key for wake in wakes.woken} == {key("b")}


async def test_an_awaited_deletion_wakes_who_waits(
    client: MaestroClient, works: Works, agent: Agent, wakes: Wakes, awaited: AwaitedDeletions
) -> None:
    await works.create(work_of("a"))
    work = await applied(works)
    awaited.expect(key("a"), event("a"), [deletion_of_work("w", work.uid)])
    async with watching(client, wakes, awaited):
        await wakes.until(shows_work)
        await works.delete("w")
        await works.wait_gone("w", timeout=TIMEOUT)
        wake = await wakes.until(lambda wake: wake.delivered is None)
    assert wake.key == key("a")


async def test_what_happened_while_the_stream_was_away_is_found_by_listing(
    server: MaestroServer, works: Works, agent: Agent, client: MaestroClient, wakes: Wakes, awaited: AwaitedDeletions
) -> None:
    await works.create(work_of("a"))
    await applied(works)
    async with Cutter(server.grpc_address) as relay:
        settings = replace(client._settings, grpc_server_address=relay.address)
        async with MaestroClient(settings) as through, watching(through, wakes, awaited) as watch:
            await wakes.until(shows_work)
            await eventually(partial(is_healthy, watch))
            relay.cut()
            await agent.observe("ConfigMap", "default", "settings", {"phase": "Ready"})
            await works.wait_until("w", has_phase, timeout=TIMEOUT)
            relay.mend()
            wake = await wakes.until(shows_phase)
    assert not wake.background


def has_phase(work: ManifestWork | None) -> bool:
    return work is not None and any("phase" in each.feedback for each in work.status.manifests)


async def test_a_maestro_that_is_away_at_the_start_is_waited_for(
    server: MaestroServer,
    works: Works,
    agent: Agent,
    client: MaestroClient,
    wakes: Wakes,
    awaited: AwaitedDeletions,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(work_watch, "RETRY_SECONDS", 0.05)
    await works.create(work_of("a"))
    await applied(works)
    async with Cutter(server.grpc_address) as relay:
        relay.cut()
        settings = replace(client._settings, grpc_server_address=relay.address)
        async with MaestroClient(settings) as through, watching(through, wakes, awaited):
            relay.mend()
            await wakes.until(shows_work)
