"""Settings from the environment: which variable wins, every problem at once, and the help."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.environment import (
    Environment,
    Setting,
    absolute_file,
    flag,
    help_table,
    is_host,
    one_of,
    pairs,
    positive_duration,
    quoted,
    url,
    whole_number,
)

TIMEOUT = Setting("TIMEOUT", positive_duration, 10.0, "how long to wait", aliases=("TIMEOUT_SECONDS",), shown="10s")
NAME = Setting("NAME", str, "", "its name", required=True)
SUFFIX = Setting("SUFFIX", str, "-multi", "what follows", empty_counts=True)


@pytest.mark.parametrize(
    ("variables", "value", "origin"),
    [
        pytest.param({}, 10.0, None, id="nothing is set"),
        pytest.param({"TIMEOUT": "  "}, 10.0, None, id="an empty variable is not set"),
        pytest.param({"TIMEOUT": " 5s "}, 5.0, "TIMEOUT", id="a variable"),
        pytest.param({"TIMEOUT_SECONDS": "7"}, 7.0, "TIMEOUT_SECONDS", id="its alias"),
        pytest.param({"TIMEOUT": "5", "TIMEOUT_SECONDS": "7"}, 5.0, "TIMEOUT", id="the name wins over the alias"),
        pytest.param({"TIMEOUT": "", "TIMEOUT_SECONDS": "7"}, 7.0, "TIMEOUT_SECONDS", id="an empty name does not"),
        pytest.param({"HF_TIMEOUT": "1", "TIMEOUT": "5"}, 1.0, "HF_TIMEOUT", id="the first prefix wins"),
    ],
)
def test_the_first_that_is_set_counts(variables: dict[str, str], value: float, origin: str | None) -> None:
    environment = Environment(variables, prefixes=("HF_", ""))
    assert environment.read(TIMEOUT) == value
    assert environment.origin(TIMEOUT) == origin
    assert environment.problems == []


def test_a_setting_may_be_emptied_where_that_is_a_value() -> None:
    assert Environment({}).read(SUFFIX) == "-multi"
    assert Environment({"SUFFIX": ""}).read(SUFFIX) == ""


def test_every_problem_is_collected_under_the_name_that_was_set() -> None:
    environment = Environment({"TIMEOUT_SECONDS": "soon"})
    assert environment.read(TIMEOUT) == 10.0
    assert environment.read(NAME) == ""
    assert [str(problem) for problem in environment.problems] == [
        "TIMEOUT_SECONDS: 'soon' is not a duration such as 2, 0.5, 500ms, 20s or 1m30s",
        "NAME: must be set",
    ]


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (url, "ftp://admin:s3cret@example.com/" + "x" * 200),
        (url, f"admin://{'a' * 80}:s3cret@example.com"),
        (positive_duration, "http://admin:s3cret@example.com"),
        (whole_number, "token=s3cret"),
    ],
)
def test_no_problem_shows_a_secret(parse: Callable[[str], Any], text: str) -> None:
    environment = Environment({"X": text})
    environment.read(Setting("X", parse, None, ""))
    (problem,) = environment.problems
    assert "s3cret" not in str(problem)


def test_the_help_has_names_meaning_and_default_of_every_setting() -> None:
    long = Setting("A_VERY_LONG_NAME_OF_A_SETTING", str, "", "what it means", aliases=("AND_ITS_ALIAS",))
    assert help_table([TIMEOUT, NAME, long]) == (
        "  TIMEOUT, TIMEOUT_SECONDS                how long to wait [10s]\n"
        "  NAME                                    its name\n"
        "  A_VERY_LONG_NAME_OF_A_SETTING, AND_ITS_ALIAS\n"
        "                                          what it means\n"
    )


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (absolute_file, "/a/b.json", Path("/a/b.json")),
        (positive_duration, "1m30s", 90.0),
        (one_of("json", "text"), "JSON", "json"),
        (whole_number, "-12", -12),
        (flag, "T", True),
        (flag, "0", False),
        (pairs, "a=b, c=,", {"a": "b", "c": ""}),
        (url, "https://user:pw@[::1]:8443/path", "https://user:pw@[::1]:8443/path"),
        (url, "http://maestro.svc.", "http://maestro.svc."),
    ],
)
def test_what_a_parser_takes(parse: Callable[[str], Any], text: str, value: Any) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (absolute_file, "b.json"),
        (absolute_file, "/a/"),
        (positive_duration, "0s"),
        (positive_duration, "-1"),
        (positive_duration, "9000h"),
        (one_of("json", "text"), "xml"),
        (whole_number, "1.5"),
        (whole_number, "\u0663"),
        (whole_number, "9" * 5000),
        (whole_number, ""),
        (flag, "perhaps"),
        (pairs, "a"),
        (pairs, "=b"),
        (url, "example.com"),
        (url, "https://"),
        (url, "https://maestro..svc:8000"),
        (url, "https://m\u00e4estro:8000"),
        (url, f"https://{'a' * 64}.example.com"),
        (url, "https://[::1"),
        (url, "https://example.com:port"),
        (url, "https://example.com:0"),
        (url, "https://exa mple.com"),
    ],
)
def test_what_a_parser_refuses(parse: Callable[[str], Any], text: str) -> None:
    with pytest.raises(ValueError, match=r"must be|is not a duration"):
        parse(text)


@given(st.text())
def test_every_host_that_is_accepted_can_be_looked_up(text: str) -> None:
    if is_host(text) and ":" not in text:
        text.encode("idna")


@given(st.text(max_size=300))
def test_a_quoted_value_is_short(text: str) -> None:
    assert len(quoted(text)) <= 10 * 70
