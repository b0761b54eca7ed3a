"""One object in the schedule: how its wakes coalesce, what its next run is, and how long it waits. Pure.

Wakes of the same object coalesce into at most two pending runs:

* *fresh* work, for a broker event, a timer or an awaited deletion: a run that reads everything anew. The event with the
  highest generation counts, and of equals the later one; a watched object may show a generation that is higher still.
  It only observes where nothing but such timers, or changes of objects that no run has seen, asked for it.
* *delivered* objects, which a watch saw change: a run that reports them and creates nothing. Where that fails they are
  kept for the next one; what is too old, or may not be kept beside those of other objects, is read again instead.

Where both are pending they run in turn, the delivered objects first, because the fresh run may replace them. A timer
that would only observe is dropped where the delivered objects were reported: it waited for that.
"""

from dataclasses import dataclass, replace

from dispatcher.engine.runs import Cause, Delivered, Event, ObjectKey, Requeue, RunRequest
from dispatcher.runtime.scheduling.pacing import Backoff, TokenBucket
from dispatcher.runtime.scheduling.wakes import Receipt, Wake, generation_of, newest, renewed

# The newest messages of an object stand for the older ones, which must not use up the prefetch of other objects.
MAX_HELD_MESSAGES = 4
# The API refuses a status that is older than 30 minutes: an object delivered so long ago is read again instead.
LONGEST_DELIVERY_SECONDS = 1500.0

