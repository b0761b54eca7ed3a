"""HTTP on kept connections: what a server may answer, how it may fail, and the way through a proxy."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Self

import pytest

from lab.certificates import self_signed
from lab.loopback import ReservedPort
from shared.errors import Misconfigured
from shared.maestro.http import pool as module
from shared.maestro.http.pool import HttpPool
from shared.network.tls import verifying
from tests.support.connections import connections_closed

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
TIMEOUT = 240.0
IMPATIENT = 2.0
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

Handler = Callable[["Visit"], Awaitable[None]]


class Visit:
    """One connection that a client has opened."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def request(self) -> str:
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
        )
        return (head + await self._reader.readexactly(length)).decode()

    async def send(self, *parts: bytes) -> None:
        for part in parts:
            self._writer.write(part)
            await self._writer.drain()

    async def left(self) -> None:
        """Return when the client has gone."""
        with contextlib.suppress(ConnectionError):
            await self._reader.read()


class Server:
    """Answers as the test's handler does, and counts the connections."""

    def __init__(self, handler: Handler, trust: ssl.SSLContext | None = None) -> None:
        self._handler, self._trust = handler, trust
        self.opened = 0
        self.requests: list[str] = []
        self._serving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._trust)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for serving in self._serving:
            serving.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await connections_closed(self.port)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        self._serving.add(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._handler(Visit(reader, writer))
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


def answering(*answers: bytes, seen: list[str] | None = None) -> Handler:
    """On each connection these answers, one a request, and then the end of the connection."""

    async def handle(visit: Visit) -> None:
        for answer in answers:
            request = await visit.request()
            if seen is not None:
                seen.append(request)
            await visit.send(answer)

    return handle


@contextlib.asynccontextmanager
async def talking(handler: Handler, timeout: float = TIMEOUT) -> AsyncIterator[tuple[HttpPool, Server]]:
    async with Server(handler) as server:
        pool = HttpPool(f"http://127.0.0.1:{server.port}/api", trust=PLAIN, timeout=timeout)
        try:
            yield pool, server
        finally:
            await pool.close()


async def test_a_connection_serves_one_request_after_another() -> None:
    async with talking(answering(*[OK] * 5)) as (pool, server):
        for _ in range(5):
            assert (await pool.exchange("GET", "/works", {})).content == b"{}"
        assert server.opened == 1


async def test_a_request_carries_what_it_must_and_nothing_is_asked_for_compressed() -> None:
    seen: list[str] = []
    async with talking(answering(OK, seen=seen)) as (pool, server):
        await pool.exchange("POST", "/works?size=1", {"Authorization": "Bearer t"}, b'{"a": 1}')
    head, _, body = seen[0].partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    assert first == "POST /api/works?size=1 HTTP/1.1"
    assert body == '{"a": 1}'
    assert {line.lower() for line in lines} == {
        f"host: 127.0.0.1:{server.port}",
        "accept: application/json",
        "accept-encoding: identity",
        "authorization: bearer t",
        "content-type: application/json",
        "content-length: 8",
    }


@pytest.mark.parametrize(
    ("answer", "status", "content"),
    [
        pytest.param(OK, 200, b"{}", id="a length"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{  \r\n1\r\n}\r\n0\r\n\r\n",
            200,
            b"{  }",
            id="chunks",
        ),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n{}", 200, b"{}", id="to the end of the connection"),
        pytest.param(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", 200, b"{}", id="an old version"),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", 204, b"", id="nothing"),
        pytest.param(b"HTTP/1.1 103 Early Hints\r\n\r\n" + OK, 200, b"{}", id="a hint before"),
        pytest.param(b"HTTP/1.1 500 No\r\nContent-Length: 3\r\n\r\nbad", 500, b"bad", id="a refusal"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n" + bytes(2**23), 200, bytes(2**23), id="much"
        ),
    ],
)
async def test_an_answer_is_taken_whole_however_it_is_sent(answer: bytes, status: int, content: bytes) -> None:
    async with talking(answering(answer)) as (pool, _):
        got = await pool.exchange("GET", "/", {})
        assert (got.status, got.content) == (status, content)


async def test_who_we_are_is_no_part_of_the_host() -> None:
    seen: list[str] = []
    async with Server(answering(OK, seen=seen)) as server:
        pool = HttpPool(f"http://me:secret@127.0.0.1:{server.port}", trust=PLAIN, timeout=TIMEOUT)
        await pool.exchange("GET", "/", {})
        await pool.close()
    assert "secret" not in seen[0]


async def test_headers_are_known_by_their_names_in_lower_case() -> None:
    answer = b"HTTP/1.1 503 Busy\r\nRETRY-After: 7\r\nContent-Length: 0\r\n\r\n"
    async with talking(answering(answer)) as (pool, _):
        assert (await pool.exchange("GET", "/", {})).headers["retry-after"] == "7"


async def test_a_server_that_ends_its_connections_is_asked_on_new_ones() -> None:
    last = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"
    async with talking(answering(last)) as (pool, server):
        for _ in range(3):
            await pool.exchange("GET", "/", {})
        assert server.opened == 3


async def test_a_connection_that_was_closed_while_idle_is_not_used() -> None:
    async with talking(answering(OK)) as (pool, server):
        await pool.exchange("GET", "/", {})
        await asyncio.wait_for(pool._idle[0]._reader.read(), TIMEOUT)
        await pool.exchange("GET", "/", {})
        assert server.opened == 2


async def test_a_connection_that_was_idle_for_long_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with talking(answering(OK, OK)) as (pool, server):
        await pool.exchange("GET", "/", {})
        monkeypatch.setattr(module, "_IDLE_SECONDS", 0.0)
        await pool.exchange("GET", "/", {})
        assert server.opened == 2


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        pytest.param(b"", "closed without an answer", id="nothing"),
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "illegal status line", id="another protocol"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", "complete message body", id="a part"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{", "incomplete", id="a part of a chunk"
        ),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Len", "without", id="a part of the head"),
    ],
)
async def test_what_is_no_whole_answer_breaks_the_connection(answer: bytes, cause: str) -> None:
    async with talking(answering(answer)) as (pool, server):
        for attempt in (1, 2):
            with pytest.raises(ConnectionError, match=cause):
                await pool.exchange("GET", "/", {})
            assert server.opened == attempt


