"""The REST side of Maestro: the only module that knows which HTTP library is used."""

import json
import logging
from collections.abc import Mapping
from typing import Any

import httpx

from shared.errors import DeadlineExceeded, Misconfigured, ServerError
from shared.maestro import refusals
from shared.maestro.credentials import TokenFile, Watched, rest_context
from shared.maestro.settings import MaestroSettings

log = logging.getLogger(__name__)

# Each request looks at every idle connection of the pool; more of them cost more than they bring (see benchmarks).
_CONNECTIONS = httpx.Limits(max_connections=8, max_keepalive_connections=8)


class Rest:
    """JSON in and out; each refusal is an error of the vocabulary. Reads are tried again as the settings say."""

    def __init__(self, settings: MaestroSettings) -> None:
        self._settings = settings
        self._files = Watched([settings.rest_ca_file])
        self._token = TokenFile(settings.http_token_file) if settings.http_token_file else None
        self._client = self._open()
        self._outdated: list[httpx.AsyncClient] = []

    async def get(self, what: str, path: str, parameters: Mapping[str, str] | None = None) -> dict[str, Any]:
        return await self._settings.retry.run(what, lambda: self.send(what, "GET", path, parameters=parameters))

    async def send(
        self,
        what: str,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """One request, once. The answer is empty where Maestro answers without a body."""
        self._refresh()
        headers = {"Authorization": self._token.header} if self._token else None
        try:
            async with self._client.stream(method, path, params=parameters, json=body, headers=headers) as answer:
                # Taken out of the response, which is part of a reference cycle and would keep a large body for long.
                content = b"".join([chunk async for chunk in answer.aiter_bytes()])
        except (httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout) as error:
            raise DeadlineExceeded(f"{what}: no answer in {self._settings.timeout:g} s") from error
        except httpx.TransportError as error:
            cause = str(error) or type(error).__name__
            raise refusals.unreachable(what, self._settings.http_server_address, cause) from error
        return _document(what, answer, content)

    async def close(self) -> None:
        for client in (self._client, *self._outdated):
            await client.aclose()

    def _refresh(self) -> None:
        if not self._files.changed():
            return
        try:
            fresh = self._open()
        except Misconfigured as error:
            log.warning("the former authority goes on to be used: %s", error)
            return
        self._outdated.append(self._client)
        self._client = fresh

    def _open(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=self._settings.api_url,
            timeout=self._settings.timeout,
            verify=rest_context(self._settings),
            limits=_CONNECTIONS,
        )


def _document(what: str, answer: httpx.Response, content: bytes) -> dict[str, Any]:
    if answer.status_code == httpx.codes.NO_CONTENT:
        return {}
    try:
        document = json.loads(content)
    except ValueError:
        document = None
    if answer.is_error or answer.has_redirect_location:
        raise refusals.from_http(what, answer.status_code, document, answer.headers)
    if not isinstance(document, dict):
        raise ServerError(
            f"{what}: the answer is not JSON",
            why=content[:200].decode(errors="replace"),
            remedy="check MAESTRO_API_URL",
        )
    return document
