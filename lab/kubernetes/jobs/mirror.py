"""What an API server holds of one kind, kept up to date: a list, then a watch that goes on wherever it broke."""

import asyncio
from collections.abc import Callable

import aiohttp

from lab.kubernetes import documents
from lab.kubernetes.documents import Object
from lab.kubernetes.jobs.client import Api, Expired

_AGAIN_SECONDS = 0.1


class Mirror:
    """`changed` is told each object that is new or changed, `removed` each that is gone, with its last state."""

    def __init__(
        self, api: Api, path: str, *, changed: Callable[[Object], None], removed: Callable[[Object], None]
    ) -> None:
        self._api, self._path = api, path
        self._changed, self._removed = changed, removed
        self._objects: dict[str, Object] = {}

    async def run(self) -> None:
        while True:
            listed = await self._api.get(self._path)
            self._take_over(listed["items"])
            try:
                await self._follow(listed["metadata"]["resourceVersion"])
            except Expired:
                continue

    async def _follow(self, since: str) -> None:
        while True:
            try:
                async for event in self._api.watch(self._path, since):
                    since = event["object"]["metadata"]["resourceVersion"]
                    self._take(event["type"], event["object"])
            except (aiohttp.ClientError, OSError):
                await asyncio.sleep(_AGAIN_SECONDS)

    def _take_over(self, items: list[Object]) -> None:
        present = {documents.uid(each) for each in items}
        for uid in self._objects.keys() - present:
            self._removed(self._objects.pop(uid))
        for each in items:
            self._objects[documents.uid(each)] = each
            self._changed(each)

    def _take(self, change: str, document: Object) -> None:
        if change in ("ADDED", "MODIFIED"):
            self._objects[documents.uid(document)] = document
            self._changed(document)
        elif change == "DELETED":
            self._objects.pop(documents.uid(document), None)
            self._removed(document)
