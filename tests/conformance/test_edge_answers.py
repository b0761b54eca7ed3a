"""Rare inputs, each beside the answer that Go gave: cel-go 0.31, text/template and time of Go 1.26, x/text 0.43."""

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.languages.cel import compile_cel
from shared.languages.errors import EvaluationError
from shared.languages.gotemplate import compile_template
from shared.languages.gotemplate.functions.printing import is_printed

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
FAILS = object()
# sha256 of strconv.IsPrint for every code point but surrogates, as the digits 0 and 1.
GO_PRINTS = "d1979fbf099b8f9cb34aeb666db7f712f0b649da5519df52432b276334e5f17a"


def cel(source: str, variables: dict[str, Any]) -> Any:
    try:
        return compile_cel(source).evaluate(variables, clock=lambda: NOW)
    except EvaluationError:
        return FAILS


def template(source: str, text: str) -> str:
    return compile_template(source).evaluate({"s": text})


@pytest.mark.parametrize(
    ("text", "titled"),
    [
        ("aΣ", "Aς"),
        ("aΣb", "A\u03c3b"),
        ("aΣ b", "Aς B"),
        ("aΣ.b", "A\u03c3.b"),
        ("aΣ..b", "A\u03c3..B"),
        ("aΣ.1", "Aς.1"),
        ("aΣ\u0301", "Aς\u0301"),
        ("aΣ\u0301b", "A\u03c3\u0301b"),
        pytest.param("aΣ" + "\u0301" * 30 + "b", "A\u03c3" + "\u0301" * 30 + "b", id="thirty accents between"),
        pytest.param("aΣ" + "\u0301" * 31 + "b", "Aς" + "\u0301" * 31 + "b", id="one accent more"),
        ("aΣ1b", "Aς1b"),
        ("aΣ\u02b0b", "A\u03c3\u02b0b"),
        ("aΣ^b", "A\u03c3^B"),
        ("aΣ_b", "Aς_b"),
        ("aΣΣΣb", "A\u03c3\u03c3\u03c3b"),
        ("Σ 1Σ", "Σ 1Σ"),
    ],
)
def test_title_writes_sigma_by_what_follows(text: str, titled: str) -> None:
    assert template("{{ title .s }}", text) == titled


@pytest.mark.parametrize(
    ("text", "quoted", "escaped"),
    [
        ("\ud800", '"\ufffd"', "\ufffd"),
        ("a\udfffb", '"a\ufffdb"', "a\ufffdb"),
        ("\U00031350", '"\U00031350"', "\U00031350"),
        ("\u0cf3", '"\u0cf3"', "\u0cf3"),
        ("\U0001fae9", r'"\U0001fae9"', r"\u1FAE9"),
        ("\u1c89", r'"\u1c89"', r"\u1C89"),
        ("\U0002ebf0", r'"\U0002ebf0"', r"\u2EBF0"),
        ("\u0378", r'"\u0378"', r"\u0378"),
        ("\U000e0100", '"\U000e0100"', "\U000e0100"),
    ],
    ids=ascii,
)
def test_quote_and_js_know_the_characters_that_go_knows(text: str, quoted: str, escaped: str) -> None:
    assert (template("{{ quote .s }}", text), template("{{ js .s }}", text)) == (quoted, escaped)


def test_every_character_is_printed_as_go_prints_it() -> None:
    printed = "".join("01"[is_printed(chr(code))] for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF)

    assert hashlib.sha256(printed.encode()).hexdigest() == GO_PRINTS


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": "x\ud800y", "b": "\udfff"}, '{"a":"x\ufffdy","b":"\ufffd"}'),
        ({"\ud800": 1}, '{"\ufffd":1}'),
    ],
    ids=ascii,
)
def test_to_json_replaces_half_a_character(value: Any, text: str) -> None:
    assert cel("toJson(v)", {"v": value}) == text


@pytest.mark.parametrize(
    ("source", "variables", "value"),
    [
        ("a.b", {"a.b": 1}, 1),
        ("a.b", {"a.b": 1, "a": {"b": 2}}, 1),
        ("a.b.c", {"a.b": {"c": 3}}, 3),
        ("a.b.c", {"a.b": {"c": 3}, "a.b.c": 1}, 1),
        ("a.b.c", {"a": {"b": {"c": 3}}, "a.b": 1}, FAILS),
        ("has(a.b.c)", {"a.b": {"c": 3}}, True),
        (".a.b", {"a.b": 1}, 1),
        ('a["b"]', {"a.b": 1}, 1),
        ("a.b[0] + a.b.size()", {"a.b": [7]}, 8),
        ("a.b == 1 && a.c", {"a.b": 1, "a": {"c": True}}, True),
        ("[1].map(a, a.b)", {"a.b": 1}, FAILS),
        ('[{"b": 5}].map(a, a.b)', {"a.b": 1}, [5]),
        ('[{"b": 5}].map(a, .a.b)', {"a.b": 1}, [1]),
        ("a.b()", {"a.b": 1}, FAILS),
    ],
)
def test_the_name_of_a_variable_may_have_dots(source: str, variables: dict[str, Any], value: Any) -> None:
    assert cel(source, variables) == value


def test_a_declared_variable_with_dots_is_known_when_the_expression_is_loaded() -> None:
    assert compile_cel("a.b.c + 1 > 2 && has(a.b.d)", variables={"a.b"}).free_variables == {"a.b"}


