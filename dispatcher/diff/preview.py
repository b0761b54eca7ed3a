"""What a run would write: kept beside what is stored, so that the rest of the run sees it.

An object that would be deleted is gone for the rest of the run, or on its way out where its server would keep it. The
server refuses an object in a namespace that would only be created before it, and one in the place of another that would
be deleted before it; both are taken as they are.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from dispatcher.engine.ports import Object, Query, Transport
from dispatcher.engine.resources.identity import Key, key_of, selects
from dispatcher.engine.resources.stamping import namespace_of
from shared.errors import NotFound


class Action(StrEnum):
    CREATE = "create"
    CHANGE = "change"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`before` is None for a creation, `after` for a deletion. `later` says when, where it is not the next run."""

    action: Action
    consumer: str
    before: Object | None
    after: Object | None
    later: str = ""

    @property
    def object(self) -> Object:
        found = self.after or self.before
        assert found is not None
        return found


class PreviewTransport:
    """`inner` reads live and answers writes with what would be stored. `changes` are in the order of the run."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self._written: dict[Key, Object | None] = {}
        self.changes: list[Change] = []

    async def find(self, query: Query) -> list[Object]:
        present = {key_of(each, query.consumer): each for each in await self._inner.find(query)}
        for key, written in self._written.items():
            if written is None:
                present.pop(key, None)
            elif key in present or selects(query, key, written):
                present[key] = written
        return list(present.values())

    async def create(self, manifest: Object, *, consumer: str = "") -> Object:
        key = key_of(manifest, consumer)
        stored = manifest
        if key not in self._written:
            try:
                stored = await self._inner.create(manifest, consumer=consumer)
            except NotFound:
                if ("", "", "Namespace", "", namespace_of(manifest)) not in self._written:
                    raise
        self._keep(key, stored)
        self.changes.append(Change(action=Action.CREATE, consumer=consumer, before=None, after=manifest))
        return stored

    async def update(self, manifest: Object, observed: Object, *, consumer: str = "") -> Object:
        stored = await self._inner.update(manifest, observed, consumer=consumer)
        self._keep(key_of(stored, consumer), stored)
        self.changes.append(Change(action=Action.CHANGE, consumer=consumer, before=observed, after=stored))
        return stored

    async def delete(
        self, observed: Object, *, policy: Literal["Background", "Foreground", "Orphan"], consumer: str = ""
    ) -> Object | None:
        left = await self._inner.delete(observed, policy=policy, consumer=consumer)
        self._keep(key_of(observed, consumer), left)
        self.changes.append(Change(action=Action.DELETE, consumer=consumer, before=observed, after=None))
        return left

    async def wait_gone(self, observed: Object, *, timeout: float, consumer: str = "") -> bool:  # noqa: ARG002 - the port's
        """Nothing was deleted, so nobody waits: it counts as gone in time."""
        self._keep(key_of(observed, consumer), None)
        return True

    async def differs(self, manifest: Object, observed: Object, *, consumer: str = "") -> bool:
        return await self._inner.differs(manifest, observed, consumer=consumer)

    def _keep(self, key: Key, written: Object | None) -> None:
        self._written[key] = written
