"""How long others wait beside an object that never stops waking. Time is simulated."""

import heapq
import itertools
import math
import random

from dispatcher.runtime.scheduling.entry import Ended
from dispatcher.runtime.scheduling.schedule import Schedule
from tests.support.wakes import key, published

SLOTS = 4
RUN_SECONDS = 0.02
SECONDS = 100.0
OTHERS = [f"other-{number}" for number in range(2000)]
OTHER_WAKES_PER_SECOND = 150.0
BUSY_WAKES_PER_SECOND = 100.0


class Simulation:
    """Wakes arrive at random; each run takes its time in one of a few slots."""

    def __init__(self) -> None:
        self._chance = random.Random(7)
        self._schedule = Schedule()
        self._happenings: list[tuple[float, int, str, str]] = []
        self._sequence = itertools.count()
        self._running = 0
        self.waits: list[float] = []

    def arrivals(self, rate: float, names: list[str]) -> None:
        time = 0.0
        while (time := time + self._chance.expovariate(rate)) < SECONDS:
            self._at(time, "wake", self._chance.choice(names))

    def run(self) -> None:
        while self._happenings:
            now, _, what, name = heapq.heappop(self._happenings)
            if what == "wake":
                self._schedule.wake(published(name), now)
            elif what == "end":
                self._running -= 1
                self._schedule.end(key(name), Ended(), now)
            self._start_due(now)

    def _start_due(self, now: float) -> None:
        while self._running < SLOTS and (start := self._schedule.start(now)) is not None:
            self._running += 1
            self._at(now + RUN_SECONDS, "end", start.key.id)
            if start.key.id != "busy":
                self.waits.append(start.waited)
        due = self._schedule.next_due()
        if due is not None and due > now and self._running < SLOTS:
            self._at(due, "timer", "")

    def _at(self, time: float, what: str, name: str) -> None:
        heapq.heappush(self._happenings, (time, next(self._sequence), what, name))


def p99_wait_of_others(*, beside_a_busy_object: bool) -> float:
    simulation = Simulation()
    simulation.arrivals(OTHER_WAKES_PER_SECOND, OTHERS)
    if beside_a_busy_object:
        simulation.arrivals(BUSY_WAKES_PER_SECOND, ["busy"])
    simulation.run()
    return sorted(simulation.waits)[math.floor(0.99 * len(simulation.waits))]


def test_beside_an_object_that_wakes_100_times_a_second_the_others_wait_at_most_twice_as_long() -> None:
    alone = p99_wait_of_others(beside_a_busy_object=False)
    beside = p99_wait_of_others(beside_a_busy_object=True)
    assert 0 < beside <= 2 * alone