async def test_an_answer_that_does_not_come_is_not_waited_for_and_its_connection_is_left() -> None:
    left = asyncio.Event()

    async def silent(visit: Visit) -> None:
        await visit.request()
        await visit.left()
        left.set()

    async with talking(silent, timeout=IMPATIENT) as (pool, _):
        with pytest.raises(TimeoutError):
            await pool.exchange("GET", "/", {})
        await asyncio.wait_for(left.wait(), TIMEOUT)


async def test_an_answer_may_take_longer_in_all_as_long_as_it_goes_on() -> None:
    pieces = [b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", *[b"."] * 6]

    async def slow(visit: Visit) -> None:
        await visit.request()
        for piece in pieces:
            await visit.send(piece)
            await asyncio.sleep(1)  # the pause is what is tried

    async with talking(slow, timeout=6) as (pool, _):
        assert (await pool.exchange("GET", "/", {})).content == b"......"


async def test_no_server_is_a_connection_error() -> None:
    port = ReservedPort()
    with pytest.raises(OSError, match="Connect") as refused:
        await HttpPool(f"http://127.0.0.1:{port.number}", trust=PLAIN, timeout=TIMEOUT).exchange("GET", "/", {})
    port.release()
    assert not isinstance(refused.value, TimeoutError)


async def test_a_server_that_does_not_greet_is_distinguished_from_one_that_does_not_answer() -> None:
    async with Server(Visit.left) as server:
        pool = HttpPool(f"https://127.0.0.1:{server.port}", trust=PLAIN, timeout=IMPATIENT)
        with pytest.raises(ConnectionError, match="no connection in"):
            await pool.exchange("GET", "/", {})


async def test_only_so_many_connections_are_open_at_once_and_a_place_can_be_given_up() -> None:
    waiting = asyncio.Semaphore(0)
    go_on = asyncio.Event()

    async def held(visit: Visit) -> None:
        await visit.request()
        waiting.release()
        await go_on.wait()
        await visit.send(OK)
        await answering(*[OK] * 50)(visit)

    async with talking(held) as (pool, server), asyncio.TaskGroup() as group:
        tasks = [group.create_task(pool.exchange("GET", "/", {})) for _ in range(40)]
        for _ in range(module._AT_ONCE):
            await asyncio.wait_for(waiting.acquire(), TIMEOUT)
        assert server.opened == module._AT_ONCE
        tasks[0].cancel()
        await asyncio.wait_for(waiting.acquire(), TIMEOUT)
        go_on.set()
        answers = await asyncio.gather(*tasks[1:])
        assert {answer.status for answer in answers} == {200}
        assert server.opened == module._AT_ONCE + 1


async def test_waiting_for_a_place_ends_too() -> None:
    async def held(visit: Visit) -> None:
        await visit.request()
        await visit.left()

    async with talking(held, timeout=IMPATIENT) as (pool, _):
        calls = [pool.exchange("GET", "/", {}) for _ in range(3 * module._AT_ONCE)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {TimeoutError}


async def test_closing_lets_an_exchange_finish_and_then_ends_its_connection() -> None:
    arrived, go_on, left = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def held(visit: Visit) -> None:
        await visit.request()
        arrived.set()
        await go_on.wait()
        await visit.send(OK)
        await visit.left()
        left.set()

    async with talking(held) as (pool, _):
        exchange = asyncio.create_task(pool.exchange("GET", "/", {}))
        await asyncio.wait_for(arrived.wait(), TIMEOUT)
        await pool.close()
        go_on.set()
        assert (await exchange).status == 200
        await asyncio.wait_for(left.wait(), TIMEOUT)


class TestThroughAProxy:
    @pytest.fixture
    async def secure(self, tmp_path: Path) -> AsyncIterator[Server]:
        tls = self_signed(tmp_path)
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trust.load_cert_chain(tls.certificate, tls.key)
        async with Server(answering(OK, OK), trust) as server:
            yield server

    @pytest.fixture
    async def proxy(self) -> AsyncIterator[Server]:
        async def forward(visit: Visit) -> None:
            request = await visit.request()
            server.requests.append(request)
            target, port = request.split()[1].rsplit(":", 1)
            reader, writer = await asyncio.open_connection(target, int(port))
            await visit.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
            async with asyncio.TaskGroup() as group:
                group.create_task(_pour(visit._reader, writer))
                group.create_task(_pour(reader, visit._writer))

        async with Server(forward) as server:
            yield server

    async def ask(self, secure: Server, authority: Path) -> int:
        url = f"https://localhost:{secure.port}"
        pool = HttpPool(url, trust=verifying(authority), timeout=TIMEOUT)
        try:
            for _ in range(2):
                answer = await pool.exchange("GET", "/", {"Authorization": "Bearer secret"})
        finally:
            await pool.close()
        return answer.status

    async def test_the_environment_s_proxy_connects_us_and_learns_nothing(
        self, secure: Server, proxy: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:p%40ss@127.0.0.1:{proxy.port}")
        assert await self.ask(secure, tmp_path / "tls.crt") == 200
        (request,) = proxy.requests
        assert request.startswith(f"CONNECT localhost:{secure.port} HTTP/1.1\r\n")
        assert "Proxy-Authorization: Basic bWU6cEBzcw==" in request
        assert "secret" not in request

    async def test_what_the_environment_excepts_goes_straight(
        self, secure: Server, proxy: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("https_proxy", f"127.0.0.1:{proxy.port}")
        monkeypatch.setenv("no_proxy", "localhost,.svc")
        assert await self.ask(secure, tmp_path / "tls.crt") == 200
        assert proxy.opened == 0

    @pytest.mark.parametrize(
        ("answer", "cause"),
        [
            (
                b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n",
                "refused to connect to localhost:.*407 Who are you",
            ),
            (b"", "hung up"),
            (b"What?\r\n\r\n", "is no proxy"),
        ],
    )
    async def test_a_proxy_that_does_not_connect_us_is_named_without_its_password(
        self, answer: bytes, cause: str, secure: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async with Server(answering(answer)) as broken:
            monkeypatch.setenv("https_proxy", f"http://me:hidden@127.0.0.1:{broken.port}")
            with pytest.raises(ConnectionError, match=cause) as failed:
                await self.ask(secure, tmp_path / "tls.crt")
        assert f"127.0.0.1:{broken.port}" in str(failed.value)
        assert "hidden" not in str(failed.value)

    async def test_a_proxy_that_is_not_there_is_named(
        self, secure: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("https_proxy", "http://me:hidden@127.0.0.1:1")
        with pytest.raises(ConnectionError, match=r"the proxy 127\.0\.0\.1:1 cannot be reached"):
            await self.ask(secure, tmp_path / "tls.crt")

    @pytest.mark.parametrize(
        "text",
        [
            "http://me:hidden@proxy:notaport",
            "socks5://me:hidden@proxy",
            "http://me:hidden@pr\u00f6xy",
            "http://",
            "[::1",
        ],
    )
    async def test_a_variable_that_names_no_proxy_is_a_misconfiguration(
        self, secure: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
    ) -> None:
        monkeypatch.setenv("https_proxy", text)
        with pytest.raises(Misconfigured, match="https_proxy: must be a proxy") as refused:
            await self.ask(secure, tmp_path / "tls.crt")
        assert "hidden" not in str(refused.value)

    async def test_plain_http_takes_no_proxy(self, proxy: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
        async with talking(answering(OK)) as (pool, _):
            await pool.exchange("GET", "/", {})
        assert proxy.opened == 0


async def _pour(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while content := await source.read(2**16):
        target.write(content)
        await target.drain()
    target.close()
