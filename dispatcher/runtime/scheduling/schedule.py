"""Which object runs next. Pure: wakes, ends of runs and the time go in, starts and settled messages come out.

There is one entry per object (`entry`), and an object that runs is never started again before that run has ended.
Objects start in the order in which they became due, in two lanes: *urgent*, and *background* for wakes that only repeat
what was known. Every `BACKGROUND_TURN`th start belongs to the background, so neither lane starves the other.

What delays an object:

* its token bucket, when it wakes too often;
* its backoff, after a failed run. News (a changed object, a higher generation) does not wait for it;
* the wait that its last run asked for. Any wake ends that wait.

A message is acknowledged after the run that covers it. Where the run is deferred for longer than
`LONGEST_HOLD_SECONDS` the message is acknowledged at once, because brokers take unacknowledged messages back and the
prefetch must not fill with messages that wait.
"""

import heapq
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from dispatcher.engine.runs import Cause, Event, ObjectKey
from dispatcher.runtime.scheduling.entry import Ended, Entry, Start
from dispatcher.runtime.scheduling.pacing import Backoff, Rate, TokenBucket
from dispatcher.runtime.scheduling.wakes import Receipt, Wake, newest

LONGEST_HOLD_SECONDS = 30.0
BACKGROUND_TURN = 4
# Some 35 KB each. Watches do not wait for them; what fails beyond them is read again.
MAX_FAILED_DELIVERIES = 512
# An event is a few hundred bytes; this many of them cost some megabytes.
MAX_REMEMBERED_EVENTS = 20_000

Lane = OrderedDict[ObjectKey, Entry]


class Phase(StrEnum):
    RUNNING = "running"
    READY = "ready"
    WAITING = "waiting"
    IDLE = "idle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the schedule knows of one object. `seconds` is how long until it is due; `reason` why not earlier."""

    phase: Phase
    failures: int = 0
    seconds: float | None = None
    reason: str = ""
    slowed: bool = False


