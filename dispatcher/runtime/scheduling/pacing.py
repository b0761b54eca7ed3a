"""How soon an object may run again: after a failure, and when it wakes too often. Pure; times are monotonic seconds."""

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Exponential: `first` seconds after the first failure, doubled by each further one up to `longest`.

    The wait is between half and all of that, so that objects that failed together do not return together. `jitter`
    gives a number from 0 to 1.
    """

    first: float = 1.0
    longest: float = 180.0
    jitter: Callable[[], float] = random.random

    def wait(self, failures: int) -> float:
        nominal = min(self.longest, self.first * 2.0 ** min(failures - 1, 30))
        return float(nominal * (0.5 + 0.5 * self.jitter()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """`burst` runs at once, then one every `interval` seconds."""

    burst: int = 10
    interval: float = 1.0


class TokenBucket:
    """One object's allowance. A run takes a token; an empty bucket says when the next token comes."""

    __slots__ = ("_at", "_rate", "_tokens")

    def __init__(self, rate: Rate, now: float) -> None:
        self._rate = rate
        self._tokens = float(rate.burst)
        self._at = now

    def available_at(self, now: float) -> float:
        """The first instant from `now` on at which there is a token."""
        missing = 1.0 - self._level(now)
        return now if missing <= 0 else now + missing * self._rate.interval

    def full_at(self, now: float) -> float:
        return now + (self._rate.burst - self._level(now)) * self._rate.interval

    def take(self, now: float) -> None:
        self._tokens = self._level(now) - 1.0
        self._at = now

    def _level(self, now: float) -> float:
        return min(float(self._rate.burst), self._tokens + (now - self._at) / self._rate.interval)
