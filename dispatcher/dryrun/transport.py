"""Resources in memory: what an API server, or Maestro, would keep of what the engine applies.

A discovery override completes the object of its name with what a server fills in. It is there from the start where it
carries a generation, for then somebody made it, or where the HyperFleet object is being deleted; otherwise it comes
into being when its manifest is applied. Deletions are done at once, but works of Maestro, Namespaces, objects with
finalizers, and those that are deleted in the foreground stay until the next event.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import NAMESPACE_OID, uuid5

from dispatcher.dryrun.merging import merged
from dispatcher.engine.ports import Object, Query
from dispatcher.engine.resources.identity import Key, key_of, selects
from dispatcher.engine.resources.stamping import generation_of, namespace_of, stamp
from shared import times
from shared.errors import AlreadyExists, Conflict, NotFound

_NAMESPACE = ("", "Namespace")
# What an API server itself writes at once, by group and kind; all else is the part of controllers.
_STATUSES: dict[tuple[str, ...], Object] = {
    _NAMESPACE: {"phase": "Active"},
    ("batch", "Job"): {},
    ("apps", "Deployment"): {},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TransportRecord:
    """`operation` is apply, get, discover or delete, as in the Go framework's trace."""

    operation: str
    kind: str
    namespace: str
    name: str
    result: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What both transports of a rehearsal share. `label` and `annotation` are the stamp of objects that were there."""

    label: str
    annotation: str
    now: Callable[[], datetime]
    is_deleting: Callable[[], bool]
    records: list[TransportRecord]


class InMemoryTransport:
    def __init__(self, world: World, overrides: Mapping[str, Object], *, asynchronous: bool) -> None:
        """`asynchronous` is Maestro, where a work stays until its agent has confirmed."""
        self._world = world
        self._overrides = {name: each for name, each in overrides.items() if _is_work(each) == asynchronous}
        self._asynchronous = asynchronous
        self._objects: dict[Key, Object] = {}
        self._versions = 0
        self._anticipated = {name for name, each in self._overrides.items() if not generation_of(each)}
        for name in sorted(self._overrides.keys() - self._anticipated):
            self._appear(name)

    async def find(self, query: Query) -> list[Object]:
        self._let_deleted_exist()
        self._record("get" if query.name else "discover", query.kind, query.namespace, query.name)
        self._adopt(query.consumer)
        return [found for key, found in self._objects.items() if selects(query, key, found)]

    async def create(self, manifest: Object, *, consumer: str = "") -> Object:
        key = key_of(manifest, consumer)
        if key in self._objects:
            raise AlreadyExists(f"{key[2]} {key[4]} exists already")
        self._anticipated.discard(key[4])
        stored = self._store(key, merged(self._populated(manifest, key), self._override(key)))
        self._record("apply", key[2], key[3], key[4], "create")
        return stored

    async def update(self, manifest: Object, observed: Object, *, consumer: str = "") -> Object:
        key = key_of(observed, consumer)
        existing = self._existing(key)
        if _version(existing) != _version(observed):
            raise Conflict(f"{key[2]} {key[4]} has changed")
        stored = self._store(key, merged(merged(existing, manifest), self._override(key)))
        self._record("apply", key[2], key[3], key[4], "update")
        return stored

    async def delete(
        self, observed: Object, *, policy: Literal["Background", "Foreground", "Orphan"], consumer: str = ""
    ) -> Object | None:
        key = key_of(observed, consumer)
        self._record("delete", key[2], key[3], key[4], policy.lower())
        existing = self._objects.pop(key, None)
        if existing is None or not (self._asynchronous or _is_held(key, existing, policy)):
            return None
        leaving: Object = {"metadata": {"deletionTimestamp": times.to_seconds(self._world.now())}}
        if key[1:3] == _NAMESPACE:
            leaving["status"] = {"phase": "Terminating"}
        return self._store(key, merged(existing, leaving))

    async def wait_gone(self, observed: Object, *, timeout: float, consumer: str = "") -> bool:  # noqa: ARG002 - the port's
        """Nothing happens while a rehearsal waits, but that dependents go."""
        key = key_of(observed, consumer)
        if key in self._objects and not self._asynchronous and not self._objects[key]["metadata"].get("finalizers"):
            del self._objects[key]
        return key not in self._objects

    async def differs(self, manifest: Object, observed: Object, *, consumer: str = "") -> bool:
        existing = self._existing(key_of(observed, consumer))
        return merged(existing, manifest) != existing

    def settle(self) -> None:
        """Between two events, what was on its way out is gone."""
        for key, found in list(self._objects.items()):
            if found["metadata"].get("deletionTimestamp"):
                del self._objects[key]

    def _let_deleted_exist(self) -> None:
        if self._anticipated and self._world.is_deleting():
            for name in sorted(self._anticipated):
                self._appear(name)
            self._anticipated.clear()

    def _appear(self, name: str) -> None:
        override = self._overrides[name]
        found = merged(override, {"metadata": {"name": name}})
        stamp(found, label=self._world.label, annotation=self._world.annotation)
        key = key_of(found, namespace_of(found) if self._asynchronous else "")
        self._store(key, self._populated(found, key))

    def _adopt(self, consumer: str) -> None:
        """A work whose override names no consumer belongs to the first that asks."""
        for key in [key for key in self._objects if self._asynchronous and not key[0]]:
            found = self._objects.pop(key)
            self._store((consumer, *key[1:3], consumer, key[4]), merged(found, {"metadata": {"namespace": consumer}}))

    def _override(self, key: Key) -> Object:
        """What a server fills in. Name and namespace are the manifest's; an object that was there is only a start."""
        override = self._overrides.get(key[4], {})
        if override.get("kind") != key[2] or generation_of(override):
            return {}
        metadata = override.get("metadata") or {}
        kept = {name: value for name, value in metadata.items() if name not in ("name", "namespace")}
        return {**override, "metadata": kept}

    def _populated(self, manifest: Object, key: Key) -> Object:
        """With what a server fills in, the same every time."""
        server = {
            "uid": str(uuid5(NAMESPACE_OID, "/".join(key))),
            "creationTimestamp": times.to_seconds(self._world.now()),
            **({"namespace": key[3]} if key[3] else {}),
        }
        status = _STATUSES.get(key[1:3])
        return merged({"metadata": server, **({} if status is None else {"status": status})}, manifest)

    def _store(self, key: Key, found: Object) -> Object:
        self._versions += 1
        version = self._override(key).get("metadata", {}).get("resourceVersion", str(self._versions))
        stored = deepcopy(merged(found, {"metadata": {"resourceVersion": version}}))
        self._objects[key] = stored
        return stored

    def _existing(self, key: Key) -> Object:
        if key not in self._objects:
            raise NotFound(f"{key[2]} {key[4]} is not there")
        return self._objects[key]

    def _record(self, operation: str, kind: str, namespace: str, name: str, result: str = "") -> None:
        self._world.records.append(
            TransportRecord(operation=operation, kind=kind, namespace=namespace, name=name, result=result)
        )


def _is_held(key: Key, found: Object, policy: str) -> bool:
    """Whether a deletion leaves the object there for a while: until its dependents or its contents are gone."""
    return bool(found["metadata"].get("finalizers")) or policy == "Foreground" or key[1:3] == _NAMESPACE


def _is_work(found: Object) -> bool:
    return found.get("kind") == "ManifestWork"


def _version(found: Object) -> object:
    return found["metadata"].get("resourceVersion")
