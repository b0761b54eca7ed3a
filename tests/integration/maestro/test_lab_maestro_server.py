"""Start, kill, restart and stop of the stand-in."""

import asyncio
import socket
from collections.abc import AsyncIterator

import grpc
import httpx
import pytest

from lab.maestro import LabMaestro
from tests.support.maestro import TIMEOUT, standin
from tests.support.maestro_wire import Wire, condition, connected


@pytest.fixture
async def server() -> AsyncIterator[LabMaestro]:
    async with LabMaestro(heartbeat_seconds=1.0) as running:
        yield running


@pytest.fixture
async def wire(server: LabMaestro) -> AsyncIterator[Wire]:
    async with connected(standin(server)) as wire:
        yield wire


def addresses_of(server: LabMaestro) -> tuple[str, str, str]:
    return server.rest_url, server.grpc_address, server.broker_address


async def test_a_crash_breaks_streams_refuses_callers_and_keeps_rows_and_ports(server: LabMaestro, wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    await wire.report(wire.status("w", condition("Applied")))
    before, addresses = await wire.bundle("w"), addresses_of(server)
    async with wire.source_stream() as source, wire.agent_stream() as agent:
        await server.kill()

        assert (await source.refusal())[0] == (await agent.refusal())[0] == "UNAVAILABLE"
    assert (await wire.refusal(wire.event("x")))[0] == "UNAVAILABLE"
    with pytest.raises(httpx.ConnectError):
        await wire.bundle("w")

    await server.start()
    await asyncio.gather(wire.sources.channel_ready(), wire.agents.channel_ready())

    assert addresses_of(server) == addresses
    assert await wire.bundle("w") == before
    async with wire.source_stream() as source:
        await wire.report(wire.status("w"))
        assert (await source.next()).text("resourceid") == wire.id_of("w")


async def test_what_is_posted_while_it_is_down_reaches_nobody(server: LabMaestro, wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    await server.kill()
    server.store.mark_deleting(wire.id_of("w"))
    await server.start()

    async with wire.agent_stream() as agent:
        await wire.publish(wire.event("later"))
        assert (await agent.next()).text("resourceid") == wire.id_of("later")


async def test_its_ports_are_given_to_nobody_else_while_it_is_down(server: LabMaestro) -> None:
    await server.kill()
    for address in addresses_of(server):
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", int(address.rpartition(":")[2])))


async def test_a_crash_does_not_wait_for_calls_that_hang(server: LabMaestro, wire: Wire) -> None:
    server.faults.hang_publish()
    server.faults.hang_rest()
    reading = asyncio.create_task(wire.http.get("/consumers"))
    publishing = asyncio.create_task(wire.refusal(wire.event("w")))
    await server.faults.have_occurred()

    async with asyncio.timeout(TIMEOUT):
        await server.kill()

    assert (await publishing)[0] == "UNAVAILABLE"
    with pytest.raises(httpx.TransportError):
        await reading


async def test_nothing_is_left_running_after_it(wire: Wire) -> None:
    before = asyncio.all_tasks()
    async with (
        LabMaestro() as server,
        httpx.AsyncClient(timeout=TIMEOUT) as http,
        grpc.aio.insecure_channel(server.grpc_address),
    ):
        await http.get(f"{server.rest_url}/api/maestro/v1/consumers")
        await server.kill()
        await server.kill()
        await server.start()

    if left := asyncio.all_tasks() - before:
        _, running = await asyncio.wait(left, timeout=TIMEOUT)
        assert running == set()


async def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"port {port} on 127.0.0.1 is not available"):
            await LabMaestro(broker_port=port).__aenter__()
