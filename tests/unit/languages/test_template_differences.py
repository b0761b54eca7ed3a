"""Where we differ from Go on purpose. Every test states the difference; its docstring says what Go does and why not we."""

from datetime import UTC, datetime

import pytest

from shared.languages.errors import EvaluationError, LimitExceeded, Rejected
from shared.languages.gotemplate import compile_template


def test_integers_of_a_document_are_integers() -> None:
    """The framework reads JSON numbers as float64: `1e+06`, no %d, and not equal to the literal 5."""
    program = compile_template('{{ .n }} {{ printf "%d" .n }} {{ eq .n 1000000 }}')
    assert program.evaluate({"n": 1_000_000}) == "1000000 1000000 true"


@pytest.mark.parametrize(
    "source",
    [
        "{{ $x = 1 }}",
        "{{ $x := $x }}",
        "{{ if .a }}{{ $x := 1 }}{{ else }}{{ $x }}{{ end }}",
        "{{ range $x = .l }}{{ end }}",
    ],
)
def test_a_variable_that_cannot_have_been_set_is_refused_at_load(source: str) -> None:
    """Go fails when the action is reached, and not before."""
    with pytest.raises(Rejected, match=r"undefined variable \$x"):
        compile_template(source)


def test_a_literal_that_overflows_is_refused_at_load() -> None:
    """Go fails when the action is reached."""
    with pytest.raises(Rejected, match="overflows int"):
        compile_template("{{ 18446744073709551615 }}")


def test_a_variable_is_not_declared_inside_and_or_or() -> None:
    """In Go whether it exists, or which one of that name, depends on the arguments before it."""
    with pytest.raises(Rejected, match="may never be set"):
        compile_template("{{ and .a ($x := 1) }}{{ $x }}")


@pytest.mark.parametrize(
    "source", ["{{ now.Unix }}", "{{ now.UTC.Year }}", '{{ (now).Format "2006" }}', "{{ $t := now }}{{ $t.Unix }}"]
)
def test_a_time_has_no_methods(source: str) -> None:
    """Go reaches every method of its time.Time; here values have none, and `date` writes every layout."""
    with pytest.raises(EvaluationError) as failed:
        compile_template(source).evaluate({})
    assert "date" in str(failed.value.hint) or "not a function" in failed.value.problem


def test_now_is_in_utc() -> None:
    """Go takes the zone of the machine and prints a reading of the monotonic clock behind it."""
    text = compile_template("{{ now }}").evaluate({})
    assert text.endswith(" +0000 UTC")


def test_a_time_under_a_verb_for_numbers_is_written_as_a_complaint() -> None:
    """Go prints the private fields of its time.Time."""
    program = compile_template('{{ printf "%d" now }}')
    instant = datetime(2026, 3, 4, tzinfo=UTC)
    assert program.evaluate({}, clock=lambda: instant) == "%!d(time.Time=2026-03-04 00:00:00 +0000 UTC)"


def test_addresses_are_not_printed() -> None:
    """Go prints where a map or list lies in memory."""
    assert compile_template('{{ printf "%p" .l }}').evaluate({"l": [1]}) == "%!p([]interface {}=[1])"


def test_a_slice_takes_its_bounds_from_variables() -> None:
    """Go refuses a bound that comes from a map, because it forgets to look inside the interface."""
    assert compile_template("{{ slice .s .from .to }}").evaluate({"s": "hello", "from": 1, "to": 3}) == "el"


def test_a_slice_ends_where_the_list_ends() -> None:
    """Go lets it run on into the spare capacity behind the list, if there happens to be some."""
    with pytest.raises(EvaluationError, match="out of range"):
        compile_template("{{ slice .l 0 4 }}").evaluate({"l": [1, 2, 3]})


def test_what_is_no_number_is_zero_however_long() -> None:
    """Go answers with the largest integer when the digits overflow before the wrong character is met."""
    assert compile_template('{{ int "99999999999999999999x" }}').evaluate({}) == "0"


def test_a_template_that_calls_itself_is_stopped_early() -> None:
    """Go goes 100,000 levels deep."""
    with pytest.raises(LimitExceeded):
        compile_template('{{ define "r" }}{{ template "r" . }}{{ end }}{{ template "r" . }}').evaluate({})
