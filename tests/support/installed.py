"""A client's view of the installed system: clusters are created, changed and deleted on the HyperFleet API, and only there."""

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.support.adapter import SPEC
from tests.support.hyperfleet_api import Api

# Generous, because the machine may be slow; nothing waits this long unless it is broken.
TIMEOUT = 600.0
POLL_SECONDS = 0.25
STUCK_SECONDS = 90.0
# What tests upgrade a cluster to.
NEW_VERSION = "4.22.1"
ADAPTER = "controlplane"
TTL_SECONDS = 5
# Sentinel announces a reconciled cluster again when its last report is as old as this. An upgrade, for one, may end after
# its Job has: then the next Job reports it.
SOON = pytest.mark.parametrize("stale", [timedelta(seconds=15)], ids=[""])

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Status:
    """What one adapter has reported of one cluster; empty before its first report."""

    document: Document

    @property
    def generation(self) -> int:
        return int(self.document.get("observed_generation", 0))

    @property
    def conditions(self) -> dict[str, Document]:
        return {each["type"]: each for each in self.document.get("conditions", ())}

    @property
    def data(self) -> Document:
        found: Document = self.document.get("data") or {}
        return found

    def says(self, type_: str, status: str, reason: str = "") -> bool:
        found = self.conditions.get(type_, {})
        return found.get("status") == status and (not reason or found.get("reason") == reason)

    def is_available(self, generation: int) -> bool:
        return self.generation == generation and self.says("Applied", "True") and self.says("Available", "True")

    @property
    def is_upgraded(self) -> bool:
        """The new version has reached the control plane and come back; Applied alone says only that it was sent."""
        return self.is_available(2) and self.data.get("version") == NEW_VERSION


@dataclass(frozen=True, slots=True)
class Clusters:
    api: Api

    async def create(self, **spec: Any) -> Document:
        name = f"c-{uuid.uuid4().hex[:12]}"
        return await self.api.create_cluster(name, spec={**SPEC, **spec}, labels={})

    async def change(self, cluster: Document, **spec: Any) -> Document:
        current = await self.api.reread(cluster)
        return await self.api.patch(cluster, spec={**current["spec"], **spec})

    async def delete_all(self) -> None:
        """Those that are there, without waiting for their end."""
        for cluster in (await self.api.get("/clusters", size=100))["items"]:
            if "deleted_time" not in cluster:
                await self.api.delete(cluster)

    async def status(self, cluster: Document, adapter: str = ADAPTER) -> Status:
        return Status((await self.api.statuses(cluster)).get(adapter, {}))

    async def until(
        self, cluster: Document, reached: Callable[[Status], bool], what: str, adapter: str = ADAPTER
    ) -> Status:
        """The status once something holds of it. An API that is away is asked again."""
        seen = Status({})
        try:
            async with asyncio.timeout(TIMEOUT):
                while True:
                    if (found := await self._status_if_any(cluster, adapter)) is not None:
                        seen = found
                        if reached(seen):
                            return seen
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            raise AssertionError(f"not seen: {what}; {adapter} reports {seen.document}") from None

    async def _status_if_any(self, cluster: Document, adapter: str) -> Status | None:
        """None while the API is away or fails."""
        try:
            return await self.status(cluster, adapter)
        except httpx.TransportError:
            return None
        except httpx.HTTPStatusError as error:
            if not error.response.is_server_error:
                raise
            return None

    @contextlib.asynccontextmanager
    async def sampled(self, cluster: Document, seen: list[Status]) -> AsyncIterator[None]:
        """Meanwhile, `seen` is filled with every status that could be read."""

        async def sample() -> None:
            while True:
                if (found := await self._status_if_any(cluster, ADAPTER)) is not None:
                    seen.append(found)
                await asyncio.sleep(POLL_SECONDS)

        task = asyncio.create_task(sample())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def until_available(self, cluster: Document, generation: int = 1) -> Status:
        return await self.until(cluster, lambda seen: seen.is_available(generation), f"generation {generation}")

    async def upgrade(self, cluster: Document) -> Document:
        return await self.change(cluster, openshift_version=NEW_VERSION)

    async def until_upgraded(self, cluster: Document) -> Status:
        return await self.until(cluster, lambda seen: seen.is_upgraded, NEW_VERSION)

    async def until_gone(self, cluster: Document, *, unstick: Callable[[], Awaitable[object]]) -> None:
        """Maestro's agent sometimes never confirms a deletion; `unstick` restarts it, as an operator would."""
        with contextlib.suppress(TimeoutError):
            return await self._gone(cluster, STUCK_SECONDS)
        await unstick()
        try:
            await self._gone(cluster, TIMEOUT)
        except TimeoutError:
            raise AssertionError(f"still there: {(await self.status(cluster)).document}") from None

    async def _gone(self, cluster: Document, within: float) -> None:
        async with asyncio.timeout(within):
            while True:
                with contextlib.suppress(httpx.TransportError):
                    if await self.api.is_gone(cluster):
                        return
                await asyncio.sleep(POLL_SECONDS)


@contextlib.asynccontextmanager
async def clusters_of(api_url: str) -> AsyncIterator[Clusters]:
    async with httpx.AsyncClient(base_url=api_url, timeout=120) as http:
        yield Clusters(Api(http))
