"""What comes back from the management cluster, and how a watch reports it."""

import asyncio

import pytest

from lab.maestro.agent import Agent, Script
from shared.errors import (
    DeadlineExceeded,
)
from shared.maestro import ApplyState, Change, MaestroClient, Works, apply_result
from shared.model.manifestwork import ManifestWork
from tests.support.maestro import TIMEOUT, Cutter, MaestroServer, some_work, watching
from tests.support.maestro_works import (
    is_applied,
    reported,
    reported_applied,
)


async def test_the_agents_status_and_feedback_come_back(works: Works, agent: Agent) -> None:
    await works.create(some_work("w"))
    await works.wait_until("w", is_applied, timeout=TIMEOUT)
    await agent.observe("ConfigMap", "default", "settings", {"phase": "Ready", "nodes": [1, 2]})

    def has_status(work: ManifestWork | None) -> bool:
        return work is not None and "status" in work.status.manifests[0].feedback

    work = await works.wait_until("w", has_status, timeout=TIMEOUT)

    assert work is not None
    manifest = work.status.manifests[0]
    assert (manifest.kind, manifest.namespace, manifest.name) == ("ConfigMap", "default", "settings")
    assert manifest.feedback == {
        "data": {"key": "value"},
        "status": {"phase": "Ready", "nodes": [1, 2]},
        "phase": "Ready",
    }


@pytest.mark.parametrize(
    ("script", "known"),
    [
        pytest.param(Script(), {"data", "status", "phase"}, id="everything"),
        pytest.param(Script(raw_feedback=False), {"phase"}, id="an agent that returns scalars only"),
        pytest.param(Script(max_raw_bytes=20), {"data", "phase"}, id="a value that is too large disappears"),
    ],
)
async def test_feedback_that_the_agent_leaves_out_is_unknown(
    works: Works, agent: Agent, script: Script, known: set[str]
) -> None:
    agent.script = script
    await works.create(some_work("w"))
    await works.wait_until("w", is_applied, timeout=TIMEOUT)
    await agent.observe("ConfigMap", "default", "settings", {"phase": "Ready", "text": "x" * 40})

    def has_phase(work: ManifestWork | None) -> bool:
        return work is not None and "phase" in work.status.manifests[0].feedback

    work = await works.wait_until("w", has_phase, timeout=TIMEOUT)

    assert work is not None
    assert set(work.status.manifests[0].feedback) == known


async def test_a_refusal_on_the_management_cluster_is_reported_with_its_own_text(works: Works, agent: Agent) -> None:
    agent.script = Script(refuse='spec.platform: Unsupported value: "GCP"')
    await works.create(some_work("w"))

    work = await works.wait_until(
        "w", lambda each: each is not None and apply_result(each).state is not ApplyState.NOT_YET, timeout=TIMEOUT
    )

    assert work is not None
    assert apply_result(work).state is ApplyState.FAILED
    assert 'Unsupported value: "GCP"' in apply_result(work).message


async def test_the_first_status_after_an_update_is_not_believed(works: Works, agent: Agent) -> None:
    await works.create(some_work("w"))
    await works.wait_until("w", is_applied, timeout=TIMEOUT)
    agent.script = Script(stale_first=True, refuse="no")
    async with watching(works) as seen:
        await seen.until(reported(Change.ADDED, "w"))
        await works.apply(some_work("w", labels={"a": "b"}))
        events = await seen.until(lambda events: any(apply_result(e.work).state is ApplyState.FAILED for e in events))

    states = [apply_result(event.work).state for event in events if event.work.generation == 2]
    assert ApplyState.APPLIED not in states


async def test_a_watch_begins_with_what_is_there_and_goes_on_with_what_changes(works: Works, agent: Agent) -> None:
    await works.create(some_work("old"))
    async with watching(works) as seen:
        await seen.until(reported(Change.ADDED, "old"))
        await works.create(some_work("new"))
        await seen.until(reported(Change.ADDED, "new"))
        await works.apply(some_work("new", labels={"a": "b"}))
        await seen.until(reported(Change.MODIFIED, "new", generation=2))
        await works.delete("new")
        await seen.until(reported(Change.DELETED, "new"))


async def test_a_watch_of_one_name_reports_nothing_else(works: Works, agent: Agent) -> None:
    async with watching(works, name="mine") as seen:
        await works.create(some_work("other"))
        await works.wait_until("other", is_applied, timeout=TIMEOUT)
        await works.create(some_work("mine"))
        events = await seen.until(reported(Change.ADDED, "mine"))

    assert {event.work.name for event in events} == {"mine"}


async def test_a_work_that_is_no_longer_selected_is_reported_as_gone(works: Works, agent: Agent) -> None:
    async with watching(works, selector="tier=gold") as seen:
        await works.create(some_work("w", labels={"tier": "gold"}))
        await seen.until(reported(Change.ADDED, "w"))
        await works.apply(some_work("w", labels={"tier": "silver"}))
        await seen.until(reported(Change.DELETED, "w"))


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(Script(duplicate=True), id="the same status twice"),
        pytest.param(Script(out_of_order=True), id="an older status after a newer one"),
        pytest.param(Script(text_versions=True), id="versions as text"),
    ],
)
async def test_a_strange_agent_does_not_confuse_the_watch(works: Works, agent: Agent, script: Script) -> None:
    agent.script = script
    async with watching(works) as seen:
        await works.create(some_work("w"))
        await seen.until(lambda events: any(is_applied(event.work) for event in events))
        await works.apply(some_work("w", labels={"a": "b"}))
        events = await seen.until(
            lambda events: any(is_applied(event.work) and event.work.generation == 2 for event in events)
        )

    ranks = [(event.work.generation, event.work.status.sequence_id) for event in events]
    assert ranks == sorted(set(ranks))


