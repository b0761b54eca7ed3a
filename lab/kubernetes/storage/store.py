"""The stored objects, the revision of every change, and the history that watches resume from.

An object in the store is never changed in place; readers get the object itself and must copy it before they write.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import Kind

# A watch that is further behind has to list again.
HISTORY = 10_000


class Key(NamedTuple):
    """The identity of an object. All versions of a kind share their objects."""

    group: str
    plural: str
    namespace: str
    name: str

    @classmethod
    def of(cls, kind: Kind, namespace: str, name: str) -> "Key":
        return cls(kind.group, kind.plural, namespace if kind.namespaced else "", name)

    def within(self, kind: Kind, namespace: str) -> bool:
        """Whether it has this kind and namespace; an empty namespace means all."""
        return (self.group, self.plural) == (kind.group, kind.plural) and namespace in ("", self.namespace)


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one object: `before` is None if it was created, `after` if it was removed.

    `final` is the object in the watch event: its last state, with the revision of the removal if it was removed.
    """

    revision: int
    key: Key
    before: Object | None
    after: Object | None
    final: Object


class Store:
    """Objects by key, and their history. Listeners are called with each change."""

    def __init__(self) -> None:
        self.revision = 1
        self.oldest = 1
        # By group and plural: every request looks for bindings, however many Jobs and pods there are.
        self._objects: defaultdict[tuple[str, str], dict[Key, Object]] = defaultdict(dict)
        self._history: deque[Change] = deque()
        self._listeners: set[Callable[[Change], None]] = set()

    def get(self, key: Key) -> Object | None:
        return self._beside(key).get(key)

    def of_kind(self, kind: Kind, namespace: str = "") -> list[Object]:
        objects = self._objects[kind.group, kind.plural]
        return [objects[key] for key in sorted(objects) if key.within(kind, namespace)]

    def __iter__(self) -> Iterator[Key]:
        return iter(sorted(key for objects in self._objects.values() for key in objects))

    def put(self, key: Key, document: Object) -> Object:
        """Store a new object, or the next state of one. Returns it with its resourceVersion."""
        before = self.get(key)
        self.revision += 1
        stored = documents.with_metadata(document, resourceVersion=str(self.revision))
        self._beside(key)[key] = stored
        self._notify(Change(self.revision, key, before, stored, stored))
        return stored

    def remove(self, key: Key) -> Object:
        before = self._beside(key).pop(key)
        self.revision += 1
        final = documents.with_metadata(before, resourceVersion=str(self.revision))
        self._notify(Change(self.revision, key, before, None, final))
        return final

    def since(self, revision: int) -> Iterator[Change]:
        return (change for change in list(self._history) if change.revision > revision)

    def state_at(self, revision: int, kind: Kind, namespace: str) -> list[Object]:
        """The objects of a kind at an earlier revision, as far back as the history reaches."""
        objects = self._objects[kind.group, kind.plural]
        state = {key: found for key, found in objects.items() if key.within(kind, namespace)}
        for change in reversed(list(self.since(revision))):
            if not change.key.within(kind, namespace):
                continue
            if change.before is None:
                state.pop(change.key, None)
            else:
                state[change.key] = change.before
        return [found for _, found in sorted(state.items())]

    def forget_history(self) -> None:
        """Drop the history, as a compaction does: a watch from an earlier revision has to list again."""
        self._history.clear()
        self.revision += 1
        self.oldest = self.revision

    def listen(self, listener: Callable[[Change], None]) -> None:
        self._listeners.add(listener)

    def ignore(self, listener: Callable[[Change], None]) -> None:
        self._listeners.discard(listener)

    def _beside(self, key: Key) -> dict[Key, Object]:
        """The objects of its kind."""
        return self._objects[key.group, key.plural]

    def _notify(self, change: Change) -> None:
        self._history.append(change)
        if len(self._history) > HISTORY:
            self.oldest = self._history.popleft().revision
        for listener in list(self._listeners):
            listener(change)
