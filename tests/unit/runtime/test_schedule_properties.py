"""What holds for the schedule whatever happens in whatever order."""

import os
from collections import defaultdict
from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dispatcher.engine.runs import Cause, Requeue
from dispatcher.runtime.scheduling.entry import Ended, Start
from dispatcher.runtime.scheduling.pacing import Backoff, Rate
from dispatcher.runtime.scheduling.schedule import BACKGROUND_TURN, Phase, Schedule
from dispatcher.runtime.scheduling.wakes import Wake, generation_of
from tests.support.wakes import Message, changed, key, published, repeated, unknown, vanished

NAMES = ("a", "b", "c", "d", "e", "f")
names = st.sampled_from(NAMES)
waits = st.one_of(st.none(), st.floats(min_value=0, max_value=90))


class ScheduleMachine(RuleBasedStateMachine):
    """Six objects, woken and run at random, with at most two runs at once."""

    @initialize(burst=st.integers(1, 4))
    def begin(self, burst: int) -> None:
        self.schedule = Schedule(rate=Rate(burst=burst, interval=3), backoff=Backoff(first=2, longest=50))
        self.now = 0.0
        self.running: dict[str, Start] = {}
        self.held: set[Message] = set()
        self.settled: list[Message] = []
        self.promised: dict[str, int] = defaultdict(int)
        self.undelivered: dict[str, dict[str, str]] = defaultdict(dict)

    def settle(self, receipts: object) -> None:
        for receipt in receipts:  # type: ignore[attr-defined]
            assert receipt in self.held, "a message is settled once, after it came"
            self.held.discard(receipt)
            self.settled.append(receipt)

    @rule(name=names, generation=st.integers(1, 5))
    def an_event_arrives(self, name: str, generation: int) -> None:
        message = Message(name)
        self.held.add(message)
        self.settle(self.schedule.wake(published(name, generation, message), self.now))
        self.promised[name] = max(self.promised[name], generation)

    @rule(
        name=names,
        uid=st.sampled_from(("u", "v")),
        state=st.text(max_size=3),
        generation=st.integers(0, 6),
        background=st.booleans(),
    )
    def a_watched_object_changes(self, name: str, uid: str, state: str, generation: int, *, background: bool) -> None:
        wake = changed(name, uid, state, generation=generation, background=background)
        self.settle(self.schedule.wake(wake, self.now))
        self.undelivered[name][uid] = state

    @rule(name=names, wake_of=st.sampled_from((vanished, unknown, repeated)))
    def a_watch_or_a_timer_wakes(self, name: str, wake_of: Callable[[str], Wake]) -> None:
        self.settle(self.schedule.wake(wake_of(name), self.now))

    @precondition(lambda self: len(self.running) < 2)
    @rule()
    def a_run_may_start(self) -> None:
        start = self.schedule.start(self.now)
        if start is None:
            assert self.schedule.depth()[Phase.READY] == 0
            return
        name = start.key.id
        assert name not in self.running, "one object never runs twice at once"
        self.running[name] = start
        if start.request.delivered:
            assert start.request.cause is Cause.WATCH
            assert not start.receipts
            for each in start.request.delivered:
                uid = each.object["metadata"]["uid"]
                assert self.undelivered[name].pop(uid) == each.object["status"]["state"], (
                    "the newest state is delivered"
                )
            assert not self.undelivered[name], "all that was delivered is run at once"
        else:
            assert generation_of(start.request.event) >= self.promised[name], "the newest event counts"

    @precondition(lambda self: self.running)
    @rule(data=st.data(), failed=st.booleans(), asks=st.booleans(), wait=waits)
    def a_run_ends(self, data: st.DataObject, wait: float | None, *, failed: bool, asks: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.running)))
        start = self.running.pop(name)
        requeue = Requeue(reason="asked", after=wait) if asks else None
        if failed:
            for each in start.request.delivered:
                self.undelivered[name].setdefault(each.object["metadata"]["uid"], each.object["status"]["state"])
        self.settle(start.receipts)
        self.settle(self.schedule.end(key(name), Ended(failed=failed, requeue=requeue), self.now))

    @rule(seconds=st.floats(min_value=0.01, max_value=20))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def shutdown_releases_what_has_not_started(self) -> None:
        self.settle(self.schedule.release())
        assert self.held == {receipt for start in self.running.values() for receipt in start.receipts}

    @invariant()
    def nothing_that_is_ready_waits_for_a_timer(self) -> None:
        depth = self.schedule.depth()
        if depth[Phase.WAITING]:
            assert self.schedule.next_due() is not None
        assert depth[Phase.RUNNING] == len(self.running)
        kept = self.schedule.deliveries + self.schedule.failed_deliveries
        assert kept == sum(map(len, self.undelivered.values()))

    def teardown(self) -> None:
        """Time goes on and every run succeeds: nothing is left, and every message was settled once."""
        if not hasattr(self, "schedule"):
            return
        for _ in range(200):
            for name, start in list(self.running.items()):
                self.settle(start.receipts)
                self.settle(self.schedule.end(key(name), Ended(), self.now))
                del self.running[name]
            self.a_run_may_start()
            due = self.schedule.next_due()
            if not self.running and due is None:
                break
            if not self.running and due is not None:
                self.now = max(self.now, due)
        assert not self.held
        assert not any(self.undelivered.values())
        assert sum(self.schedule.depth().values()) == 0
        assert len(self.settled) == len(set(self.settled))


ScheduleMachine.TestCase.settings = settings(
    max_examples=2000 if os.environ.get("SOAK") else 80, stateful_step_count=60, deadline=None
)
TestSchedule = ScheduleMachine.TestCase


class FairnessMachine(RuleBasedStateMachine):
    """One run at a time, no failures: how many others overtake an object that is due?"""

    def __init__(self) -> None:
        super().__init__()
        self.schedule = Schedule(rate=Rate(burst=1000, interval=0.001))
        self.now = 0.0
        self.starts = 0
        self.waiting: dict[str, tuple[int, int]] = {}

    @rule(name=names, urgent=st.booleans())
    def a_wake(self, name: str, *, urgent: bool) -> None:
        self.schedule.wake(published(name) if urgent else repeated(name), self.now)
        self.waiting.setdefault(name, (self.starts, len(self.waiting)))

    @rule()
    def the_next_run(self) -> None:
        start = self.schedule.start(self.now)
        assert (start is None) == (not self.waiting)
        if start is None:
            return
        began, ahead = self.waiting.pop(start.key.id)
        limit = (ahead + 1) * BACKGROUND_TURN + len(NAMES)
        assert self.starts - began <= limit, f"{start.key} waited for {self.starts - began} others"
        self.starts += 1
        self.schedule.end(start.key, Ended(), self.now)
        self.now += 0.01


FairnessMachine.TestCase.settings = settings(max_examples=50, stateful_step_count=80, deadline=None)
TestFairness = FairnessMachine.TestCase
