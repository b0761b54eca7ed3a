"""A copy of all objects of one kind, kept up to date by a list and a watch that resumes where it broke."""

import asyncio
from collections.abc import Callable

import aiohttp

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object
from lab.kubernetes.jobs.client import Api, Expired

_RETRY_SECONDS = 0.1


class Informer:
    """Calls `changed` with each new or changed object, and `removed` with the last state of each that is gone."""

    def __init__(
        self, api: Api, path: str, *, changed: Callable[[Object], None], removed: Callable[[Object], None]
    ) -> None:
        self._api, self._path = api, path
        self._changed, self._removed = changed, removed
        self._objects: dict[str, Object] = {}

    async def run(self) -> None:
        while True:
            listed = await self._api.get(self._path)
            self._replace_all(listed["items"])
            try:
                await self._follow(listed["metadata"]["resourceVersion"])
            except Expired:
                continue

    async def _follow(self, since: str) -> None:
        while True:
            try:
                async for event in self._api.watch(self._path, since):
                    since = event["object"]["metadata"]["resourceVersion"]
                    self._handle(event["type"], event["object"])
            except (aiohttp.ClientError, OSError):
                await asyncio.sleep(_RETRY_SECONDS)

    def _replace_all(self, items: list[Object]) -> None:
        present = {documents.uid(each) for each in items}
        for uid in self._objects.keys() - present:
            self._removed(self._objects.pop(uid))
        for each in items:
            self._objects[documents.uid(each)] = each
            self._changed(each)

    def _handle(self, change: str, document: Object) -> None:
        if change in ("ADDED", "MODIFIED"):
            self._objects[documents.uid(document)] = document
            self._changed(document)
        elif change == "DELETED":
            self._objects.pop(documents.uid(document), None)
            self._removed(document)
