"""The runner's API client, for the stand-in and for a real server. It repeats a request until the server answers."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol, Self

import aiohttp

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object
from lab.kubernetes.apply.patches import STRATEGIC_PATCH
from shared.network.session_sockets import SessionSockets

_RETRY_SECONDS = 0.1
_MISSING, _CONFLICT, _GONE = 404, 409, 410
_TOO_MANY, _SERVER_FAILED = 429, 500


class Missing(LookupError):
    """The object does not exist, or has changed or been replaced."""


class Refused(Exception):
    """The server rejects the request; a retry does not help."""


class Expired(Exception):
    """A watch cannot resume from its resourceVersion."""


class ApiServer(Protocol):
    """The address of an API server and its admin token."""

    @property
    def url(self) -> str: ...

    @property
    def admin_token(self) -> str: ...

    @property
    def ca_file(self) -> Path | None: ...


class Api:
    """Requests as the admin. Raises Missing, Refused and Expired; retries transient errors."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server

    async def __aenter__(self) -> Self:
        ca_file = self.server.ca_file
        trust = ssl.create_default_context(cafile=str(ca_file)) if ca_file else False
        self._sockets = SessionSockets()
        self._session = aiohttp.ClientSession(
            self.server.url,
            headers={"Authorization": f"Bearer {self.server.admin_token}", "User-Agent": "lab-job-runner"},
            connector=aiohttp.TCPConnector(ssl=trust, limit=0, socket_factory=self._sockets.create),
            timeout=aiohttp.ClientTimeout(total=None),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()
        await self._sockets.close()

    async def get(self, path: str) -> Object:
        return await self._request("GET", path)

    async def create(self, path: str, document: Object) -> Object:
        return await self._request("POST", path, document)

    async def patch_status(self, path: str, uid: str, status: Object) -> Object:
        body = {"metadata": {"uid": uid}, "status": status}
        return await self._request("PATCH", f"{path}/status", body, STRATEGIC_PATCH)

    async def delete(self, path: str, uid: str, *, grace_seconds: int | None = None) -> None:
        options: Object = {"propagationPolicy": "Background", "preconditions": {"uid": uid}}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        await self._request("DELETE", path, options)

    async def watch(self, path: str, since: str) -> AsyncIterator[Object]:
        """The events after a resourceVersion, until the server ends the watch."""
        query = {"watch": "true", "resourceVersion": since, "allowWatchBookmarks": "true"}
        async with self._session.get(path, params=query) as answer:
            if answer.status == _GONE:
                raise Expired
            answer.raise_for_status()
            async for line in answer.content:
                event: Object = json.loads(line)
                if event["type"] == "ERROR":
                    raise Expired
                yield event

    async def _request(self, method: str, path: str, body: Any = None, media_type: str = "application/json") -> Object:
        content = None if body is None else json.dumps(body)
        while True:
            try:
                headers = {"Content-Type": media_type}
                async with self._session.request(method, path, data=content, headers=headers) as answer:
                    document: Object = await answer.json(content_type=None)
                    status = answer.status
            except (aiohttp.ClientError, OSError, ValueError):
                status, document = _SERVER_FAILED, {}
            if status < 300:  # noqa: PLR2004 - HTTP's own border
                return document
            if status in (_MISSING, _CONFLICT) or _names_another(document):
                raise Missing(str(document.get("message")))
            if status != _TOO_MANY and status < _SERVER_FAILED:
                raise Refused(f"{method} {path}: {document.get('message')}")
            await asyncio.sleep(_RETRY_SECONDS)


def _names_another(document: Object) -> bool:
    causes = documents.at(document, "details", "causes") or ()
    return any(cause.get("field") == "metadata.uid" for cause in causes)
