"""Requests to one API server over one aiohttp session: TLS, credentials, deadlines, and every failure as our error.

A request is sent once. Only credentials that the server does not accept are renewed and tried again, because they may
have been rotated a moment ago.
"""

import contextlib
import json
import logging
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode

import aiohttp
from yarl import URL

from shared.errors import DeadlineExceeded, Misconfigured, ServerError, Unavailable
from shared.kubernetes.credentials.access import Access, AccessSource
from shared.kubernetes.http.lines import Lines
from shared.kubernetes.http.rate_limit import RateLimit
from shared.kubernetes.http.refusals import refusal
from shared.kubernetes.http.sockets import keepalive_socket
from shared.kubernetes.objects import Object
from shared.network.connection_errors import cause_of
from shared.network.credential_files import Watched
from shared.network.proxies import proxy_for
from shared.network.session_sockets import SessionSockets
from shared.network.tls import verifying

CONNECT_SECONDS = 10.0
# Beyond its own end, which the server was asked to keep, a watch gets this long before it counts as dead.
STREAM_GRACE_SECONDS = 15.0
# An API server that has just started refuses what its rules allow, until it has read them.
SETTLING_SECONDS = 5.0
_SUCCESS = (HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED)

log = logging.getLogger(__name__)


class Http:
    """`connections` bounds the requests in flight; watches do not count."""

    def __init__(self, source: AccessSource, *, user_agent: str, connections: int, limit: RateLimit) -> None:
        self._source, self._limit = source, limit
        self._headers = {"User-Agent": user_agent, "Accept": "application/json", "Accept-Encoding": "identity"}
        self._connections = connections
        self._tls: tuple[Access, Watched, ssl.SSLContext] | None = None
        self._unsettled_until = 0.0

    async def __aenter__(self) -> Self:
        self._sockets = SessionSockets(keepalive_socket)
        self._calls = self._session(self._connections)
        self._streams = self._session(0)
        self._unsettled_until = time.monotonic() + SETTLING_SECONDS
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._calls.close()
        await self._streams.close()
        await self._sockets.close()

    @property
    def is_settled(self) -> bool:
        """False shortly after the server could not be reached: then its 403 may be a mistake."""
        return time.monotonic() >= self._unsettled_until

    async def access(self) -> Access:
        return await self._source.current()

    async def call(
        self,
        what: str,
        method: str,
        path: str,
        *,
        query: Mapping[str, str],
        body: Any = None,
        media_type: str = "application/json",
        timeout: float,
    ) -> Object:
        """The JSON object of a successful answer. `what` is for messages."""
        data = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        headers = self._headers if data is None else {**self._headers, "Content-Type": media_type}
        limit = aiohttp.ClientTimeout(total=timeout, sock_connect=CONNECT_SECONDS)
        access = await self._source.current()
        await self._limit.wait()
        for is_last in (False, True):
            with self._failures(what, timeout):
                async with self._calls.request(
                    method, _url(access, path, query), data=data, timeout=limit, **self._options(access, headers)
                ) as answer:
                    content = await answer.read()
            if answer.status in _SUCCESS:
                return _document(what, content)
            if answer.status != HTTPStatus.UNAUTHORIZED or is_last:
                break
            refused, access = access, await self._source.renew()
            if access == refused:
                break
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self._unsettled_until = time.monotonic() + SETTLING_SECONDS
        raise refusal(what, answer.status, content, answer.headers)

    @contextlib.asynccontextmanager
    async def stream(
        self, what: str, path: str, *, query: Mapping[str, str], seconds: float
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """The lines of an answer that the server ends after `seconds`; entered once the server has accepted it."""
        longest = seconds + STREAM_GRACE_SECONDS
        limit = aiohttp.ClientTimeout(total=longest, sock_connect=CONNECT_SECONDS)
        access = await self._source.current()
        options = self._options(access, self._headers)
        await self._limit.wait()
        with self._failures(what, longest):
            answer = await self._streams.get(_url(access, path, query), timeout=limit, **options)
        async with answer:
            if answer.status == HTTPStatus.UNAUTHORIZED:
                await self._source.renew()
            if answer.status != HTTPStatus.OK:
                with self._failures(what, longest):
                    content = await answer.read()
                raise refusal(what, answer.status, content, answer.headers)
            try:
                async with contextlib.aclosing(self._lines(what, answer, longest)) as lines:
                    yield lines
            finally:
                _hang_up(answer)

    async def _lines(self, what: str, answer: aiohttp.ClientResponse, longest: float) -> AsyncGenerator[bytes, None]:
        lines = Lines()
        with self._failures(what, longest):
            async for chunk in answer.content.iter_any():
                for line in lines.feed(chunk):
                    yield line

    def _session(self, connections: int) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(limit=connections, socket_factory=self._sockets.create)
        return aiohttp.ClientSession(connector=connector, auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar())

    def _options(self, access: Access, headers: Mapping[str, str]) -> dict[str, Any]:
        named = {**headers, "Authorization": access.authorization} if access.authorization else headers
        options: dict[str, Any] = {"headers": named, "proxy": access.proxy or proxy_for(access.server)}
        options["allow_redirects"] = False
        if access.server.startswith("https:"):
            options |= {"ssl": self._context(access), "server_hostname": access.server_name or None}
        return options

    def _context(self, access: Access) -> ssl.SSLContext:
        """Built anew when the credentials name other files, or a file changes."""
        if self._tls is not None:
            built_for, files, context = self._tls
            if _trust_of(built_for) == _trust_of(access) and not files.changed():
                return context
        files = Watched([access.ca_file, access.cert_file, access.key_file])
        try:
            context = _tls_context(access)
        except Misconfigured as error:
            if self._tls is None or _trust_of(self._tls[0]) != _trust_of(access):
                raise
            log.warning("keeping the previous certificates: %s", error)
            context = self._tls[2]
        self._tls = access, files, context
        return context

    @contextlib.contextmanager
    def _failures(self, what: str, timeout: float) -> Iterator[None]:
        try:
            yield
        except aiohttp.ConnectionTimeoutError as error:
            self._unsettled_until = time.monotonic() + SETTLING_SECONDS
            raise Unavailable(f"cannot {what}", why=f"no connection in {CONNECT_SECONDS:g} s") from error
        except TimeoutError as error:
            self._unsettled_until = time.monotonic() + SETTLING_SECONDS
            raise DeadlineExceeded(f"cannot {what}", why=f"no answer in {timeout:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            self._unsettled_until = time.monotonic() + SETTLING_SECONDS
            raise Unavailable(f"cannot {what}", why=cause_of(error)) from error


def _hang_up(answer: aiohttp.ClientResponse) -> None:
    """A watch that is left early does not wait for the server's consent, as the end of a TLS connection would."""
    if answer.connection is not None and answer.connection.transport is not None:
        answer.connection.transport.abort()


def _url(access: Access, path: str, query: Mapping[str, str]) -> URL:
    return URL(f"{access.server}{path}?{urlencode(query)}" if query else f"{access.server}{path}", encoded=True)


def _trust_of(access: Access) -> tuple[Path | None, Path | None, Path | None, bool]:
    return access.ca_file, access.cert_file, access.key_file, access.verify


def _tls_context(access: Access) -> ssl.SSLContext:
    try:
        context = verifying(access.ca_file)
        if not access.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if access.cert_file is not None:
            context.load_cert_chain(access.cert_file, access.key_file)
    except (OSError, ssl.SSLError) as error:
        named = ", ".join(str(file) for file in (access.ca_file, access.cert_file, access.key_file) if file)
        raise Misconfigured(f"the certificates {named} cannot be used", why=str(error)) from error
    return context


def _document(what: str, content: bytes) -> Object:
    try:
        document = json.loads(content)
    except ValueError as error:
        raise ServerError(f"cannot {what}", why=f"the answer is not JSON: {content[:100]!r}") from error
    if not isinstance(document, dict):
        raise ServerError(f"cannot {what}", why="the answer is not a JSON object")
    return document
