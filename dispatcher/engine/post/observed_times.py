"""The `observed_time` of statuses: when the reported state was observed, strictly increasing per object.

The API keeps the status with the latest time. So the time is that of the observation and not of the sending, or a slow
run would overwrite newer truth; and no two are the same, because of two equal ones the API silently keeps the first.

The clock of another replica may be ahead of ours, and its statuses would then win over later ones of this process. So a
time that lies ahead of our clock moves all that we send: the replicas agree on the clock that is furthest ahead.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

# A clock that is further ahead is wrong; its statuses are waited for, not followed.
MAX_AHEAD = timedelta(seconds=10)
_MAX_OBJECTS = 50_000
_TICK = timedelta(microseconds=1)

Key = tuple[str, str]
"""A status URL and the name of the adapter that reports there."""


@dataclass(frozen=True, slots=True)
class _Sent:
    observed: datetime
    at: datetime


class ObservedTimes:
    """What was sent, newest last; memory of objects not reported for long is given up first."""

    def __init__(self) -> None:
        self._sent: dict[Key, _Sent] = {}
        self._ahead = timedelta()

    def learn(self, reported: datetime, now: datetime) -> None:
        """A status of another replica, observed at `reported` by its clock, is known at `now` by ours."""
        ahead = reported - now
        if self._ahead < ahead <= MAX_AHEAD:
            self._ahead = ahead

    def moved(self, observed_at: datetime) -> datetime:
        """By the clock on which the replicas agree."""
        return observed_at + self._ahead

    def next(self, key: Key, observed_at: datetime, *, delivered: bool) -> datetime | None:
        """The time to send. None where a later observation than this delivered one was sent already."""
        last = self._sent.get(key)
        if last is None:
            return self.moved(observed_at)
        if delivered and observed_at < last.observed:
            return None
        return max(self.moved(observed_at), last.at + _TICK)

    def sent(self, key: Key, observed_at: datetime, at: datetime) -> None:
        self._sent.pop(key, None)
        self._sent[key] = _Sent(observed_at, at)
        if len(self._sent) > _MAX_OBJECTS:
            del self._sent[next(iter(self._sent))]
