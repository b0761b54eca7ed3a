"""Calls of the HyperFleet API over one aiohttp session, tried again as the call or the settings say.

Tried again are network errors, no answer in time, and the statuses 5xx, 408 and 429. Every other answer is handed to
the caller as it is. Our token and our default headers go to the API's own host and to no other.
"""

import asyncio
import itertools
import logging
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Self

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from dispatcher.api import backoff, urls
from dispatcher.api.settings import DEFAULT_ATTEMPTS, ApiSettings
from dispatcher.api.token import ApiToken
from dispatcher.engine.ports import ApiRequest, ApiResponse
from shared.errors import DeadlineExceeded, Invalid, Transient, Unavailable
from shared.network.connection_errors import cause_of
from shared.network.credential_files import Watched
from shared.network.proxies import proxy_for
from shared.network.session_sockets import SessionSockets
from shared.network.tls import system_authorities, verifying

_RETRIED = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: bytes
    retry_after: float | None

    @property
    def is_final(self) -> bool:
        return self.status < HTTPStatus.INTERNAL_SERVER_ERROR and self.status not in _RETRIED


class ApiClient:
    """`trace_headers` gives the W3C context of the present span; a call's own headers win over it."""

    def __init__(self, settings: ApiSettings, *, trace_headers: Callable[[], Mapping[str, str]] = dict) -> None:
        self._settings = settings
        self._trace_headers = trace_headers
        self._token = (
            ApiToken(settings.token_path, ttl=settings.token_cache_ttl) if settings.token_path is not None else None
        )

    async def __aenter__(self) -> Self:
        self._tls: ssl.SSLContext | None = None
        self._authorities = Watched(system_authorities())
        self._sockets = SessionSockets()
        connector = aiohttp.TCPConnector(socket_factory=self._sockets.create)
        self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        await self._sockets.close()

    async def send(self, request: ApiRequest) -> ApiResponse:
        """The last answer. Raises Unavailable or DeadlineExceeded where none came, Invalid for what cannot be sent."""
        settings = self._settings
        url = urls.resolve(request.url, base_url=settings.base_url, version=settings.version)
        attempts = request.retry_attempts or settings.retry_attempts
        attempts = attempts if attempts > 0 else DEFAULT_ATTEMPTS
        for attempt in itertools.count(1):
            try:
                answer = await self._attempt(request, url)
                if answer.is_final or attempt >= attempts:
                    return ApiResponse(status=answer.status, body=answer.body, url=str(url), attempts=attempt)
                why, least = f"it answered {answer.status}", answer.retry_after
            except Transient as error:
                if attempt >= attempts:
                    raise
                why, least = str(error), error.retry_after
            growth = request.retry_backoff or settings.retry_backoff
            wait = backoff.delay(growth, attempt, base=settings.base_delay, longest=settings.max_delay, least=least)
            log.warning("%s %s failed, trying again in %.1f s: %s", request.method, url, wait, why)
            await asyncio.sleep(wait)
        raise AssertionError("the attempts have no end of their own")

    async def _attempt(self, request: ApiRequest, url: URL) -> _Answer:
        """A token that was renewed meanwhile is tried at once."""
        timeout = request.timeout or self._settings.timeout
        what = f"cannot {request.method} {url}"
        headers = self._headers(request, url)
        try:
            answer = await self._once(request, url, headers, timeout)
            if answer.status == HTTPStatus.UNAUTHORIZED and self._has_newer_token(url, headers):
                answer = await self._once(request, url, self._headers(request, url), timeout)
        except TimeoutError as error:
            raise DeadlineExceeded(what, why=f"no answer in {timeout:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            if isinstance(error, aiohttp.InvalidURL):
                raise Invalid(what, why=str(error)) from error
            raise Unavailable(what, why=cause_of(error)) from error
        except ValueError as error:
            raise Invalid(what, why=str(error)) from error
        return answer

    async def _once(self, request: ApiRequest, url: URL, headers: Mapping[str, str], timeout: float) -> _Answer:
        async with self._session.request(
            request.method,
            url,
            data=None if request.body is None else request.body.encode(),
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=timeout),
            ssl=self._trust(url),
            proxy=proxy_for(str(url.origin())),
        ) as answer:
            return _Answer(answer.status, await answer.read(), _seconds(answer.headers.get("Retry-After")))

    def _headers(self, request: ApiRequest, url: URL) -> CIMultiDict[str]:
        is_ours = urls.is_same_server(url, self._settings.base_url)
        headers = CIMultiDict({"User-Agent": self._settings.user_agent, "Accept-Encoding": "identity"})
        if is_ours:
            headers.update(self._settings.default_headers)
        headers.update(self._trace_headers())
        headers.update(request.headers)
        if request.body is not None:
            headers.setdefault("Content-Type", "application/json")
        if is_ours and self._token is not None:
            headers["Authorization"] = self._token.header()
        return headers

    def _has_newer_token(self, url: URL, sent: Mapping[str, str]) -> bool:
        if self._token is None or not urls.is_same_server(url, self._settings.base_url):
            return False
        return self._token.reload() != sent["Authorization"]

    def _trust(self, url: URL) -> ssl.SSLContext | bool:
        if url.scheme != "https":
            return True
        if self._authorities.changed() or self._tls is None:
            self._tls = verifying(None)
        return self._tls


def _seconds(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None
