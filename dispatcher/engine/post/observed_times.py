"""The `observed_time` of statuses: when the reported state was observed, strictly increasing per object.

The API keeps the status with the latest time. So the time is that of the observation and not of the sending, or a slow
run would overwrite newer truth; and no two are the same, because of two equal ones the API silently keeps the first.
"""

from datetime import datetime, timedelta

_MAX_OBJECTS = 50_000
_TICK = timedelta(microseconds=1)

Key = tuple[str, str]
"""A status URL and the name of the adapter that reports there."""


class ObservedTimes:
    """What was sent, newest last; memory of objects not reported for long is given up first."""

    def __init__(self) -> None:
        self._sent: dict[Key, datetime] = {}

    def next(self, key: Key, observed_at: datetime, *, delivered: bool) -> datetime | None:
        """The time to send. None where a later observation than this delivered one was sent already."""
        last = self._sent.get(key)
        if last is None or observed_at > last:
            return observed_at
        if delivered and observed_at < last:
            return None
        return last + _TICK

    def sent(self, key: Key, at: datetime) -> None:
        self._sent.pop(key, None)
        self._sent[key] = at
        if len(self._sent) > _MAX_OBJECTS:
            del self._sent[next(iter(self._sent))]
