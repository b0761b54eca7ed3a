"""The lab's HTTP server leaves no connection open when it stops."""

import asyncio
import socket

import pytest
from aiohttp import web

from lab import http_server
from lab.loopback import HOST
from lab.real.servers.processes import free_port


@pytest.mark.parametrize("turns", range(8))
async def test_a_connection_is_closed_however_shortly_before_the_end_it_was_accepted(turns: int) -> None:
    port = free_port()
    runner = await http_server.serve(web.Application(), port)
    with socket.create_connection((HOST, port), timeout=5) as client:
        for _ in range(turns):
            await asyncio.sleep(0)
        await http_server.stop(runner)
        try:
            received = client.recv(1)
        except ConnectionResetError:
            received = b""
        assert received == b""
