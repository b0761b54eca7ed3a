"""All resources of a type, page by page, as Sentinel reads them: it tries again while the API is away."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp

from shared.errors import Invalid, ServerError, Transient, Unavailable

_FIRST_WAIT, _LONGEST_WAIT, _RETRY_BUDGET = 0.5, 8.0, 30.0
_OK = 200
_WORTH_ANOTHER_TRY = frozenset({408, 429})
_SERVER_ERRORS = 500


class ResourceReader:
    def __init__(
        self,
        http: aiohttp.ClientSession,
        api_url: str,
        resource_type: str,
        *,
        page_size: int,
        selector: Mapping[str, str],
    ) -> None:
        self._http = http
        self._url = f"{api_url}/api/hyperfleet/v1/{resource_type}"
        self._parameters = {"size": str(page_size)}
        if selector:
            self._parameters["search"] = " and ".join(f"labels.{key}='{value}'" for key, value in selector.items())

    async def probe(self) -> None:
        """One question, to know at the start that somebody answers. Raises Unavailable."""
        await self._ask(1)

    async def all(self) -> AsyncIterator[dict[str, Any]]:
        """Every resource. Raises Transient where the API stays away, and Invalid where it refuses to answer."""
        page, seen, total = 1, 0, 1
        while seen < total:
            document = await self._retried(page)
            items, total = document["items"], document["total"]
            for resource in items:
                yield resource
            if not items:
                return
            page, seen = page + 1, seen + len(items)

    async def _retried(self, page: int) -> dict[str, Any]:
        wait, waited = _FIRST_WAIT, 0.0
        while True:
            try:
                return await self._ask(page)
            except Transient:
                if waited + wait > _RETRY_BUDGET:
                    raise
            await asyncio.sleep(wait)
            wait, waited = min(2 * wait, _LONGEST_WAIT), waited + wait

    async def _ask(self, page: int) -> dict[str, Any]:
        try:
            async with self._http.get(self._url, params={**self._parameters, "page": str(page)}) as answer:
                if answer.status == _OK:
                    document: dict[str, Any] = await answer.json()
                    return document
                text = await answer.text()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Unavailable(f"the HyperFleet API at {self._url} does not answer", why=str(error)) from error
        if answer.status >= _SERVER_ERRORS or answer.status in _WORTH_ANOTHER_TRY:
            raise ServerError(f"the HyperFleet API answers {answer.status}", why=text[:200])
        raise Invalid(f"the HyperFleet API refuses the list with {answer.status}", why=text[:200])
