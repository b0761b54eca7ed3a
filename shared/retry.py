"""When to try again, and when to stop: exponential back-off with full jitter inside a total budget.

Only `Transient` errors are tried again. A wait the other side asked for (`retry_after`) is honoured; when it does not
fit into the budget, the error is raised at once. The error that ends the retries is the last one.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from shared.backoff import Backoff
from shared.errors import Transient

T = TypeVar("T")

LONGEST_WAIT_SECONDS = 60.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How long to go on. `attempts` counts calls in all, `budget` seconds from the first call; None means no limit."""

    attempts: int | None = None
    budget: float | None = 120.0
    first_delay: float = 1.0
    max_delay: float = LONGEST_WAIT_SECONDS

    def __post_init__(self) -> None:
        if self.attempts is None and self.budget is None:
            raise ValueError("a retry policy needs a limit: attempts, budget or both")

    async def run(self, what: str, call: Callable[[], Awaitable[T]]) -> T:
        """What `call` returns, trying again while it raises Transient and the policy allows."""
        clock = asyncio.get_running_loop().time
        started, attempts = clock(), 0
        while True:
            try:
                return await call()
            except Transient as error:
                delay = self._backoff.delay(attempts, retry_after=error.retry_after)
                attempts += 1
                elapsed = clock() - started
                if self._is_over(attempts, elapsed + delay):
                    error.add_note(f"gave up on {what} after {attempts} attempt(s) in {elapsed:.1f} s")
                    raise
                log.warning("%s failed, retrying in %.1f s: %s", what, delay, error)
            await asyncio.sleep(delay)

    @property
    def _backoff(self) -> Backoff:
        return Backoff(self.first_delay, self.max_delay)

    def _is_over(self, attempts: int, elapsed: float) -> bool:
        if self.attempts is not None and attempts >= self.attempts:
            return True
        return self.budget is not None and elapsed >= self.budget
