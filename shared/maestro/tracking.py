"""What a watcher has been told of, and what is news to it.

Pure: works go in, events come out. The stream may repeat, reorder and lose; a list shows everything that is there, but
not what was there in between. Works are ordered by incarnation, generation and the agent's sequence id, and what is
not ahead of what is known is no news.
"""

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
        self._gone: OrderedDict[str, Rank] = OrderedDict()

    def update(self, work: ManifestWork) -> Iterator[WorkEvent]:
        """News in one word from the stream."""
        known = self._known.get(work.uid)
        if reports_deletion(work):
            if known is not None and (work.created_at or _BEGINNING) >= (known.created_at or _BEGINNING):
                yield self._forget(work)
            self._remember_gone(work)
        elif known is not None or rank(work) > self._gone.get(work.uid, (_BEGINNING,)):
            yield from self._see(work)

    def replace(self, listed: Iterable[ManifestWork]) -> Iterator[WorkEvent]:
        """News in a complete list: what is not in it is gone."""
        present = {work.uid: work for work in listed}
        for uid in [uid for uid in self._known if uid not in present]:
            yield self._forget(self._known[uid])
        for work in present.values():
            known = self._known.get(work.uid)
            if known is not None and (work.created_at or _BEGINNING) > (known.created_at or _BEGINNING):
                yield self._forget(known)
            yield from self._see(work)

    def _see(self, work: ManifestWork) -> Iterator[WorkEvent]:
        known = self._known.get(work.uid)
        if not self._selects(work):
            if known is not None:
                yield self._forget(work)
        elif known is None:
            self._known[work.uid] = work
            yield WorkEvent(Change.ADDED, work)
        elif rank(work) > rank(known):
            self._known[work.uid] = work
            yield WorkEvent(Change.MODIFIED, work)

    def _forget(self, work: ManifestWork) -> WorkEvent:
        self._known.pop(work.uid, None)
        self._remember_gone(work)
        return WorkEvent(Change.DELETED, work)

    def _remember_gone(self, work: ManifestWork) -> None:
        self._gone[work.uid] = rank(work)
        self._gone.move_to_end(work.uid)
        while len(self._gone) > REMEMBERED_DELETIONS:
            self._gone.popitem(last=False)
