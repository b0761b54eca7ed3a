"""Who waits for which deletion. A deletion nobody waits for, such as that of a Job after its TTL, wakes nobody.

A deletion may be seen before the run that waits for it has said so; the latest deletions are remembered for that, each
for one run: a work that is made again has the same uid, and will be deleted again.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable

from dispatcher.engine.runs import AwaitedDeletion, Event, ObjectKey

MAX_REMEMBERED = 4096


class AwaitedDeletions:
    def __init__(self) -> None:
        self._waiting: dict[str, tuple[ObjectKey, Event, str]] = {}
        self._uids: dict[ObjectKey, tuple[str, ...]] = {}
        self._gone: OrderedDict[str, None] = OrderedDict()

    def expect(self, key: ObjectKey, event: Event, deletions: Iterable[AwaitedDeletion]) -> bool:
        """Replace what the object waits for; True if one of the deletions has already been seen."""
        for uid in self._uids.pop(key, ()):
            self._waiting.pop(uid, None)
        awaited = {each.uid: each.kind for each in deletions if each.uid}
        for uid, kind in awaited.items():
            self._waiting[uid] = key, event, kind
        if awaited:
            self._uids[key] = tuple(awaited)
        seen = [uid for uid in awaited if uid in self._gone]
        for uid in seen:
            del self._gone[uid]
        return bool(seen)

    def see(self, uid: str) -> tuple[ObjectKey, Event] | None:
        """An object is gone: who waited for it?"""
        waiting = self._waiting.pop(uid, None)
        if waiting is not None:
            return waiting[:2]
        self._gone[uid] = None
        self._gone.move_to_end(uid)
        if len(self._gone) > MAX_REMEMBERED:
            self._gone.popitem(last=False)
        return None

    def by_kind(self) -> Counter[str]:
        return Counter(kind for _, _, kind in self._waiting.values())
