"""Garbage collection: dependents are deleted with their owner, and a namespace when it is empty.

On a real cluster the controller manager does this. Here one background task does it after every relevant change.
"""

import asyncio
import contextlib
from typing import Self

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import NAMESPACE, Kind
from lab.kubernetes.api.paths import Target
from lab.kubernetes.api.refusals import Refusal
from lab.kubernetes.storage.resources import FOREGROUND, ORPHAN, DeleteOptions, Resources, WriteOptions
from lab.kubernetes.storage.store import Change, Key

_WRITER = WriteOptions(manager="kube-controller-manager")
_BACKGROUND, _FOREGROUND = DeleteOptions(policy="Background"), DeleteOptions(policy="Foreground")


class GarbageCollector:
    """Runs while the context manager is open."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._changes: asyncio.Queue[Change] = asyncio.Queue()

    async def __aenter__(self) -> Self:
        self._resources.store.listen(self._changes.put_nowait)
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._resources.store.ignore(self._changes.put_nowait)
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        while True:
            change = await self._changes.get()
            with contextlib.suppress(Refusal):
                self._follow(change)

    def _follow(self, change: Change) -> None:
        if change.after is None:
            self._after_removal(change.final)
        elif documents.deleting(change.after):
            self._while_deleting(change.key)
        elif change.before is None and documents.owners(change.after) and not self._existing_owners(change.after):
            self._delete(change.after, _BACKGROUND)

    def _after_removal(self, gone: Object) -> None:
        for dependent in self._dependents(documents.uid(gone)):
            self._release(dependent, documents.uid(gone))
        for reference in documents.owners(gone):
            for owner in self._with_uid(reference["uid"]):
                if documents.deleting(owner):
                    self._while_deleting(self._key(owner))
        self._empty_namespaces()

    def _release(self, dependent: Object, owner_uid: str) -> None:
        """Delete an object with its last owner; if it has others, only remove the reference."""
        if self._existing_owners(dependent):
            self._drop_reference(dependent, owner_uid)
        else:
            self._delete(dependent, _BACKGROUND)

    def _while_deleting(self, key: Key) -> None:
        owner = self._resources.store.get(key)
        if owner is None or not documents.deleting(owner):
            return
        if (key.group, key.plural) == (NAMESPACE.group, NAMESPACE.plural):
            self._empty_namespaces()
        dependents = self._dependents(documents.uid(owner))
        if ORPHAN in documents.finalizers(owner):
            for each in dependents:
                self._drop_reference(each, documents.uid(owner))
            self._drop_finalizer(owner, ORPHAN)
        elif FOREGROUND in documents.finalizers(owner):
            for each in dependents:
                if not documents.deleting(each):
                    self._delete(each, _FOREGROUND)
            if not self._dependents(documents.uid(owner)):
                self._drop_finalizer(owner, FOREGROUND)

    def _empty_namespaces(self) -> None:
        for namespace in self._resources.store.of_kind(NAMESPACE):
            if not documents.deleting(namespace):
                continue
            name = documents.name(namespace)
            for each in self._all():
                if documents.namespace(each) == name and not documents.deleting(each):
                    self._delete(each, _BACKGROUND)
            if not any(documents.namespace(each) == name for each in self._all()):
                self._resources.finalize_namespace(name)

    def _drop_reference(self, dependent: Object, owner_uid: str) -> None:
        left = [each for each in documents.owners(dependent) if each["uid"] != owner_uid]
        self._rewrite(documents.with_metadata(dependent, ownerReferences=left or None))

    def _drop_finalizer(self, owner: Object, finalizer: str) -> None:
        left = [each for each in documents.finalizers(owner) if each != finalizer]
        self._rewrite(documents.with_metadata(owner, finalizers=left or None))

    def _rewrite(self, document: Object) -> None:
        self._resources.update(self._target(document), document, _WRITER)

    def _delete(self, document: Object, options: DeleteOptions) -> None:
        with contextlib.suppress(Refusal):
            self._resources.delete(self._target(document), options)

    def _existing_owners(self, dependent: Object) -> list[Object]:
        return [owner for each in documents.owners(dependent) for owner in self._with_uid(each["uid"])]

    def _dependents(self, uid: str) -> list[Object]:
        return [each for each in self._all() if any(owner["uid"] == uid for owner in documents.owners(each))]

    def _with_uid(self, uid: str) -> list[Object]:
        return [each for each in self._all() if documents.uid(each) == uid]

    def _all(self) -> list[Object]:
        store = self._resources.store
        return [found for key in store if (found := store.get(key))]

    def _kind(self, document: Object) -> Kind:
        kind = self._resources.kinds.of_document(document)
        assert kind is not None
        return kind

    def _target(self, document: Object) -> Target:
        return Target(kind=self._kind(document), namespace=documents.namespace(document), name=documents.name(document))

    def _key(self, document: Object) -> Key:
        return Key.of(self._kind(document), documents.namespace(document), documents.name(document))