async def test_every_watcher_gets_everything(works: Works, agent: Agent) -> None:
    async with watching(works) as one, watching(works) as two:
        await works.create(some_work("w"))
        for seen in (one, two):
            await seen.until(reported(Change.ADDED, "w"))


async def test_a_watcher_that_does_not_look_holds_nobody_up(works: Works, agent: Agent) -> None:
    sleeper = works.watch()
    first = asyncio.ensure_future(anext(sleeper))
    async with watching(works) as awake:
        await works.create(some_work("w"))
        await awake.until(reported(Change.ADDED, "w"))
        await first
        for generation in range(2, 32):
            await works.apply(some_work("w", labels={"round": str(generation)}))
        await awake.until(reported(Change.MODIFIED, "w", generation=31))

    async with asyncio.timeout(TIMEOUT):
        while (await anext(sleeper)).work.generation < 31:
            pass
    await sleeper.aclose()


async def test_a_stream_that_falls_silent_is_left_and_opened_again(
    server: MaestroServer, works: Works, agent: Agent
) -> None:
    async with Cutter(server.grpc_address) as cutter:
        settings = server.settings(
            grpc_server_address=cutter.address, source_id=works.settings.source_id, server_healthiness_timeout=4.0
        )
        async with MaestroClient(settings) as client, watching(client.works(works.consumer)) as seen:
            await works.create(some_work("before"))
            await seen.until(reported(Change.ADDED, "before"))
            cutter.stall()
            await works.create(some_work("meanwhile"))
            await works.wait_until("meanwhile", is_applied, timeout=TIMEOUT)
            cutter.cut()
            cutter.mend()
            await seen.until(reported(Change.ADDED, "meanwhile"))


async def test_what_happened_while_the_stream_was_away_is_reported(
    server: MaestroServer, works: Works, agent: Agent
) -> None:
    async with Cutter(server.grpc_address) as cutter:
        settings = server.settings(grpc_server_address=cutter.address, source_id=works.settings.source_id)
        async with MaestroClient(settings) as client, watching(client.works(works.consumer)) as seen:
            for name in ("stays", "goes", "changes"):
                await works.create(some_work(name))
                await seen.until(reported_applied(name))
            before = len(seen.events)
            cutter.cut()
            await works.delete("goes")
            await works.wait_gone("goes", timeout=TIMEOUT)
            await works.apply(some_work("changes", labels={"a": "b"}))
            await works.create(some_work("comes"))
            cutter.mend()
            await seen.until(reported(Change.DELETED, "goes"))
            await seen.until(reported(Change.MODIFIED, "changes", generation=2))
            await seen.until(reported(Change.ADDED, "comes"))

    assert "stays" not in {event.work.name for event in seen.events[before:]}
    assert [event.change for event in seen.events].count(Change.DELETED) == 1


async def test_a_watch_survives_the_servers_death_and_loses_nothing(
    server: MaestroServer, works: Works, agent: Agent
) -> None:
    async with Cutter(server.grpc_address) as cutter:
        settings = server.settings(grpc_server_address=cutter.address, source_id=works.settings.source_id)
        async with MaestroClient(settings) as client, watching(client.works(works.consumer)) as seen:
            for name in ("goes", "stays"):
                await works.create(some_work(name))
                await seen.until(reported(Change.ADDED, name))
            await server.kill()
            cutter.cut()
            await server.start()
            await agent.connected.wait()
            async with MaestroClient(server.settings(source_id=works.settings.source_id)) as fresh:
                again = fresh.works(works.consumer)
                await again.delete("goes")
                await again.wait_gone("goes", timeout=TIMEOUT)
                cutter.mend()
                await seen.until(reported(Change.DELETED, "goes"))
                await again.apply(some_work("stays", labels={"after": "restart"}))
                events = await seen.until(
                    lambda events: any(is_applied(e.work) and e.work.generation == 2 for e in events)
                )

    assert sum(event.change is Change.DELETED for event in events) == 1
    ranks = [(e.work.generation, e.work.status.sequence_id) for e in events if e.work.name == "stays"]
    assert ranks == sorted(set(ranks))


async def test_waiting_ends_at_its_timeout_and_shows_the_last_report(works: Works) -> None:
    await works.create(some_work("w"))
    with pytest.raises(DeadlineExceeded, match="its last conditions: none"):
        await works.wait_until("w", is_applied, timeout=3.0)


async def test_an_agent_that_was_offline_catches_up(server: MaestroServer, works: Works) -> None:
    await works.create(some_work("w"))
    await works.apply(some_work("w", labels={"a": "b"}))
    async with Agent(server.broker_address, works.consumer) as agent:
        await works.wait_until("w", is_applied, timeout=TIMEOUT)
        await agent.go_offline()
        await works.apply(some_work("w", labels={"a": "c"}))
        await agent.come_online()
        work = await works.wait_until("w", is_applied, timeout=TIMEOUT)

    assert work is not None
    assert work.generation == 3