class Schedule:
    """`on_slowed` hears of every object whose token bucket has run empty, once per occasion."""

    def __init__(
        self,
        *,
        rate: Rate | None = None,
        backoff: Backoff | None = None,
        on_slowed: Callable[[ObjectKey], None] = lambda _: None,
    ) -> None:
        self._rate = rate or Rate()
        self._backoff = backoff or Backoff()
        self._on_slowed = on_slowed
        self._entries: dict[ObjectKey, Entry] = {}
        self._urgent: Lane = OrderedDict()
        self._background: Lane = OrderedDict()
        self._timers: list[tuple[float, int, Entry]] = []
        self._due: dict[ObjectKey, float] = {}
        self._sequence = itertools.count()
        self._urgent_starts = 0
        self.deliveries = 0
        """How many delivered objects are kept for their first run."""
        self.failed_deliveries = 0
        """How many are kept to be tried again."""
        self._events: OrderedDict[ObjectKey, Event] = OrderedDict()

    def wake(self, wake: Wake, now: float) -> list[Receipt]:
        """Ask for a run. What comes back is to be acknowledged now."""
        entry = self._entries.get(wake.key)
        if entry is None:
            event = self._events.get(wake.key, wake.event)
            entry = self._entries[wake.key] = Entry(wake.key, event, TokenBucket(self._rate, now))
        if wake.cause is Cause.EVENT:
            self._remember(wake.key, wake.event)
        with self._counting(entry):
            settled = entry.add(wake, now)
        return settled + self._place(entry, now)

    def start(self, now: float) -> Start | None:
        """The next run, if an object is due."""
        self._promote(now)
        lane = self._next_lane()
        if lane is None:
            return None
        _, entry = lane.popitem(last=False)
        with self._counting(entry):
            return entry.start(now)

    def end(self, key: ObjectKey, ended: Ended, now: float) -> list[Receipt]:
        """A run has ended. What comes back is to be acknowledged now, beside the messages of the run itself."""
        entry = self._entries[key]
        with self._counting(entry):
            entry.end(ended, self._backoff, now, keep=self.failed_deliveries < MAX_FAILED_DELIVERIES)
        return self._place(entry, now)

    def next_due(self) -> float | None:
        """When `start` should be called again, at the latest, where nothing else happens."""
        return self._timers[0][0] if self._timers else None

    def release(self) -> list[Receipt]:
        """Every message of runs that have not started, to be given back to the broker."""
        released = [receipt for entry in self._entries.values() for receipt in entry.receipts]
        for entry in self._entries.values():
            entry.receipts.clear()
        return released

    def depth(self) -> dict[Phase, int]:
        counts = dict.fromkeys(Phase, 0)
        for entry in self._entries.values():
            counts[self._phase(entry)] += 1
        return counts

    def oldest_wake(self, now: float) -> float:
        """Seconds that the longest waiting wake has been due without being started; deferred ones do not count."""
        ready = itertools.chain(self._urgent.values(), self._background.values())
        return max((now - max(entry.since, entry.wanted) for entry in ready), default=0.0)

    def slowed(self) -> Iterator[ObjectKey]:
        return (entry.key for entry in self._entries.values() if entry.slowed)

    def failures(self, key: ObjectKey) -> int:
        """How many runs in a row have failed."""
        entry = self._entries.get(key)
        return 0 if entry is None else entry.failures

    def standing(self, key: ObjectKey, now: float) -> Standing:
        entry = self._entries.get(key)
        if entry is None:
            return Standing(phase=Phase.IDLE)
        due = self._due.get(key)
        return Standing(
            phase=self._phase(entry),
            failures=entry.failures,
            seconds=None if due is None or not entry.pending else max(0.0, due - now),
            reason=entry.reason,
            slowed=entry.slowed,
        )

    def _phase(self, entry: Entry) -> Phase:
        if entry.running is not None:
            return Phase.RUNNING
        if entry.key in self._urgent or entry.key in self._background:
            return Phase.READY
        return Phase.WAITING if entry.pending else Phase.IDLE

    @contextmanager
    def _counting(self, entry: Entry) -> Iterator[None]:
        kept, failed = entry.deliveries, entry.failed_deliveries
        yield
        self.deliveries += entry.deliveries - kept
        self.failed_deliveries += entry.failed_deliveries - failed

    def _remember(self, key: ObjectKey, event: Event) -> None:
        known = self._events.pop(key, None)
        self._events[key] = event if known is None else newest(known, event)
        if len(self._events) > MAX_REMEMBERED_EVENTS:
            self._events.popitem(last=False)

    def _place(self, entry: Entry, now: float) -> list[Receipt]:
        """Put the entry where it belongs; the messages it would hold too long come back."""
        if entry.running is not None:
            return []
        if not entry.pending:
            self._set_timer(entry, entry.bucket.full_at(now))
            return []
        allowed = entry.bucket.available_at(now)
        due = max(entry.wanted, allowed)
        self._note_pace(entry, allowed, now)
        if due <= now:
            self._make_ready(entry)
            return []
        if entry.key not in self._urgent and entry.key not in self._background:
            self._set_timer(entry, due)
        if due - now <= LONGEST_HOLD_SECONDS:
            return []
        settled = list(entry.receipts)
        entry.receipts.clear()
        return settled

    def _note_pace(self, entry: Entry, allowed: float, now: float) -> None:
        if allowed > max(entry.wanted, now):
            if not entry.slowed:
                self._on_slowed(entry.key)
            entry.slowed = True
        elif entry.bucket.full_at(now) - now <= self._rate.burst * self._rate.interval / 2:
            entry.slowed = False  # only half a bucket ends it, or an object near the limit would come and go

    def _make_ready(self, entry: Entry) -> None:
        self._due.pop(entry.key, None)
        if entry.key in self._urgent:
            return
        if entry.background:
            self._background.setdefault(entry.key, entry)
        else:
            self._background.pop(entry.key, None)
            self._urgent[entry.key] = entry

    def _set_timer(self, entry: Entry, at: float) -> None:
        if self._due.get(entry.key) != at:
            self._due[entry.key] = at
            heapq.heappush(self._timers, (at, next(self._sequence), entry))

    def _promote(self, now: float) -> None:
        while self._timers and self._timers[0][0] <= now:
            at, _, entry = heapq.heappop(self._timers)
            if self._entries.get(entry.key) is not entry or self._due.get(entry.key) != at:
                continue  # a later decision replaced this timer
            del self._due[entry.key]
            if entry.pending:
                self._make_ready(entry)
            else:
                del self._entries[entry.key]

    def _next_lane(self) -> Lane | None:
        if self._background and (not self._urgent or self._urgent_starts >= BACKGROUND_TURN - 1):
            self._urgent_starts = 0
            return self._background
        if not self._urgent:
            return None
        self._urgent_starts += 1
        return self._urgent
