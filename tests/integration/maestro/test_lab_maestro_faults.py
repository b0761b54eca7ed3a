"""What can be made to go wrong on the stand-in, as those on the other side see it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import httpx
import pytest

from lab.maestro import LabMaestro
from shared.maestro.wire.cloudevent_pb2 import CloudEvent
from shared.maestro.wire.codec import HEARTBEAT_TYPE
from tests.support.maestro import standin
from tests.support.maestro_wire import Wire, condition, connected

SOON = 0.2


@pytest.fixture
async def server() -> AsyncIterator[LabMaestro]:
    async with LabMaestro(heartbeat_seconds=0.05) as running:
        yield running


@pytest.fixture
async def wire(server: LabMaestro) -> AsyncIterator[Wire]:
    async with connected(standin(server)) as wire:
        yield wire


async def test_publishing_fails_as_often_as_was_said_and_nothing_is_stored(server: LabMaestro, wire: Wire) -> None:
    server.faults.fail_publish(grpc.StatusCode.RESOURCE_EXHAUSTED, "enough", times=2)

    assert [await wire.refusal(wire.event("w")) for _ in range(2)] == [("RESOURCE_EXHAUSTED", "enough")] * 2
    await wire.publish(wire.event("w"))
    assert (await wire.bundle("w"))["version"] == 1


async def test_faults_come_in_the_order_they_were_asked_for(server: LabMaestro, wire: Wire) -> None:
    server.faults.fail_publish(grpc.StatusCode.INTERNAL, "first")
    server.faults.lose_publish_answer()

    assert await wire.refusal(wire.event("w")) == ("INTERNAL", "first")
    assert await wire.refusal(wire.event("w")) == ("UNAVAILABLE", "Socket closed")


async def test_a_lost_answer_hides_what_was_stored(server: LabMaestro, wire: Wire) -> None:
    server.faults.lose_publish_answer()

    assert (await wire.refusal(wire.event("w")))[0] == "UNAVAILABLE"
    assert (await wire.bundle("w"))["version"] == 1


async def test_a_hanging_publish_ends_with_the_callers_patience_and_stores_nothing(
    server: LabMaestro, wire: Wire
) -> None:
    server.faults.hang_publish()
    hanging = asyncio.create_task(wire.publish(wire.event("w")))
    await server.faults.have_occurred()
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging

    await wire.publish(wire.event("w"))


async def test_another_writer_comes_just_before_the_next_update(server: LabMaestro, wire: Wire) -> None:
    server.faults.conflict_before_publish()
    await wire.publish(wire.event("w"))

    _, details = await wire.refusal(wire.event("w", "update_request", version=1))
    assert details.endswith("the resource version is not the latest, the latest version: 2")
    await wire.publish(wire.event("w", "update_request", version=2))


@pytest.mark.parametrize(
    ("body", "content"),
    [(None, b""), ("busy", b"busy"), ({"reason": "busy"}, b'{"reason": "busy"}')],
    ids=["nothing", "text", "JSON"],
)
async def test_rest_fails_with_what_was_said(server: LabMaestro, wire: Wire, body: Any, content: bytes) -> None:
    server.faults.fail_rest(503, body, {"Retry-After": "3"})
    answer = await wire.http.get("/consumers")

    assert (answer.status_code, answer.content, answer.headers["Retry-After"]) == (503, content, "3")
    assert (await wire.http.get("/consumers")).status_code == 200


async def test_rest_hangs_until_the_caller_gives_up(server: LabMaestro, wire: Wire) -> None:
    server.faults.hang_rest()
    hanging = asyncio.create_task(wire.http.get("/consumers"))
    await server.faults.have_occurred()
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging

    assert (await wire.http.get("/consumers")).status_code == 200


async def test_rest_is_cut_without_an_answer(server: LabMaestro, wire: Wire) -> None:
    server.faults.cut_rest()
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
        await wire.http.get("/consumers")

    assert (await wire.http.get("/consumers")).status_code == 200


async def test_the_streams_of_sources_are_cut_and_those_of_agents_are_not(server: LabMaestro, wire: Wire) -> None:
    async with wire.source_stream() as source, wire.agent_stream() as agent:
        server.faults.cut_streams()

        assert await source.refusal() == ("UNAVAILABLE", "Socket closed")
        assert (await agent.raw()).type == HEARTBEAT_TYPE


async def test_heartbeats_can_be_muted_while_events_still_come(server: LabMaestro, wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    server.faults.mute_heartbeats()
    async with wire.source_stream() as source:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(SOON):
                await source.raw()
    async with wire.source_stream() as source:
        await wire.report(wire.status("w", condition("Applied")))
        assert (await source.raw()).type != HEARTBEAT_TYPE

        server.faults.mute_heartbeats(on=False)
        assert (await source.raw()).type == HEARTBEAT_TYPE


async def test_headers_can_be_withheld_until_the_first_event(server: LabMaestro, wire: Wire) -> None:
    server.faults.withhold_stream_headers()
    async with wire.source_stream() as source:
        assert (await source.raw()).type == HEARTBEAT_TYPE
        assert "subscription-id" not in await source.headers()


async def test_any_event_can_be_sent_on_every_stream_once(server: LabMaestro, wire: Wire) -> None:
    server.faults.mute_heartbeats()
    invalid = [CloudEvent(id=str(number), type="anything") for number in range(2)]
    async with wire.source_stream() as one, wire.source_stream() as two, wire.source_stream("another") as three:
        for event in invalid:
            server.faults.send_on_streams(event)

        for listener in (one, two, three):
            assert [await listener.raw(), await listener.raw()] == invalid


async def test_clearing_forgets_everything_that_has_not_happened(server: LabMaestro, wire: Wire) -> None:
    faults = server.faults
    faults.fail_publish(grpc.StatusCode.INTERNAL, "never")
    faults.hang_publish()
    faults.lose_publish_answer()
    faults.conflict_before_publish()
    faults.fail_rest(500)
    faults.hang_rest()
    faults.cut_rest()
    faults.mute_heartbeats()
    faults.withhold_stream_headers()

    faults.clear()

    await wire.publish(wire.event("w"))
    await wire.publish(wire.event("w", "update_request", version=1))
    assert (await wire.bundle("w"))["version"] == 2
    async with wire.source_stream() as source:
        assert "subscription-id" in await source.headers()
        assert (await source.raw()).type == HEARTBEAT_TYPE
