"""How long to wait before the next attempt: exponential backoff with jitter, one rule for everybody who retries."""

from typing import NamedTuple

# Beyond this every delay is the longest one; the power itself must stay a number that a float can hold.
_MAX_DOUBLINGS = 32


class Backoff(NamedTuple):
    """Each delay is random, up to `first` after the first failure, then doubled, up to `longest`.

    `spread` is the random share of a delay: 1 spreads it from zero, 0.5 over its upper half.
    """

    first: float
    longest: float
    spread: float = 1.0

    def delay(self, failures: int, *, retry_after: float | None = None) -> float:
        """The wait after so many failures before this one; never less than the other side asked for."""
        import random  # noqa: PLC0415 - the sidecar loads it only when something fails

        most = min(self.longest, self.first * 2 ** min(failures, _MAX_DOUBLINGS))
        jittered = random.uniform(most * (1 - self.spread), most)  # noqa: S311 - spreads load, guards nothing
        return max(jittered, retry_after or 0.0)
