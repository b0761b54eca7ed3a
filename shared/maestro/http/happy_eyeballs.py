"""A TCP connection to whichever address of a host answers first (RFC 8305), and no socket left of the others.

asyncio has this as `happy_eyeballs_delay`, but loses a connected socket when it is cancelled in that moment. Here every
socket has an owner until the end: the caller gets one, the others are closed.
"""

import asyncio
import itertools
import socket
from collections.abc import Iterable, Iterator
from typing import Any

AddressInfo = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]
# Between two attempts; one that failed is followed at once.
NEXT_ADDRESS_SECONDS = 0.25


async def connect(host: str, port: int) -> socket.socket:
    """Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return await first_connected(list(interleaved(found)))


async def first_connected(addresses: Iterable[AddressInfo], *, delay: float = NEXT_ADDRESS_SECONDS) -> socket.socket:
    """Raises the error of the address that failed last."""
    attempts: dict[asyncio.Task[None], socket.socket] = {}
    remaining = iter(addresses)
    failure = OSError("the host has no address")
    try:
        while (address := next(remaining, None)) or attempts:
            if address:
                attempts |= _attempt(address)
            done, _ = await asyncio.wait(
                attempts, timeout=delay if address else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                error = task.exception()
                if error is None:
                    return attempts.pop(task)
                attempts.pop(task).close()
                failure = error if isinstance(error, OSError) else OSError(str(error))
        raise failure
    finally:
        await _abandon(attempts)


def interleaved(addresses: Iterable[AddressInfo]) -> Iterator[AddressInfo]:
    """The families by turns, in the resolver's order, because often a whole family is unreachable."""
    by_family: dict[int, list[AddressInfo]] = {}
    for each in addresses:
        by_family.setdefault(each[0], []).append(each)
    turns = itertools.zip_longest(*by_family.values())
    return (each for turn in turns for each in turn if each is not None)


def _attempt(address: AddressInfo) -> dict[asyncio.Task[None], socket.socket]:
    family, kind, protocol, _, target = address
    loop = asyncio.get_running_loop()
    connection = socket.socket(family, kind, protocol)
    connection.settimeout(0)
    return {loop.create_task(loop.sock_connect(connection, target)): connection}


async def _abandon(attempts: dict[asyncio.Task[None], socket.socket]) -> None:
    for task in attempts:
        task.cancel()
    try:
        await asyncio.gather(*attempts, return_exceptions=True)
    finally:
        for connection in attempts.values():
            connection.close()
