"""Trying again: how often, how long, and when not. Time passes only where the policy sleeps, and then at once."""

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

import pytest

from shared.errors import Conflict, NotFound, Permanent, ServerError, Transient, Unavailable
from shared.maestro import MaestroSettings
from shared.retry import RetryPolicy
from tests.support.leaping import LeapingLoop

T = TypeVar("T")


def run(story: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        return runner.run(story)


class Calls:
    """A call that fails in the given ways, then succeeds; it knows when it was made."""

    def __init__(self, failures: Iterable[BaseException], *, duration: float = 0.0) -> None:
        self._failures = list(failures)
        self._duration = duration
        self.times: list[float] = []

    async def __call__(self) -> str:
        self.times.append(asyncio.get_running_loop().time())
        await asyncio.sleep(self._duration)
        if self._failures:
            raise self._failures.pop(0)
        return "done"

    @property
    def delays(self) -> list[float]:
        return [later - earlier for earlier, later in zip(self.times, self.times[1:], strict=False)]


def down(count: int = 1, *, retry_after: float | None = None) -> list[BaseException]:
    return [Unavailable(f"down {number}", retry_after=retry_after) for number in range(1, count + 1)]


def test_what_succeeds_at_once_is_called_once() -> None:
    calls = Calls([])
    assert run(RetryPolicy().run("call", calls)) == "done"
    assert calls.times == [0.0]


def test_a_transient_failure_is_tried_again_until_it_succeeds() -> None:
    calls = Calls([*down(2), ServerError("broken")])
    assert run(RetryPolicy().run("call", calls)) == "done"
    assert len(calls.times) == 4


@pytest.mark.parametrize("error", [Permanent("no"), NotFound("gone"), Conflict("late"), ValueError("a bug")], ids=repr)
def test_what_another_try_cannot_change_is_reported_at_once(error: Exception) -> None:
    calls = Calls([error])
    with pytest.raises(type(error)) as raised:
        run(RetryPolicy().run("call", calls))
    assert raised.value is error
    assert calls.times == [0.0]
    assert not hasattr(error, "__notes__")


def test_the_delays_are_fully_jittered_between_zero_and_a_doubling_limit() -> None:
    policy = RetryPolicy(attempts=8, budget=None, first_delay=1.0, max_delay=16.0)
    limits = [1.0, 2.0, 4.0, 8.0, 16.0, 16.0, 16.0]
    rounds = []
    for _ in range(60):
        calls = Calls(down(7))
        run(policy.run("call", calls))
        rounds.append(calls.delays)
    for index, limit in enumerate(limits):
        seen = [delays[index] for delays in rounds]
        assert max(seen) <= limit
        # That none of 60 draws falls into the lower third, or none into the upper one, happens once in ten billion runs.
        assert min(seen) < limit / 3
        assert max(seen) > limit * 2 / 3


def test_attempts_count_calls_in_all_and_the_last_error_is_raised() -> None:
    failures = down(5)
    with pytest.raises(Unavailable) as raised:
        run(RetryPolicy(attempts=3, budget=None).run("reading the work", Calls(failures.copy())))
    assert raised.value is failures[2]


def test_the_last_error_says_how_long_it_was_tried() -> None:
    policy = RetryPolicy(attempts=3, budget=None)
    with pytest.raises(Unavailable) as raised:
        run(policy.run("reading the work", Calls(down(3, retry_after=20.0), duration=1.0)))
    assert raised.value.__notes__ == ["gave up on reading the work after 3 attempt(s) in 43.0 s"]


def test_the_budget_ends_the_trying_before_a_wait_that_does_not_fit() -> None:
    calls = Calls(down(100, retry_after=4.0))
    with pytest.raises(Unavailable) as raised:
        run(RetryPolicy(budget=10.0, first_delay=0.1).run("call", calls))
    assert calls.times == [0.0, 4.0, 8.0]
    assert raised.value.what == "down 3"


def test_the_time_the_calls_take_counts_against_the_budget() -> None:
    calls = Calls(down(100), duration=6.0)
    with pytest.raises(Unavailable):
        run(RetryPolicy(budget=10.0, first_delay=0.5, max_delay=0.5).run("call", calls))
    assert len(calls.times) == 2


def test_a_wait_the_other_side_asked_for_is_kept_to_exactly_or_longer() -> None:
    calls = Calls(down(2, retry_after=30.0))
    run(RetryPolicy(budget=120.0, first_delay=1.0).run("call", calls))
    assert calls.delays == [30.0, 30.0]
    patient = Calls(down(1, retry_after=0.001))
    run(RetryPolicy(budget=120.0, first_delay=1.0).run("call", patient))
    assert patient.delays[0] >= 0.001


def test_a_wait_that_does_not_fit_the_budget_is_not_slept_on() -> None:
    calls = Calls(down(1, retry_after=3600.0))

    async def story() -> float:
        with pytest.raises(Unavailable):
            await RetryPolicy(budget=120.0).run("call", calls)
        return asyncio.get_running_loop().time()

    assert run(story()) == 0.0
    assert calls.times == [0.0]


def test_attempts_and_budget_hold_together() -> None:
    few, brief = Calls(down(9, retry_after=1.0)), Calls(down(9, retry_after=1.0))
    for calls, policy in ((few, RetryPolicy(attempts=2, budget=100.0)), (brief, RetryPolicy(attempts=9, budget=2.5))):
        with pytest.raises(Unavailable):
            run(policy.run("call", calls))
    assert len(few.times) == 2
    assert len(brief.times) in (2, 3)


def test_a_policy_without_a_limit_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="needs a limit"):
        RetryPolicy(attempts=None, budget=None)


