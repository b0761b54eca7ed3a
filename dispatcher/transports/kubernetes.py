"""Resources on a Kubernetes API server, by server-side apply.

A creation is an apply too, because the fields of an object that was POSTed never leave it: server-side apply counts
them as another writer's. It carries a version that no object has, so that it makes a missing object and is refused
where one exists. An update carries uid and version of what was observed, so that a decision made on an old state
becomes Conflict.

Transient failures are tried again within a budget. A write whose answer was lost may have worked: a refusal after it
is compared with what is there.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeVar

from dispatcher.engine.ports import Object, Query
from dispatcher.transports.comparing import is_applied_by, is_same
from shared.errors import (
    AlreadyExists,
    Conflict,
    Forbidden,
    NotFound,
    Transient,
    Unavailable,
    UnknownKind,
)
from shared.kubernetes import KubernetesClient, ObjectRef, Selection, equal_labels, select_one, uid_of, version_of
from shared.retry import RetryPolicy

T = TypeVar("T")

RETRY = RetryPolicy(budget=30.0, first_delay=0.2, max_delay=5.0)
ANY_NAMESPACE = "*"
_LONGEST_MANAGER = 128
# The first change of an etcd has a higher number, so no object ever has this version.
_NO_VERSION = "1"
# The deletion is looked at again this often, whatever the watch says.
_LOOK_AGAIN_SECONDS = 30.0
_PAUSE_SECONDS = 1.0


class KubernetesTransport:
    """`manager` is the field manager: the adapter's name. The port's `consumer` means nothing here."""

    def __init__(self, client: KubernetesClient, *, manager: str, retry: RetryPolicy = RETRY) -> None:
        self._client, self._manager, self._retry = client, manager[:_LONGEST_MANAGER], retry

    async def find(self, query: Query) -> list[Object]:
        """By name and by labels, in one namespace or, with "*", in all. Raises UnknownKind."""
        return await self._persist(f"find {query.kind} {query.name}".rstrip(), lambda: self._find(query))

    async def create(self, manifest: Object, *, consumer: str = "") -> Object:  # noqa: ARG002 - the port's
        if not manifest.get("metadata", {}).get("name"):
            # Each attempt would make another object, so there is only one.
            return await self._client.create(manifest, manager=self._manager)
        return await self._write(manifest, {"resourceVersion": _NO_VERSION})

    async def update(self, manifest: Object, observed: Object, *, consumer: str = "") -> Object:  # noqa: ARG002
        return await self._write(manifest, {"uid": uid_of(observed), "resourceVersion": version_of(observed)})

    async def delete(
        self,
        observed: Object,
        *,
        policy: Literal["Background", "Foreground", "Orphan"],
        consumer: str = "",  # noqa: ARG002
    ) -> Object | None:
        """Raises Conflict where another object has taken the observed one's place."""
        ref = ObjectRef.of(observed)
        with contextlib.suppress(NotFound):
            return await self._persist(
                f"delete {ref}", lambda: self._client.delete(ref, policy=policy, uid=uid_of(observed))
            )
        return None

    async def wait_gone(self, observed: Object, *, timeout: float, consumer: str = "") -> bool:  # noqa: ARG002
        ref = ObjectRef.of(observed)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                while not await self._is_gone(ref, uid_of(observed)):  # noqa: ASYNC110 - a pause after a failure
                    await asyncio.sleep(_PAUSE_SECONDS)
                return True
        return False

    async def differs(self, manifest: Object, observed: Object, *, consumer: str = "") -> bool:  # noqa: ARG002
        """By a dry run of server-side apply. Raises Conflict where the observed object is gone."""
        what = f"compare {ObjectRef.of(manifest)}"
        tried = await self._persist(what, lambda: self._apply(manifest, {"uid": uid_of(observed)}, dry_run=True))
        return not is_same(observed, tried, with_status="status" in manifest)

    async def _find(self, query: Query) -> list[Object]:
        kind = await self._client.kind(query.api_version, query.kind)
        namespace = "" if query.namespace == ANY_NAMESPACE else query.namespace
        named = {"api_version": query.api_version, "kind": query.kind, "namespace": namespace}
        if not query.name:
            return await self._client.list(Selection(**named, labels=equal_labels(query.labels)))
        if kind.namespaced and not namespace:
            return await self._client.list(Selection(**named, fields=f"metadata.name={query.name}"))
        try:
            return [await self._client.get(ObjectRef(**named, name=query.name))]
        except UnknownKind:
            raise
        except NotFound:
            return []

    async def _write(self, manifest: Object, identity: Mapping[str, str]) -> Object:
        ref, is_unanswered = ObjectRef.of(manifest), False

        async def once() -> Object:
            nonlocal is_unanswered
            try:
                return await self._apply(manifest, identity)
            except Transient:
                is_unanswered = True
                raise
            except Conflict as error:
                if is_unanswered and (stored := await self._own_write(manifest, identity.get("uid", ""))):
                    return stored
                if "uid" in identity:
                    raise
                raise AlreadyExists(f"{ref} exists already", why=error.why) from error

        return await self._persist(f"apply {ref}", once)

    async def _apply(self, manifest: Object, identity: Mapping[str, str], *, dry_run: bool = False) -> Object:
        carried = {**manifest, "metadata": {**manifest["metadata"], **identity}}
        return await self._client.apply(carried, manager=self._manager, dry_run=dry_run)

    async def _own_write(self, manifest: Object, uid: str) -> Object | None:
        """The stored object, where it is what a lost answer would have shown."""
        stored = await self._client.get(ObjectRef.of(manifest))
        if not is_applied_by(self._manager, stored) or (uid and uid != uid_of(stored)):
            return None
        tried = await self._apply(manifest, {"uid": uid_of(stored)}, dry_run=True)
        return stored if is_same(stored, tried, with_status="status" in manifest) else None

    async def _is_gone(self, ref: ObjectRef, uid: str) -> bool:
        """Looks once, then watches for a while; what fails meanwhile means that nothing is known yet."""
        try:
            current = await self._client.get(ref)
            if uid_of(current) != uid:
                return True
            async with self._client.stream(
                select_one(ref), since=version_of(current), seconds=_LOOK_AGAIN_SECONDS
            ) as changes:
                async for change in changes:
                    if change.change == "DELETED":
                        return True
        except NotFound:
            return True
        except (Transient, Forbidden):
            return False
        return False

    async def _persist(self, what: str, call: Callable[[], Awaitable[T]]) -> T:
        """Tries again what is transient. A server that has just started refuses what its rules allow."""

        async def once() -> T:
            try:
                return await call()
            except Forbidden as error:
                if self._client.is_settled:
                    raise
                raise Unavailable(error.what, why=error.why, remedy=error.remedy) from error

        return await self._retry.run(what, once)
