"""An adapter that always succeeds. It stands for validation, DNS and pull secrets, which others build."""

import asyncio
import contextlib
import json
from collections.abc import Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

import aiohttp

from dispatcher.brokers.embedded import EmbeddedConnection, EmbeddedSettings, EmbeddedSubscription
from dispatcher.brokers.port import Message
from shared import times

_TIMEOUT = aiohttp.ClientTimeout(total=10)


class StubAdapter:
    """Reports every cluster it hears of as Available, or as Finalized where it is being deleted.

    `ready` may be cleared to let clusters wait for it.
    """

    def __init__(
        self, name: str, *, api_url: str, broker: str, topic: str, data: Mapping[str, Any] | None = None
    ) -> None:
        self.name = name
        self.ready = asyncio.Event()
        self.ready.set()
        self._url = f"{api_url}/api/hyperfleet/v1/clusters"
        self._data = dict(data or {})
        self._subscription = EmbeddedSubscription(
            EmbeddedSettings(address=broker, topic=topic, subscription=f"{topic}-{name}")
        )
        self._messages: asyncio.Queue[Message] = asyncio.Queue()
        self._connection: EmbeddedConnection | None = None

    async def __aenter__(self) -> Self:
        self._http = aiohttp.ClientSession(timeout=_TIMEOUT)
        self._connection = await self._subscription.connect(self._messages.put_nowait)
        self._task = asyncio.create_task(self._run(), name=f"adapter-{self.name}")
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        if self._connection is not None:
            await self._connection.close()
        await self._http.close()

    async def _run(self) -> None:
        while True:
            message = await self._messages.get()
            await self.ready.wait()
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                await self._report(json.loads(message.body)["data"]["id"])
            await message.ack()

    async def _report(self, cluster_id: str) -> None:
        async with self._http.get(f"{self._url}/{cluster_id}") as answer:
            if answer.status != HTTPStatus.OK:
                return
            cluster = await answer.json()
        deleting = "deleted_time" in cluster
        types = {"Applied": True, "Available": not deleting, "Health": True, "Finalized": deleting}
        status = {
            "adapter": self.name,
            "observed_generation": cluster["generation"],
            "observed_time": times.to_micros(times.now()),
            "conditions": [
                {"type": type_, "status": str(holds), "reason": "Stub", "message": "simulated by the lab"}
                for type_, holds in types.items()
            ],
            "data": self._data,
        }
        async with self._http.put(f"{self._url}/{cluster_id}/statuses", json=status):
            pass
