"""The sockets of one HTTP session, so that none of them outlives it.

After a cancellation asyncio and aiohttp end TLS politely: they wait for the server's own end and forget the connection,
so that closing the session does not close it. Under load that outlasts the event loop. Sockets that are known here are
shut down instead: the loop then sees their end at once, whatever the server does.
"""

import asyncio
import contextlib
import socket
import weakref
from collections.abc import Callable
from typing import Any

AddressInfo = tuple[Any, ...]
# A shut-down connection is closed after a few turns of the loop; no answer of the server is needed.
_TURNS = 50


def connect_socket(address: AddressInfo) -> socket.socket:
    family, kind, protocol, *_ = address
    connection = socket.socket(family, kind, protocol)
    connection.settimeout(0)
    return connection


class SessionSockets:
    """`create` is a session's socket factory, `abandon` takes a single socket; call `close` after the session's own."""

    def __init__(self, connect: Callable[[AddressInfo], socket.socket] = connect_socket) -> None:
        self._connect = connect
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()

    def create(self, address: AddressInfo) -> socket.socket:
        created = self._connect(address)
        self._sockets.add(created)
        return created

    def abandon(self, connected: socket.socket) -> None:
        """Shut a connection down that its transport would close politely."""
        self._sockets.add(connected)
        _shut_down(connected)

    async def close(self) -> None:
        for each in self._open():
            _shut_down(each)
        for _ in range(_TURNS):
            if not self._open():
                return
            await asyncio.sleep(0)

    def _open(self) -> list[socket.socket]:
        return [each for each in self._sockets if each.fileno() >= 0]


def _shut_down(connected: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)
