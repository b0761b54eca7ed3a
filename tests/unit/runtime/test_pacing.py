"""How soon an object may run again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatcher.runtime.scheduling.pacing import Backoff, Rate, TokenBucket


def test_each_failure_doubles_the_wait_up_to_the_longest() -> None:
    backoff = Backoff(first=1, longest=20, jitter=lambda: 1.0)
    assert [backoff.wait(failures) for failures in range(1, 8)] == [1, 2, 4, 8, 16, 20, 20]


def test_jitter_shortens_a_wait_by_half_at_most() -> None:
    assert Backoff(first=8, jitter=lambda: 0.0).wait(1) == 4


@given(st.integers(min_value=1, max_value=10**6))
def test_a_wait_is_never_longer_than_the_longest_nor_zero(failures: int) -> None:
    assert 0 < Backoff().wait(failures) <= 180


def test_a_bucket_gives_its_burst_at_once_and_then_one_token_per_interval() -> None:
    bucket = TokenBucket(Rate(burst=2, interval=5), now=100)
    for _ in range(2):
        assert bucket.available_at(100) == 100
        bucket.take(100)
    assert bucket.available_at(100) == 105
    bucket.take(105)
    assert bucket.available_at(105) == 110


def test_an_unused_bucket_fills_up_and_no_further() -> None:
    bucket = TokenBucket(Rate(burst=3, interval=1), now=0)
    for _ in range(3):
        bucket.take(0)
    assert bucket.full_at(0) == 3
    assert bucket.full_at(1000) == 1000
    for _ in range(3):
        bucket.take(1000)
    assert bucket.available_at(1000) == 1001


@given(st.lists(st.floats(min_value=0, max_value=3, allow_nan=False), max_size=50))
def test_over_any_time_a_bucket_gives_no_more_than_its_burst_and_its_rate(pauses: list[float]) -> None:
    rate, now = Rate(burst=4, interval=2), 0.0
    bucket = TokenBucket(rate, now)
    for taken, pause in enumerate(pauses, start=1):
        now = bucket.available_at(now + pause)
        bucket.take(now)
        assert taken <= rate.burst + now / rate.interval + 1e-6


@pytest.mark.parametrize("rate", [Rate(), Rate(burst=1, interval=0.1)], ids=["default", "small"])
def test_a_token_that_was_waited_for_is_there(rate: Rate) -> None:
    bucket = TokenBucket(rate, now=0)
    for _ in range(rate.burst):
        bucket.take(0)
    assert bucket.available_at(bucket.available_at(0)) == pytest.approx(bucket.available_at(0))
