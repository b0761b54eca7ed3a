"""The wait before the next attempt: it doubles, is random, and ends at a limit."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.backoff import Backoff


@pytest.mark.parametrize(
    ("failures", "most"), [(0, 0.5), (1, 1.0), (2, 2.0), (5, 16.0), (6, 30.0), (1_000, 30.0), (10**6, 30.0)]
)
def test_the_delay_doubles_up_to_its_limit_however_long_it_fails(
    failures: int, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "uniform", lambda _, high: high)
    assert Backoff(first=0.5, longest=30.0).delay(failures) == most


@given(failures=st.integers(0, 5000), spread=st.floats(0.0, 1.0))
def test_the_delay_is_within_its_spread(failures: int, spread: float) -> None:
    most = min(8.0, 0.25 * 2 ** min(failures, 100))
    assert most * (1 - spread) <= Backoff(first=0.25, longest=8.0, spread=spread).delay(failures) <= most


@pytest.mark.parametrize("failures", [0, 9])
def test_a_wait_that_the_other_side_asked_for_is_the_least(failures: int) -> None:
    assert Backoff(first=0.5, longest=30.0).delay(failures, retry_after=120.0) == 120.0
