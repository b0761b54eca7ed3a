"""What a watcher has been told of, and what is news to it.

Pure: works go in, events come out. The stream may repeat, reorder and lose; a list shows everything that is there, but
not what was there in between. Works are ordered by incarnation, generation and the agent's sequence id, and what is
not ahead of what is known is no news.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from shared.conditions import Status
from shared.manifestwork import ManifestWork

# Enough to recognise late words about works that went a moment ago, and bounded over years.
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
Word = tuple[datetime, float]
_NOTHING: Word = (_BEGINNING, -1)


def rank(work: ManifestWork) -> Rank:
    """Later truth about the same work has a higher rank."""
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
        self._gone: OrderedDict[str, Word] = OrderedDict()

    def update(self, work: ManifestWork) -> Iterator[WorkEvent]:
        """News in one word from the stream."""
        known = self._known.get(work.uid)
        if reports_deletion(work):
            if known is not None and _word(work) >= _word(known):
                yield self._forget(work)
            else:
                self._remember_gone(work.uid, _word(work))
        elif known is not None or _word(work) > self._gone.get(work.uid, _NOTHING):
            yield from self._see(work)

    def replace(self, listed: Iterable[ManifestWork]) -> Iterator[WorkEvent]:
        """News in a complete list, which is later than every word so far: what is not in it is gone."""
        present = {work.uid: work for work in listed}
        for uid, known in list(self._known.items()):
            # In one life nothing goes back: what is less than was known is a life that began since.
            if uid not in present or rank(present[uid]) < rank(known):
                yield self._forget(known, for_good=True)
        for work in present.values():
            yield from self._see(work)

    def _see(self, work: ManifestWork) -> Iterator[WorkEvent]:
        known = self._known.get(work.uid)
        if known is not None and rank(work) <= rank(known):
            return
        if known is not None and _word(work)[0] > _word(known)[0]:
            yield self._forget(known, for_good=True)
            known = None
        if self._selects(work):
            self._known[work.uid] = work
            self._gone.pop(work.uid, None)
            yield WorkEvent(Change.ADDED if known is None else Change.MODIFIED, work)
        elif known is not None:
            yield self._forget(work)

    def _forget(self, work: ManifestWork, *, for_good: bool = False) -> WorkEvent:
        """`for_good`: this life of the work is over, and what may still come of it is late."""
        del self._known[work.uid]
        life, sequence = _word(work)
        self._remember_gone(work.uid, (life, math.inf if for_good else sequence))
        return WorkEvent(Change.DELETED, work)

    def _remember_gone(self, uid: str, word: Word) -> None:
        self._gone[uid] = max(word, self._gone.get(uid, _NOTHING))
        self._gone.move_to_end(uid)
        while len(self._gone) > REMEMBERED_DELETIONS:
            self._gone.popitem(last=False)


def _word(work: ManifestWork) -> Word:
    """Which life of the work the agent spoke of, and which of its words this is."""
    return work.created_at or _BEGINNING, work.status.sequence_id
