"""What a watcher knows, and which events follow from what comes in.

Pure: works go in, events come out. The stream may repeat, reorder and lose; a list shows everything that is there, but
not what was there in between. Works are ordered by incarnation, generation and the agent's sequence id, and what is
not newer than what is known causes no event.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from shared.model.conditions import Status
from shared.model.manifestwork import ManifestWork

# Enough to recognise late statuses of works that were just deleted, and bounded over years.
REMEMBERED_DELETIONS = 1024
_BEGINNING = datetime.min.replace(tzinfo=UTC)


class Change(StrEnum):
    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class WorkEvent:
    """`work` is the work as it now is; for DELETED, as it was last seen."""

    change: Change
    work: ManifestWork


Rank = tuple[datetime, int, bool, int]
Age = tuple[datetime, float]
_NOTHING: Age = (_BEGINNING, -1)


def rank(work: ManifestWork) -> Rank:
    """A later state of the same work has a higher rank."""
    return work.created_at or _BEGINNING, work.generation, work.deleting, work.status.sequence_id


def reports_deletion(work: ManifestWork) -> bool:
    """Whether the agent says that the work and its objects are gone."""
    condition = work.status.condition("Deleted")
    return condition is not None and condition.status is Status.TRUE


class Tracker:
    """The works one watcher knows. `selects` says which ones it asked for; one that is no longer selected is gone."""

    def __init__(self, selects: Callable[[ManifestWork], bool]) -> None:
        self._selects = selects
        self._known: dict[str, ManifestWork] = {}
        self._gone: OrderedDict[str, Age] = OrderedDict()

    def update(self, work: ManifestWork) -> Iterator[WorkEvent]:
        """The events that follow from one status of the stream."""
        known = self._known.get(work.uid)
        if reports_deletion(work):
            if known is not None and _age(work) >= _age(known):
                yield self._forget(work)
            else:
                self._remember_gone(work.uid, _age(work))
        elif known is not None or _age(work) > self._gone.get(work.uid, _NOTHING):
            yield from self._see(work)

    def replace(self, listed: Iterable[ManifestWork]) -> Iterator[WorkEvent]:
        """The events that follow from a complete list, which is later than every status so far."""
        present = {work.uid: work for work in listed}
        for uid, known in list(self._known.items()):
            # Within one incarnation the rank only grows: a lower one is a new incarnation.
            if uid not in present or rank(present[uid]) < rank(known):
                yield self._forget(known, for_good=True)
        for work in present.values():
            yield from self._see(work)

    def _see(self, work: ManifestWork) -> Iterator[WorkEvent]:
        known = self._known.get(work.uid)
        if known is not None and rank(work) <= rank(known):
            return
        if known is not None and _age(work)[0] > _age(known)[0]:
            yield self._forget(known, for_good=True)
            known = None
        if self._selects(work):
            self._known[work.uid] = work
            self._gone.pop(work.uid, None)
            yield WorkEvent(Change.ADDED if known is None else Change.MODIFIED, work)
        elif known is not None:
            yield self._forget(work)

    def _forget(self, work: ManifestWork, *, for_good: bool = False) -> WorkEvent:
        """`for_good`: this incarnation of the work is over, and any further status of it is late."""
        del self._known[work.uid]
        incarnation, sequence = _age(work)
        self._remember_gone(work.uid, (incarnation, math.inf if for_good else sequence))
        return WorkEvent(Change.DELETED, work)

    def _remember_gone(self, uid: str, age: Age) -> None:
        self._gone[uid] = max(age, self._gone.get(uid, _NOTHING))
        self._gone.move_to_end(uid)
        while len(self._gone) > REMEMBERED_DELETIONS:
            self._gone.popitem(last=False)


def _age(work: ManifestWork) -> Age:
    """The incarnation of the work, and the sequence number of the status."""
    return work.created_at or _BEGINNING, work.status.sequence_id
