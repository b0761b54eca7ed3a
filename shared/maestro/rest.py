"""The REST side of Maestro: documents asked for, refusals as errors, tokens and authorities renewed."""

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from shared.errors import DeadlineExceeded, Misconfigured, ServerError
from shared.maestro import refusals
from shared.maestro.connections import Answer, Connections
from shared.maestro.credentials import TokenFile, Watched, rest_context
from shared.maestro.settings import MaestroSettings

log = logging.getLogger(__name__)


class Rest:
    """JSON in and out; each refusal is an error of the vocabulary. Reads are tried again as the settings say."""

    def __init__(self, settings: MaestroSettings) -> None:
        self._settings = settings
        self._files = Watched([settings.rest_ca_file])
        self._token = TokenFile(settings.http_token_file) if settings.http_token_file else None
        self._connections = self._open()

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
        await self._refresh()
        target = f"{quote(path)}?{urlencode(parameters)}" if parameters else quote(path)
        headers = {"Authorization": self._token.header} if self._token else {}
        content = b"" if body is None else json.dumps(body).encode()
        try:
            answer = await self._connections.exchange(method, target, headers, content)
        except TimeoutError as error:
            raise DeadlineExceeded(f"{what}: no answer in {self._settings.timeout:g} s") from error
        except OSError as error:
            cause = str(error) or type(error).__name__
            raise refusals.unreachable(what, self._settings.http_server_address, cause) from error
        return _document(what, answer)

    async def close(self) -> None:
        await self._connections.close()

    async def _refresh(self) -> None:
        if not self._files.changed():
            return
        former = self._connections
        try:
            self._connections = self._open()
        except Misconfigured as error:
            log.warning("the former authority goes on to be used: %s", error)
        else:
            await former.close()

    def _open(self) -> Connections:
        settings = self._settings
        return Connections(settings.api_url, trust=rest_context(settings), timeout=settings.timeout)


def _document(what: str, answer: Answer) -> dict[str, Any]:
    if answer.status == HTTPStatus.NO_CONTENT:
        return {}
    try:
        document = json.loads(answer.content)
    except ValueError:
        document = None
    if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
        raise refusals.from_http(what, answer.status, document, answer.headers)
    if not isinstance(document, dict):
        raise ServerError(
            f"{what}: the answer is not JSON",
            why=answer.content[:200].decode(errors="replace"),
            remedy="check MAESTRO_API_URL",
        )
    return document
