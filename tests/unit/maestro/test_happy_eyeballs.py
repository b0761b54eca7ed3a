"""Connecting to the first address that answers, on loopback; a listener whose queue is full does not answer."""

import contextlib
import socket
from collections.abc import Iterator

import pytest

from shared.maestro.http.happy_eyeballs import AddressInfo, first_connected, interleaved
from tests.support.connections import left_open

V4, V6 = socket.AF_INET, socket.AF_INET6


def tcp(port: int, family: socket.AddressFamily = V4, host: str = "127.0.0.1") -> AddressInfo:
    return family, socket.SOCK_STREAM, 0, "", (host, port)


@pytest.fixture
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def refusing() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.fixture
def silent() -> Iterator[int]:
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.settimeout(0)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()[1]


async def connected_port(*addresses: AddressInfo, delay: float = 0.01) -> int:
    with await first_connected(addresses, delay=delay) as connection:
        port: int = connection.getpeername()[1]
    return port


async def test_an_address_that_refuses_is_followed_by_the_next_at_once(refusing: int, listening: int) -> None:
    assert await connected_port(tcp(refusing), tcp(listening), delay=3600) == listening


async def test_an_address_that_does_not_answer_is_followed_by_the_next(silent: int, listening: int) -> None:
    assert await connected_port(tcp(silent), tcp(listening)) == listening


async def test_where_no_address_answers_the_last_error_is_raised(refusing: int) -> None:
    with pytest.raises(ConnectionRefusedError):
        await connected_port(tcp(refusing), tcp(refusing))


async def test_a_host_without_addresses_is_an_error() -> None:
    with pytest.raises(OSError, match="no address"):
        await first_connected([])


def test_no_socket_is_left_of_the_attempts_that_lost(silent: int, listening: int) -> None:
    async def run() -> None:
        await connected_port(tcp(silent), tcp(silent), tcp(listening))

    assert left_open(run) == []


def test_families_take_turns_in_the_resolvers_order() -> None:
    first, second, third = tcp(1, V6, "::1"), tcp(2, V6, "::1"), tcp(3)
    assert list(interleaved([first, second, third])) == [first, third, second]
