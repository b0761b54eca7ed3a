"""The memory of a TLS connection."""

import asyncio
import ssl
from asyncio.sslproto import SSLProtocol

import pytest

from dpu_bridge.operator import tls_buffers


async def test_a_connection_takes_a_small_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SSLProtocol, "max_size", SSLProtocol.max_size)
    tls_buffers.shrink()
    loop = asyncio.get_running_loop()
    context, waiter = ssl.create_default_context(), loop.create_future()
    connection = SSLProtocol(loop, asyncio.Protocol(), context, waiter, server_hostname="api")
    assert len(connection.get_buffer(-1)) == tls_buffers.READ_BUFFER_BYTES
    connection._app_transport.abort()
