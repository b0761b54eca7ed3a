"""The adapters that the control plane adapter waits for: they report every generation of every cluster as done.

Other teams build validation, DNS and pull secrets. `hold` keeps some of them from reporting.
"""

import asyncio
import contextlib
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Self

import aiohttp

from shared import times

ADAPTERS: Final = ("validation", "dns", "pullsecret")
_PAGE = 100
_INTERVAL = 0.5
_TIMEOUT = aiohttp.ClientTimeout(total=10)

# Adapter, cluster and generation.
Report = tuple[str, str, int]


class Dependencies:
    """Entered, they look at all clusters again and again. A report that the API did not take is sent again."""

    def __init__(self, api_url: str, adapters: tuple[str, ...] = ADAPTERS) -> None:
        self._url = f"{api_url}/api/hyperfleet/v1/clusters"
        self._adapters = adapters
        self._held: set[str] = set()
        self._reported: set[Report] = set()

    def hold(self, *adapters: str) -> None:
        self._held |= set(adapters)

    def release(self) -> None:
        self._held.clear()

    async def __aenter__(self) -> Self:
        self._http = aiohttp.ClientSession(timeout=_TIMEOUT)
        self._task = asyncio.create_task(self._run(), name="dependencies")
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        await self._http.close()

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                await self._look()
            await asyncio.sleep(_INTERVAL)

    async def _look(self) -> None:
        page = 1
        while True:
            parameters = {"size": str(_PAGE), "page": str(page)}
            async with self._http.get(self._url, params=parameters, raise_for_status=True) as answer:
                listed = await answer.json()
            for cluster in listed["items"]:
                await self._report(cluster)
            if page * _PAGE >= listed["total"]:
                return
            page += 1

    async def _report(self, cluster: dict[str, Any]) -> None:
        for adapter in self._adapters:
            report = (adapter, cluster["id"], cluster["generation"])
            if adapter in self._held or report in self._reported:
                continue
            url = f"{self._url}/{cluster['id']}/statuses"
            async with self._http.put(url, json=_status(adapter, cluster)) as answer:
                if answer.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                    self._reported.add(report)


def _status(adapter: str, cluster: dict[str, Any]) -> dict[str, Any]:
    deleting = bool(cluster.get("deleted_time"))
    holds = {"Applied": True, "Available": not deleting, "Health": True, "Finalized": deleting}
    return {
        "adapter": adapter,
        "observed_generation": cluster["generation"],
        "observed_time": times.to_micros(times.now()),
        "conditions": [
            {"type": type_, "status": str(value), "reason": "Simulated", "message": "by the lab"}
            for type_, value in holds.items()
        ],
        "data": {"pull_secret_name": "demo-pull-secret"} if adapter == "pullsecret" else {},
    }
