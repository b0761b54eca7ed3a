"""Sockets that notice within a minute when the other side has gone without closing them, as a failing node does."""

import socket
from typing import Any

IDLE_SECONDS, INTERVAL_SECONDS, PROBES = 30, 10, 3
# Linux' own names; other systems keep their usual times.
_KEEPALIVE = {
    "TCP_KEEPIDLE": IDLE_SECONDS,
    "TCP_KEEPINTVL": INTERVAL_SECONDS,
    "TCP_KEEPCNT": PROBES,
    "TCP_USER_TIMEOUT": (IDLE_SECONDS + INTERVAL_SECONDS * PROBES) * 1000,
}


def keepalive_socket(address: tuple[Any, ...]) -> socket.socket:
    family, kind, protocol, *_ = address
    created = socket.socket(family, kind, protocol)
    created.settimeout(0)
    created.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    created.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            created.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return created
