"""When to try again, and when to stop: exponential back-off with full jitter inside a total budget.

Only `Transient` errors are tried again. A wait the other side asked for (`retry_after`) is honoured; when it does not
fit into the budget, the error is told at once instead of slept on. The error that ends the trying is the last one met.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

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
        started = clock()
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(Transient),
            wait=self._wait,
            stop=lambda state: self._is_enough(state, clock() - started),
            before_sleep=lambda state: _tell(what, state),
            reraise=True,
        )

        async def attempt() -> T:
            return await call()

        try:
            return await retrying(attempt)
        except Transient as error:
            tried, seconds = retrying.statistics["attempt_number"], clock() - started
            error.add_note(f"gave up on {what} after {tried} attempt(s) in {seconds:.1f} s")
            raise

    def _wait(self, state: RetryCallState) -> float:
        jittered = wait_random_exponential(multiplier=self.first_delay, max=self.max_delay)(state)
        return max(jittered, _failure(state).retry_after or 0.0)

    def _is_enough(self, state: RetryCallState, elapsed: float) -> bool:
        if self.attempts is not None and state.attempt_number >= self.attempts:
            return True
        return self.budget is not None and elapsed + state.upcoming_sleep >= self.budget


def _tell(what: str, state: RetryCallState) -> None:
    log.warning("%s failed, trying again in %.1f s: %s", what, state.upcoming_sleep, _failure(state))


def _failure(state: RetryCallState) -> Transient:
    assert state.outcome is not None
    error = state.outcome.exception()
    assert isinstance(error, Transient)
    return error
