"""The waits between the attempts of a call, and the settings of all calls."""

import pytest

from dispatcher.api import ApiSettings
from dispatcher.api.backoff import delay
from shared.errors import Misconfigured


@pytest.mark.parametrize(
    ("growth", "seconds"),
    [("exponential", [1, 2, 4, 8, 16, 30, 30]), ("linear", [1, 2, 3, 4]), ("constant", [1, 1, 1])],
)
def test_waits_grow_as_the_author_says(growth: str, seconds: list[float]) -> None:
    for failures, expected in enumerate(seconds, start=1):
        assert delay(growth, failures, base=1.0, longest=30.0) == pytest.approx(expected, rel=0.11)


def test_no_wait_is_longer_than_the_longest() -> None:
    assert max(delay("exponential", 1000, base=1.0, longest=30.0) for _ in range(100)) <= 30.0


def test_waits_differ_so_that_callers_do_not_come_back_in_step() -> None:
    assert len({delay("constant", 1, base=1.0, longest=30.0) for _ in range(20)}) > 1


def test_a_wait_that_the_server_names_is_honoured_up_to_the_longest() -> None:
    assert delay("constant", 1, base=1.0, longest=30.0, least=7.0) == 7.0
    assert delay("constant", 1, base=1.0, longest=30.0, least=3600.0) == 30.0


def test_an_unknown_growth_is_refused() -> None:
    with pytest.raises(Misconfigured, match="'random' is not one of exponential, linear, constant"):
        delay("random", 1, base=1.0, longest=30.0)


@pytest.mark.parametrize(
    "url", ["", "http://[x", "http://api:port", "api.example.com", "ftp://x", "http://", "/api"], ids=repr
)
def test_without_a_url_of_the_api_there_is_no_client(url: str) -> None:
    with pytest.raises(Misconfigured, match="HYPERFLEET_API_BASE_URL"):
        ApiSettings(base_url=url)