def _during_a_call() -> Awaitable[str]:
    return RetryPolicy().run("call", Calls([], duration=1000.0))


def _during_a_wait() -> Awaitable[str]:
    return RetryPolicy(budget=None, attempts=9).run("call", Calls(down(9, retry_after=1000.0)))


@pytest.mark.parametrize("tried", [_during_a_call, _during_a_wait])
def test_cancelling_ends_it_at_once(tried: Callable[[], Awaitable[str]]) -> None:
    async def story() -> float:
        task = asyncio.ensure_future(tried())
        await asyncio.sleep(1.0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return asyncio.get_running_loop().time()

    assert run(story()) == 1.0


def test_a_cancellation_raised_by_the_call_itself_is_not_tried_again() -> None:
    calls = Calls([asyncio.CancelledError()])

    async def story() -> None:
        with pytest.raises(asyncio.CancelledError):
            await RetryPolicy().run("call", calls)

    run(story())
    assert len(calls.times) == 1


def test_every_wait_is_reported_with_its_cause(caplog: pytest.LogCaptureFixture) -> None:
    run(RetryPolicy().run("reading the work", Calls(down(2, retry_after=5.0))))
    assert caplog.messages == [
        "reading the work failed, retrying in 5.0 s: down 1",
        "reading the work failed, retrying in 5.0 s: down 2",
    ]


def test_concurrent_runs_of_one_policy_do_not_disturb_each_other() -> None:
    policy = RetryPolicy(attempts=3, budget=None)

    async def story() -> tuple[str | BaseException, str | BaseException]:
        good, bad = Calls(down(2)), Calls(down(9))
        return await asyncio.gather(policy.run("good", good), policy.run("bad", bad), return_exceptions=True)

    good, bad = run(story())
    assert good == "done"
    assert isinstance(bad, Transient)
    assert bad.what == "down 3"


@pytest.mark.parametrize("short_waits", range(0, 12, 2))
def test_an_outage_of_half_of_maestro_s_budget_is_survived_whatever_chance_says(
    short_waits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chances = itertools.chain(itertools.repeat(0.0, short_waits), itertools.repeat(1.0))
    monkeypatch.setattr(random, "uniform", lambda least, most: least + next(chances) * (most - least))
    settings = MaestroSettings(
        grpc_server_address="a:1",
        http_server_address="http://a",
        source_id="s",
        insecure=True,
        retry_budget=55.0,
        retry_attempts=1000,
    )

    async def until_it_is_back() -> str:
        await asyncio.sleep(0.1)
        if asyncio.get_running_loop().time() < settings.retry_budget / 2:
            raise Unavailable("down")
        return "done"

    assert run(settings.retry.run("call", until_it_is_back)) == "done"
