"""The REST side of Maestro: JSON requests, refusals as errors, tokens and CAs read again when they change."""

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from shared.errors import DeadlineExceeded, Misconfigured, ServerError
from shared.maestro import refusals
from shared.maestro.config.credentials import rest_context
from shared.maestro.config.settings import MaestroSettings
from shared.maestro.http.pool import HttpPool, HttpResponse
from shared.maestro.refusals import Names
from shared.network.credential_files import TokenFile, Watched
from shared.redaction import redact_text
from shared.untrusted_json import is_deeper_than

# Deeper than any manifest or status; whoever walks through it must not fail.
MAX_DEPTH = 200
SHOWN_BYTES = 120

log = logging.getLogger(__name__)


class Rest:
    """JSON in and out; each refusal is an error of `shared.errors`. Reads are tried again as the settings say."""

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
            where = f"{self._settings.http_server_address}: {cause}"
            raise refusals.unreachable(what, where, self._settings.rest_names) from error
        return _document(what, answer, self._settings.rest_names)

    async def close(self) -> None:
        await self._connections.close()

    async def _refresh(self) -> None:
        if not self._files.changed():
            return
        previous = self._connections
        try:
            self._connections = self._open()
        except Misconfigured as error:
            log.warning("keeping the previous CA: %s", error)
        else:
            await previous.close()

    def _open(self) -> HttpPool:
        settings = self._settings
        return HttpPool(settings.api_url, trust=rest_context(settings), timeout=settings.timeout)


def _document(what: str, answer: HttpResponse, names: Names) -> dict[str, Any]:
    if answer.status == HTTPStatus.NO_CONTENT:
        return {}
    try:
        document = json.loads(answer.content)
    except (ValueError, RecursionError):
        document = None
    if is_deeper_than(MAX_DEPTH, document):
        document = None
    shown = redact_text(answer.content[:SHOWN_BYTES].decode(errors="replace"))
    if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
        raise refusals.from_http(what, answer.status, document, answer.headers, text=shown, names=names)
    if not isinstance(document, dict):
        why = f"it is nested too deeply, or begins with {shown!r}"
        raise ServerError(f"{what}: the answer is not Maestro's JSON", why=why, remedy=f"check {names.address}")
    return document
