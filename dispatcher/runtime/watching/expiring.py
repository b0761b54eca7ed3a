"""What is to be made again once its TTL has removed it, also where nobody watched that.

A deletion is missed while the API server does not answer, or between two leaderships of this process. The next list
shows what is gone, but not how it was; so the answer of each object's rule is kept while the object lives.
"""

from collections.abc import Container

from dispatcher.engine.ports import Object
from dispatcher.runtime.scheduling.wakes import Wake
from dispatcher.runtime.watching.owners import Owners

# After a longer pause another replica has led: what became of these objects was its business.
LONGEST_PAUSE_SECONDS = 600.0


class Expiring:
    """By uid, for objects of one kind. It outlives the watch that fills it."""

    def __init__(self, owners: Owners) -> None:
        self._owners = owners
        self._wakes: dict[str, Wake] = {}
        self._paused_at: float | None = None

    def resume(self, now: float) -> None:
        if self._paused_at is not None and now - self._paused_at > LONGEST_PAUSE_SECONDS:
            self._wakes.clear()

    def pause(self, now: float) -> None:
        self._paused_at = now

    def see(self, uid: str, found: Object) -> None:
        if self._owners.has_repoll:
            self._keep(uid, self._owners.expired(found))

    def gone(self, uid: str, found: Object) -> Wake | None:
        """The wake for one that is gone. `found` is how it was at last, or its metadata alone."""
        if "status" in found:
            return self._forget(uid, self._owners.expired(found, is_last=True))
        return self._forget(uid, self._wakes.get(uid))

    def missed(self, present: Container[str]) -> list[Wake]:
        """The wakes for those that went while nobody watched."""
        gone = [uid for uid in self._wakes if uid not in present]
        return [self._wakes.pop(uid) for uid in gone]

    def _keep(self, uid: str, wake: Wake | None) -> None:
        if wake is None:
            self._wakes.pop(uid, None)
        else:
            self._wakes[uid] = wake

    def _forget(self, uid: str, wake: Wake | None) -> Wake | None:
        self._wakes.pop(uid, None)
        return wake
