"""What is refused before anything runs, where the caret points, and what the author should write instead."""

import pytest

from shared.languages.cel import Limits, compile_cel
from shared.languages.errors import Position, Rejected


def rejection(source: str, **options: object) -> Rejected:
    with pytest.raises(Rejected) as caught:
        compile_cel(source, **options)  # type: ignore[arg-type]  # options vary by test
    return caught.value


@pytest.mark.parametrize(
    ("source", "column", "hint"),
    [
        pytest.param("a and b", 3, "&&", id="and"),
        pytest.param("a or b", 3, "||", id="or"),
        pytest.param("not a", 5, "!", id="not"),
        pytest.param("a is null", 3, "==", id="is"),
        pytest.param("a = 1", 3, "==", id="assignment"),
        pytest.param("a === 1", 5, "==", id="triple-equals"),
        pytest.param("a <> 1", 4, "!=", id="not-equal-of-sql"),
        pytest.param("a & b", 3, "&&", id="single-ampersand"),
        pytest.param("a | b", 3, "||", id="single-bar"),
        pytest.param("a ? b ? 1 : 2 : 3", 7, "parentheses", id="conditional-in-the-middle-of-another"),
        pytest.param("a?.b", 5, "a.?b", id="question-mark-before-the-dot"),
        pytest.param("a ?? b", 4, "orValue", id="null-coalescing"),
        pytest.param("if (a) { 1 }", 1, "condition ? value : other", id="if-statement"),
        pytest.param("a if b else c", 3, "condition ? value : other", id="conditional-of-python"),
        pytest.param("{{ .name }}", 10, "not a template", id="template-braces"),
        pytest.param("name == {{ .name }}", 18, "not a template", id="template-braces-inside"),
        pytest.param("xs.map(x => x)", 10, "no arrow functions", id="arrow-function"),
        pytest.param("xs.map(x -> x)", 11, "no arrow functions", id="arrow-function-of-java"),
        pytest.param("# comment", 1, "//", id="comment-of-python"),
        pytest.param("$name", 1, "name alone", id="dollar"),
        pytest.param("\u201cx\u201d", 1, "straight quotes", id="typographic-quotes"),
        pytest.param("a; b", 2, "no statements", id="semicolon"),
        pytest.param("'it's'", 6, '"""', id="quote-that-does-not-end"),
        pytest.param(r'"a\qb"', 3, "raw string", id="unknown-escape"),
        pytest.param("a.in", 3, '["in"]', id="keyword-as-field"),
        pytest.param("has(a)", 5, "a != null", id="has-of-a-variable"),
        pytest.param('has(a["b"])', 6, '"key" in map', id="has-of-an-index"),
        pytest.param("has(a.?b)", 8, "hasValue", id="has-of-an-optional"),
        pytest.param("xs.map(1, 2)", 8, "xs.map(x, x + 1)", id="macro-without-a-variable"),
        pytest.param("Point{x: 1}", 1, "map", id="message"),
        pytest.param("size(a, b)", 1, "size(string)", id="wrong-number-of-arguments"),
    ],
)
def test_a_habit_of_another_language_is_refused_with_the_cel_for_it(source: str, column: int, hint: str) -> None:
    rejected = rejection(source)
    assert rejected.position == Position(1, column)
    assert hint in (rejected.hint or "")


@pytest.mark.parametrize(
    ("source", "position"),
    [
        pytest.param("", Position(1, 1), id="empty"),
        pytest.param(" \n ", Position(1, 1), id="blank"),
        pytest.param("(1", Position(1, 3), id="parenthesis-that-does-not-end"),
        pytest.param("1)", Position(1, 2), id="parenthesis-that-does-not-start"),
        pytest.param("[1, 2", Position(1, 6), id="list-that-does-not-end"),
        pytest.param('{"a" 1}', Position(1, 6), id="map-without-a-colon"),
        pytest.param("a.", Position(1, 3), id="dot-at-the-end"),
        pytest.param("a..b", Position(1, 3), id="two-dots"),
        pytest.param("a ? b", Position(1, 6), id="half-a-conditional"),
        pytest.param('"a" "b"', Position(1, 5), id="two-strings"),
        pytest.param("9223372036854775808", Position(1, 1), id="int-out-of-range"),
        pytest.param("18446744073709551616u", Position(1, 1), id="uint-out-of-range"),
        pytest.param("1e400", Position(1, 1), id="double-out-of-range"),
        pytest.param("a &&\n  b &&\n    )", Position(3, 5), id="on-the-third-line"),
        pytest.param('"\\ud800"', Position(1, 1), id="half-a-character"),
        pytest.param("a[null]", Position(1, 3), id="null-as-an-index"),
    ],
)
def test_what_is_not_cel_is_refused_at_its_place(source: str, position: Position) -> None:
    assert rejection(source).position == position


def test_the_explanation_shows_the_line_a_caret_and_the_hint() -> None:
    assert rejection("spec.ready &&\n  not spec.paused").explain() == (
        "line 2, column 7: the expression should end here, not spec\n"
        "    not spec.paused\n"
        "        ^\n"
        "hint: CEL writes ! for not"
    )


def test_an_expression_nested_deeper_than_the_limit_is_refused() -> None:
    compile_cel("(" * 50 + "1" + ")" * 50)
    assert "nested" in rejection("(" * 200 + "1" + ")" * 200).problem


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("(" * 20_000, id="parentheses"),
        pytest.param("[" * 20_000, id="lists"),
        pytest.param("!" * 20_000 + "(" * 2000, id="negations"),
        pytest.param("a" + ".b" * 20_000, id="fields"),
        pytest.param("(1 + " * 5000 + "1" + ")" * 5000, id="sums in parentheses"),
        pytest.param("a ? 1 : " * 10_000 + "1", id="conditionals"),
        pytest.param("xs.map(x, " * 5000 + "1" + ")" * 5000, id="comprehensions"),
        pytest.param("f(" * 5000 + ")" * 5000, id="calls"),
    ],
)
def test_nesting_of_any_shape_is_refused_and_never_overflows(source: str) -> None:
    assert "nested" in rejection(source).problem


def test_a_long_chain_of_operators_is_not_nesting() -> None:
    assert compile_cel(" && ".join(["a"] * 2000)).evaluate({"a": True}) is True
    assert compile_cel("1" + " + 1" * 20_000).evaluate({}) == 20_001


def test_an_expression_longer_than_the_limit_is_refused() -> None:
    assert "longer" in rejection("1" + " " * 100_000).problem
    assert "longer" in rejection("true", limits=Limits(source=3)).problem
