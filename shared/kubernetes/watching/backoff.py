"""How long to wait before the next attempt: twice as long as before, up to a limit, and a random part of it."""

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class Backoff:
    """Full jitter spreads many clients that lost the same server at the same instant."""

    first: float = 0.5
    longest: float = 30.0
    _failures: int = field(default=0, init=False)

    def next(self) -> float:
        ceiling = min(self.longest, self.first * 2.0 ** min(self._failures, 32))
        self._failures += 1
        return random.uniform(self.first / 2, ceiling)  # noqa: S311 - no secret depends on it

    def reset(self) -> None:
        self._failures = 0