_IMPORTANCE = {Cause.EVENT: 2, Cause.WATCH: 1, Cause.TIMER: 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A run to make now. `waited` is how long its oldest wake has waited."""

    key: ObjectKey
    request: RunRequest
    receipts: tuple[Receipt, ...]
    waited: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a run ended, as far as the schedule is concerned. `reported` where a status was sent."""

    failed: bool = False
    reported: bool = False
    requeue: Requeue | None = None


@dataclass(frozen=True, slots=True)
class _Delivery:
    """`failed` where a run with it has failed."""

    delivered: Delivered
    arrived: float
    failed: bool = False

    @property
    def identity(self) -> tuple[str, str]:
        return self.delivered.resource, str(self.delivered.object.get("metadata", {}).get("uid", ""))

    def replacing(self, older: "_Delivery | None") -> "_Delivery":
        """The newer state in its place; where the older one was not reported yet, it is the first."""
        if older is None or not older.delivered.is_first:
            return self
        return replace(self, delivered=replace(self.delivered, is_first=True))


class Entry:
    """`wanted` is when the pending work should start; `reason` says why that is later than now."""

    def __init__(self, key: ObjectKey, event: Event, bucket: TokenBucket) -> None:
        self.key = key
        self.bucket = bucket
        self.receipts: list[Receipt] = []
        self.running: Start | None = None
        self.since = 0.0
        self.wanted = 0.0
        self.reason = ""
        self.failures = 0
        self.background = False
        self.slowed = False
        self._event = event
        self._fresh: Cause | None = None
        self._observe_only = False
        self._deliveries: dict[tuple[str, str], _Delivery] = {}
        self._started: tuple[_Delivery, ...] = ()
        self._news_while_running = False
        self._attempts = 0
        self._backoff_until = 0.0
        self._generation_tried = 0

    @property
    def pending(self) -> bool:
        return self._fresh is not None or bool(self._deliveries)

    @property
    def deliveries(self) -> int:
        """How many delivered objects are kept for their first run."""
        return len(self._deliveries) - self.failed_deliveries

    @property
    def failed_deliveries(self) -> int:
        """How many are kept to be tried again."""
        return sum(each.failed for each in self._deliveries.values())

    def add(self, wake: Wake, now: float) -> list[Receipt]:
        """Coalesce a wake; the messages that newer ones stand for come back."""
        merge = newest if wake.cause is Cause.EVENT else renewed
        self._event = merge(self._event, wake.event)
        is_news = wake.cause is Cause.WATCH or generation_of(wake.event) > self._generation_tried
        self._news_while_running = self._news_while_running or is_news
        wanted = now if is_news else max(now, self._backoff_until)
        if not self.pending:
            self.since, self.wanted, self.background = now, wanted, wake.background
        elif wanted < self.wanted:
            self.wanted, self.reason = wanted, ""
        self.background = self.background and wake.background
        if wake.delivered is None:
            self._add_fresh(wake.cause, observe_only=wake.observe_only)
        else:
            arrived = _Delivery(wake.delivered, now)
            self._deliveries[arrived.identity] = arrived.replacing(self._deliveries.get(arrived.identity))
        return self._hold(wake.receipt)

    def start(self, now: float) -> Start:
        self.bucket.take(now)
        self.reason = ""
        self._news_while_running = False
        waited = now - self.since
        receipts: tuple[Receipt, ...] = ()
        if self._deliveries and not (self._started and self._fresh):
            request = self._start_delivered()
        else:
            receipts = tuple(self.receipts)
            request = self._start_fresh()
        self.running = Start(key=self.key, request=request, receipts=receipts, waited=waited)
        return self.running

    def end(self, ended: Ended, backoff: Backoff, now: float, *, keep: bool) -> None:
        """Back to waiting. A failed run is tried again, with what it was given where that may be kept.

        Only news does not wait for that.
        """
        observed_only = self.running is not None and self.running.request.observe_only
        self.running = None
        requeue = ended.requeue
        self.failures = self.failures + 1 if ended.failed else 0
        leaves_wait = requeue.after is None if requeue is not None else ended.failed
        self._attempts = self._attempts + 1 if leaves_wait else 0
        wait = backoff.wait(self._attempts) if leaves_wait else (requeue.after or 0.0 if requeue else 0.0)
        self._backoff_until = now + wait if ended.failed else 0.0
        if requeue is not None:
            self._event = requeue.renew(self._event)
        if ended.failed:
            self._defer(0.0 if self._news_while_running else wait, f"retry after {self.failures} failed run(s)", now)
            self._try_again(now, observe_only=observed_only, keep=keep)
            return
        if self._started and self._observe_only and self._fresh is Cause.TIMER and ended.reported:
            self._drop_fresh()
        if self.pending:
            self.wanted, self.reason = now, ""
        elif requeue is not None:
            self._defer(wait, requeue.reason, now)
        if requeue is not None:
            self._add_fresh(Cause.TIMER, observe_only=requeue.observe_only)

    def _start_delivered(self) -> RunRequest:
        self._started = tuple(self._deliveries.values())
        self._deliveries.clear()
        delivered = tuple(each.delivered for each in self._started)
        return RunRequest(event=self._event, cause=Cause.WATCH, delivered=delivered)

    def _start_fresh(self) -> RunRequest:
        assert self._fresh is not None
        request = RunRequest(event=self._event, cause=self._fresh, observe_only=self._observe_only)
        self._drop_fresh()
        self._started = ()
        self.receipts.clear()
        self._generation_tried = generation_of(self._event)
        return request

    def _defer(self, wait: float, reason: str, now: float) -> None:
        self.wanted = now + wait
        self.reason = reason if wait else ""
        if not self.pending:
            self.since = now

    def _hold(self, receipt: Receipt | None) -> list[Receipt]:
        if receipt is None:
            return []
        self.receipts.append(receipt)
        replaced = self.receipts[:-MAX_HELD_MESSAGES]
        del self.receipts[:-MAX_HELD_MESSAGES]
        return replaced

    def _add_fresh(self, cause: Cause, *, observe_only: bool = False) -> None:
        self._observe_only = observe_only and (self._fresh is None or self._observe_only)
        if self._fresh is None or _IMPORTANCE[cause] > _IMPORTANCE[self._fresh]:
            self._fresh = cause

    def _drop_fresh(self) -> None:
        self._fresh, self._observe_only = None, False

    def _try_again(self, now: float, *, observe_only: bool, keep: bool) -> None:
        if not self._started:
            self._add_fresh(Cause.TIMER, observe_only=observe_only)
        for each in self._started:
            newer = self._deliveries.get(each.identity)
            if newer is not None:
                self._deliveries[each.identity] = newer.replacing(each)
            elif keep and now - each.arrived <= LONGEST_DELIVERY_SECONDS:
                self._deliveries[each.identity] = replace(each, failed=True)
            else:
                self._add_fresh(Cause.TIMER, observe_only=True)