@pytest.mark.parametrize(
    ("time", "age"),
    [
        ("2030-01-02T3:04:05Z", 0),
        ("2030-01-02T0:04:05Z", 10_800),
        ("2030-01-02T03:04:05+24:00", 86_400),
        ("2030-01-02T03:04:05-24:00", -86_400),
        ("2030-01-02T03:04:05+00:60", 3_600),
        ("2030-01-02T03:04:04,5Z", 0),
        ("2030-01-02T3:04:03.123456789123Z", 1),
        ("0000-02-29T00:00:00Z", 9_223_372_036),
        ("9999-12-31T23:59:59-24:00", -9_223_372_036),
        ("2030-01-02T03:04:05+25:00", -1),
        ("2030-01-02T03:04:05+00:61", -1),
        ("2030-01-02T03:04:05.Z", -1),
        ("2030-01-02t03:04:05z", -1),
        ("2030-01-02T24:04:05Z", -1),
        ("2030-01-02T003:04:05Z", -1),
        ("2030-01-02T03:4:05Z", -1),
        ("2030-02-30T03:04:05Z", -1),
    ],
)
def test_the_age_of_a_condition_reads_times_as_leniently_as_go(time: str, age: int) -> None:
    conditions = [{"type": "Ready", "status": "True", "last_transition_time": time}]

    assert cel("conditionAge(c, 'Ready')", {"c": conditions}) == age


@pytest.mark.parametrize("time", ["2030-01-02T3:04:05Z", "2030-01-02T03:04:05+24:00", "2030-01-02T03:04:05,5Z"])
def test_timestamp_stays_strict(time: str) -> None:
    assert cel("timestamp(t)", {"t": time}) is FAILS


SHORTEST = "duration('-9223372036854775808ns')"


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (f"timestamp(0) - {SHORTEST}", FAILS),
        (f"timestamp('0001-01-01T00:00:00Z') - {SHORTEST}", FAILS),
        (f"timestamp(0) + {SHORTEST}", "1677-09-21T00:12:43.145224192Z"),
        ("timestamp(0) - duration('9223372036854775807ns')", "1677-09-21T00:12:43.145224193Z"),
    ],
)
def test_a_duration_that_cannot_be_turned_round_cannot_be_subtracted(source: str, value: Any) -> None:
    assert cel(source, {}) == value


@pytest.mark.parametrize(
    ("held", "there"),
    [({"a": 1}, False), ({"b": {"b": 1}}, True), ({"b": {"c": 1}}, False), ({"b": None}, False), ({"b": 3}, False)],
)
def test_a_field_behind_an_optional_is_there_or_not(held: Any, *, there: bool) -> None:
    assert cel("has(m.?b.b)", {"m": held}) is there
    assert cel("has(m.?b.b) || false", {"m": held}) is there
    assert cel("[has(m.?b.b)]", {"m": held}) == [there]
    assert cel("has(m.?b.b) ? 1 : 2", {"m": held}) == (1 if there else 2)
    # As a branch of a conditional, cel-go gives the optional field instead (docs/differences.md).
    assert cel("true ? has(m.?b.b) : false", {"m": held}) is there


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
@pytest.mark.parametrize(
    ("left", "ordered"),
    [
        *[(left, False) for left in ("[1]", "{}", "null", "int", "optional.of(1)")],
        *[(left, True) for left in ("'a'", "true", "b'a'", "timestamp(0)", "duration('1s')", "1", "1u", "1.0")],
    ],
)
def test_nan_is_compared_with_what_has_an_order(left: str, operator: str, *, ordered: bool) -> None:
    assert cel(f"{left} {operator} 0.0/0.0", {}) is (False if ordered else FAILS)
    assert cel(f"0.0/0.0 {operator} {left}", {}) is False


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        (r"\C", FAILS),
        (r"a\Cb", FAILS),
        (r"(?i)\C", FAILS),
        (r"\Q\E\C", FAILS),
        (r"[\C]", FAILS),
        (r"\\C", True),
        (r"\Q\C\E", True),
        (r"\Qa\\C", False),
    ],
)
def test_a_pattern_cannot_take_a_character_apart(pattern: str, matched: Any) -> None:
    assert cel("s.matches(p)", {"s": r"\C", "p": pattern}) is matched
    assert cel(f"s.matches(r'{pattern}')", {"s": r"\C"}) is matched


@pytest.mark.parametrize(
    ("source", "variables", "value"),
    [
        ("[1].map(.x, x)", {}, FAILS),
        ("[1].map(.x, .x)", {}, FAILS),
        ("[1].map(.x, x)", {"x": 5}, [5]),
        ("[1].map(.x, .x)", {"x": 5}, [5]),
        ("[1].exists(.x, x == 1)", {}, FAILS),
        ("optional.of(1).optMap(.x, x)", {}, FAILS),
    ],
)
def test_a_loop_variable_with_a_dot_hides_nothing(source: str, variables: dict[str, Any], value: Any) -> None:
    assert cel(source, variables) == value


@pytest.mark.parametrize(
    ("path", "found"),
    [("a.\x1cb", None), ("\x1fa.b", None), ("a. b\t", 1), ("a.\u00a0b", 1), ("a\u2003.b", 1), ("a.\u200bb", None)],
    ids=ascii,
)
def test_dig_trims_what_go_takes_for_white_space(path: str, found: Any) -> None:
    assert cel("dig(v, p)", {"v": {"a": {"b": 1}}, "p": path}) == found


@pytest.mark.parametrize("terms", [101, 249, 251])
def test_a_long_chain_of_operators_is_no_nesting(terms: int) -> None:
    assert cel("+".join(["1"] * terms), {}) == terms
    assert cel(f"[2].map(x, {'+'.join(['x'] * terms)})", {}) == [2 * terms]
    assert cel(json.dumps("a") + " + s" * terms, {"s": "b"}) == "a" + "b" * terms


def test_half_a_character_is_replaced_where_json_is_read() -> None:
    assert cel(r"fromJson('\"\\udc80\"') == '\ufffd'", {}) is True
