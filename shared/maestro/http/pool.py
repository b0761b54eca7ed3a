"""HTTP/1.1 to one server over connections that are kept: h11 speaks the protocol, asyncio carries the bytes.

A whole client library takes longer for a call than Maestro takes to answer it, and a third of a container's start;
`benchmarks/maestro.py` measures both. Little is needed here: one server, whole answers, no redirects and no cookies.
Nothing is asked for compressed, because Maestro would spend more on compressing an answer than on finding it.
"""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

import h11

from shared.maestro.http import happy_eyeballs
from shared.maestro.http.proxies import Proxy, proxy_for
from shared.network.session_sockets import SessionSockets

# Maestro answers no faster to more of them; who comes then waits for a connection.
_AT_ONCE = 8
# A server closes what is idle for long; a request on such a connection would be lost.
_IDLE_SECONDS = 5.0
_CHUNK_BYTES = 2**18


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """`headers` by their names in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class HttpPool:
    """`timeout` limits each wait: for a connection, for the answer, and for more of it.

    What goes wrong on the way is an OSError, and a TimeoutError only where the answer is what was waited for.
    """

    def __init__(self, url: str, *, trust: ssl.SSLContext, timeout: float) -> None:
        parts = urlsplit(url)
        self._trust = trust if parts.scheme == "https" else None
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if self._trust else 80)
        self._proxy = proxy_for(self._host) if self._trust else None
        self._path = quote(parts.path)
        _, _, authority = parts.netloc.rpartition("@")
        self._headers = (("Host", authority), ("Accept", "application/json"), ("Accept-Encoding", "identity"))
        self._timeout = timeout
        self._idle: list[_Connection] = []
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._closed = False
        self._abandoned = SessionSockets()

    async def exchange(self, method: str, target: str, headers: Mapping[str, str], body: bytes = b"") -> HttpResponse:
        """Ask once. `target` is a path below that of the URL, and its query."""
        if body:
            headers = {**headers, "Content-Type": "application/json", "Content-Length": str(len(body))}
        request = h11.Request(method=method, target=self._path + target, headers=[*self._headers, *headers.items()])
        async with self._connection() as connection:
            return await connection.exchange(request, body)

    async def close(self) -> None:
        """End the idle ones now, and the others after their exchange."""
        self._closed = True
        while self._idle:
            await self._idle.pop().close()
        await self._abandoned.close()

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncIterator["_Connection"]:
        async with asyncio.timeout(self._timeout):
            await self._places.acquire()
        try:
            connection = self._kept() or await self._opened()
            try:
                yield connection
            finally:
                self._keep(connection)
        finally:
            self._places.release()

    def _kept(self) -> "_Connection | None":
        """The one used last: those that are not needed grow old."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_fresh():
                return connection
            connection.abort()
        return None

    def _keep(self, connection: "_Connection") -> None:
        if connection.is_ready_for_more() and not self._closed:
            self._idle.append(connection)
        else:
            connection.abort()

    async def _opened(self) -> "_Connection":
        try:
            async with asyncio.timeout(self._timeout):
                return await (self._through(self._proxy) if self._proxy else self._direct())
        except TimeoutError as error:
            raise ConnectionError(f"no connection in {self._timeout:g} s") from error

    async def _direct(self) -> "_Connection":
        connected = await happy_eyeballs.connect(self._host, self._port)
        name = self._host if self._trust else None
        try:
            reader, writer = await asyncio.open_connection(
                sock=connected, ssl=self._trust, server_hostname=name, limit=_CHUNK_BYTES
            )
        except BaseException:
            self._abandoned.abandon(connected)
            raise
        return _Connection(reader, writer, self._timeout)

    async def _through(self, proxy: Proxy) -> "_Connection":
        assert self._trust is not None
        try:
            reader, writer = await asyncio.open_connection(proxy.host, proxy.port, limit=_CHUNK_BYTES)
        except OSError as error:
            raise ConnectionError(f"the proxy {proxy.address} cannot be reached: {error}") from error
        try:
            host = f"[{self._host}]" if ":" in self._host else self._host
            await proxy.tunnel(reader, writer, f"{host}:{self._port}")
            await writer.start_tls(self._trust, server_hostname=self._host)
        except BaseException:
            writer.transport.abort()
            raise
        return _Connection(reader, writer, self._timeout)


class _Connection:
    """One exchange after another, until one of them breaks it or either side asks to end it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, timeout: float) -> None:
        self._reader, self._writer, self._timeout = reader, writer, timeout
        self._protocol = h11.Connection(h11.CLIENT)
        self._clock = asyncio.get_running_loop().time
        self._used = self._clock()

    async def exchange(self, request: h11.Request, body: bytes) -> HttpResponse:
        parts = [request, h11.Data(data=body), h11.EndOfMessage()] if body else [request, h11.EndOfMessage()]
        try:
            async with asyncio.timeout(self._timeout) as deadline:
                self._writer.write(b"".join(self._protocol.send(part) or b"" for part in parts))
                await self._writer.drain()
                return await self._answer(lambda: deadline.reschedule(self._clock() + self._timeout))
        except h11.RemoteProtocolError as error:
            raise ConnectionError(str(error)) from error

    async def _answer(self, renew_timeout: Callable[[], None]) -> HttpResponse:
        head: h11.Response | None = None
        content = []
        while not isinstance(event := self._protocol.next_event(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                received = await self._reader.read(_CHUNK_BYTES)
                if not received and head is None:
                    raise ConnectionError("the connection was closed without an answer")
                self._protocol.receive_data(received)
                renew_timeout()
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                content.append(bytes(event.data))
        assert head is not None
        headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
        return HttpResponse(head.status_code, headers, b"".join(content))

    def is_ready_for_more(self) -> bool:
        """Whether the last exchange is complete and neither side ends the connection with it."""
        if self._protocol.our_state is not h11.DONE or self._protocol.their_state is not h11.DONE:
            return False
        self._protocol.start_next_cycle()
        self._used = self._clock()
        return True

    def is_fresh(self) -> bool:
        return not self._reader.at_eof() and self._clock() - self._used < _IDLE_SECONDS

    def abort(self) -> None:
        """Without TLS's goodbye, which would have to be waited for."""
        self._writer.transport.abort()

    async def close(self) -> None:
        self.abort()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()
