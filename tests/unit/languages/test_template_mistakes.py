"""Errors for an author: the place, the problem and, where the mistake is a common one, what was probably meant."""

from typing import Any, NamedTuple

import pytest

from shared.languages.errors import EvaluationError, Position, Rejected
from shared.languages.gotemplate import compile_template

VARIABLES = ("clusterId", "name", "items", "count")

REFUSED = [
    ("{{ .name", (1, 1), "unclosed action", "}}"),
    ('{{ "abc }}', (1, 4), "unterminated quoted string", None),
    ("{{ `abc }}", (1, 4), "unterminated raw string", None),
    ("{{ 'abc' }}", (1, 4), "malformed character constant", "double quotes"),
    ("{{ (print 1 }}", (1, 4), "unclosed (", None),
    ("{{ print 1) }}", (1, 11), "unexpected )", None),
    ("{{/* never ends", (1, 3), "unclosed comment", "/*"),
    ("{{ /* c */ }}", (1, 4), "unexpected '/'", "comment"),
    ("a\n{{ if .name }}\nb", (2, 4), "'if' is never closed", "{{ end }}"),
    ("{{ range .items }}{{ if .x }}{{ end }}", (1, 4), "'range' is never closed", "{{ end }}"),
    ("x {{ end }}", (1, 6), "unexpected {{ end }}", "no open block"),
    ("{{ if .name }}{{ else }}\n{{ else }}{{ end }}", (2, 4), "a second {{ else }}", None),
    ("{{ if .name }}{{ define `x` }}{{ end }}{{ end }}", (1, 18), "unexpected {{ define }}", "outside"),
    ("{{ break }}", (1, 4), "outside of a range", None),
    ("{{ uper .name }}", (1, 4), "function 'uper' is not defined", "did you mean upper?"),
    ("{{ clusterId }}", (1, 4), "function 'clusterId' is not defined", "{{ .clusterId }}"),
    ("{{ whatever }}", (1, 4), "function 'whatever' is not defined", "{{ .whatever }}"),
    ("{{ toYaml .items }}", (1, 4), "function 'toYaml' is not defined", "sprig"),
    ("{{ if .name }}a{{ elif }}b{{ end }}", (1, 19), "function 'elif' is not defined", "{{ else if … }}"),
    ("{{ for x in .items }}", (1, 4), "function 'for' is not defined", "{{ range"),
    ("{% if name %}{{ endif }}", (1, 17), "function 'endif' is not defined", "{% … %} does not exist"),
    ("{% if name %}{{ end }}", (1, 17), "unexpected {{ end }}", "{% … %} does not exist"),
    ("{{ None }}", (1, 4), "function 'None' is not defined", "nil"),
    ("{{ $x = 1 }}", (1, 4), "undefined variable $x", "declared with :="),
    ("{{$x=1}}", (1, 5), "unexpected character '='", "spaces around"),
    ("{{ $subnet := .name }}{{ $subnt }}", (1, 26), "undefined variable $subnt", "did you mean $subnet?"),
    ("{{ range $i $v := .items }}{{ end }}", (1, 13), "unexpected '$v'", None),
    ("{{ range $a, $b, $c := .items }}{{ end }}", (1, 14), "too many variables", None),
    ('{{ .name == "a" }}', (1, 10), "unexpected '='", "eq"),
    ("{{ .name && .count }}", (1, 10), "unexpected '&'", "and"),
    ('{{ .name + "a" }}', (1, 10), "illegal number +", "print"),
    ("{{ .count > 1 }}", (1, 11), "unexpected '>'", "gt"),
    ("{{ .name ? 1 : 2 }}", (1, 10), "unexpected '?'", "{{ if"),
    ("{{ .items[0] }}", (1, 10), "unexpected character '['", "{{ index .items 0 }}"),
    ("{{ .my-key }}", (1, 7), "unexpected character '-'", "index"),
    ('{{ .name | default("x") }}', (1, 19), "unexpected '('", "after a space"),
    ("{{ .name | upper() }}", (1, 17), "unexpected '('", "after a space"),
    ('{{ .name | "x" }}', (1, 12), "only a function can stand behind |", "default"),
    ("{{ true.x }}", (1, 8), "unexpected . behind true", None),
    ("{{ 1x }}", (1, 4), "bad number", None),
    ("{{ 0x }}", (1, 4), "illegal number 0x", None),
    ('{{ "\\q" }}', (1, 4), "invalid escape", None),
    ("{{ }}", (1, 4), "missing value for the action", None),
    ("{{ if }}{{ end }}", (1, 7), "missing value for if", None),
    ("{{ template .name }}", (1, 13), "a name in quotes", None),
    ('{{ define "a" }}1{{ end }}{{ define "a" }}2{{ end }}', (1, 30), "defined twice", None),
    ("{{ é\u00a0 }}", (1, 5), "unexpected character '\\xa0'", None),
]


@pytest.mark.parametrize(("source", "place", "problem", "hint"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_means_nothing_is_refused_with_its_place_and_a_hint(
    source: str, place: tuple[int, int], problem: str, hint: str | None
) -> None:
    with pytest.raises(Rejected) as refused:
        compile_template(source, variables=VARIABLES)
    assert (refused.value.position, problem in refused.value.problem) == (Position(*place), True), (
        refused.value.explain()
    )
    assert hint is None or hint in str(refused.value.hint)


CERTAIN = [
    ("{{ .typo }}", 4, "unknown variable 'typo'", "the variables are clusterId, count, items, name"),
    ("{{ .clusterld }}", 4, "unknown variable 'clusterld'", "did you mean .clusterId?"),
    ("{{ $.nmae }}", 5, "unknown variable 'nmae'", "did you mean .name?"),
    ("{{ range .items }}{{ $.cluster }}{{ end }}", 23, "unknown variable 'cluster'", "clusterId"),
    ("{{ upper }}", 4, "upper takes 1 argument, got 0", None),
    ("{{ .name | upper .name }}", 12, "upper takes 1 argument, got 2", None),
    ("{{ printf }}", 4, "printf takes at least 1 argument, got 0", None),
    ("{{ lower 5 }}", 10, "lower needs a string, got int", "string"),
    ("{{ lower nil }}", 10, "lower needs a string, got nil", None),
    ('{{ date "2006" "now" }}', 16, "date needs a time, got string", "now"),
    ("{{ nil }}", 4, "nil is not a command", None),
    ("{{ .name .count }}", 4, ".name is not a function", None),
    ('{{ template "missing" . }}', 4, "template 'missing' is not defined", "define"),
    ('{{ define "header" }}{{ end }}{{ template "haeder" . }}', 34, "'haeder' is not defined", "'header'"),
    ("{{ now.Unix }}", 4, "no field or method Unix", "now | date"),
]


@pytest.mark.parametrize(("source", "column", "problem", "hint"), CERTAIN, ids=[row[0] for row in CERTAIN])
def test_what_can_only_fail_is_refused_when_the_variables_are_known(
    source: str, column: int, problem: str, hint: str | None
) -> None:
    with pytest.raises(Rejected) as refused:
        compile_template(source, variables=VARIABLES)
    assert (refused.value.position, problem in refused.value.problem) == (Position(1, column), True), str(refused.value)
    assert hint is None or hint in str(refused.value.hint)


@pytest.mark.parametrize("source", [row[0] for row in CERTAIN if "define" not in row[0]])
def test_the_same_fails_only_when_it_is_reached_if_they_are_not_known(source: str) -> None:
    program = compile_template("{{ if .go }}" + source + "{{ end }}")
    variables = {"name": "x", "count": 1, "items": [1]}
    assert program.evaluate({"go": False, **variables}) == ""
    with pytest.raises(EvaluationError):
        program.evaluate({"go": True, **variables})


def test_all_problems_of_a_template_are_listed_in_the_order_of_the_source() -> None:
    program = compile_template("{{ .b }}{{ upper }}\n{{ range .typo }}{{ .id }}{{ end }}{{ .name }}")
    assert [str(problem) for problem in program.problems(["name"])] == [
        "line 1, column 4: unknown variable 'b'",
        "line 1, column 12: upper takes 1 argument, got 0",
        "line 2, column 10: unknown variable 'typo'",
    ]
    assert program.problems(["name"])[0] is not program.problems(["name"])[0]


def test_an_explanation_shows_the_line_and_a_caret() -> None:
    with pytest.raises(Rejected) as refused:
        compile_template("name: {{ .name }}\nid:\t{{ .clusterld }}\n", variables=VARIABLES)
    assert refused.value.explain() == (
        "line 2, column 8: unknown variable 'clusterld'\n"
        "  id:\t{{ .clusterld }}\n"
        "     \t   ^\n"
        "hint: did you mean .clusterId?"
    )


class Failed(NamedTuple):
    source: str
    variables: dict[str, Any]
    column: int
    fragment: str
    problem: str
    met: str
    hint: str = ""


FAILED = [
    Failed("{{ .a.b.c }}", {"a": {"b": {"d": 1}}}, 8, ".a.b.c", "no key 'c'", "map with d", "index"),
    Failed("{{ .nmae }}", {"name": 1}, 4, ".nmae", "no key 'nmae'", "map with name", "did you mean name?"),
    Failed("{{ .a.b }}", {"a": "text"}, 6, ".a.b", "string has no field 'b'", "string 'text'"),
    Failed("{{ .a.b }}", {"a": None}, 6, ".a.b", "nil has no field 'b'", "nil"),
    Failed("{{ .a.b }}", {"a": [1]}, 6, ".a.b", "has no field 'b'", "list of 1", "index or range"),
    Failed("{{ .a.a }}", {"a": {}}, 6, ".a.a", "no key 'a'", "map with no keys"),
    Failed(
        "{{ range .l }}{{ .name }}{{ end }}",
        {"l": [{}], "name": "x"},
        18,
        ".name",
        "no key",
        "map with no keys",
        "write $.name",
    ),
    Failed("{{ lower .n }}", {"n": 5}, 4, "lower .n", "lower needs a string, got int64", "int64 5", "string"),
    Failed("{{ eq .s .n }}", {"s": "a", "n": 5}, 4, "eq .s .n", "cannot compare", "string 'a', int64 5", "convert"),
    Failed(
        "{{ lt .n 1.5 }}", {"n": 5}, 4, "lt .n 1.5", "cannot compare int64 5 with float64 1.5", "int64 5", "float64"
    ),
    Failed("{{ index .l 3 }}", {"l": [1]}, 4, "index .l 3", "out of range", "int 3"),
    Failed("{{ len .n }}", {"n": 5}, 4, "len .n", "has no length", "int64 5"),
    Failed("{{ range .s }}{{ end }}", {"s": "abc"}, 10, ".s", "range cannot go through", "string 'abc'"),
    Failed("{{ range $i, $x := .n }}{{ end }}", {"n": 2}, 10, "$i, $x := .n", "only one variable", "int64 2"),
    Failed("{{ call .s }}", {"s": "a"}, 4, "call .s", "nothing that can be called", "string 'a'"),
]


@pytest.mark.parametrize("case", FAILED, ids=[f"{case.source} {case.variables}" for case in FAILED])
def test_a_failure_shows_the_fragment_and_the_value_it_met(case: Failed) -> None:
    with pytest.raises(EvaluationError) as failed:
        compile_template(case.source).evaluate(case.variables)
    error = failed.value
    assert (error.position, error.fragment) == (Position(1, case.column), case.fragment)
    assert case.problem in error.problem
    assert case.met in error.met
    assert case.hint in str(error.hint)


def test_long_values_and_fragments_are_shortened() -> None:
    with pytest.raises(EvaluationError) as failed:
        compile_template("{{ len (int .x) | print " + "1 " * 100 + "}}").evaluate({"x": 5})
    assert len(failed.value.fragment) < 100
    with pytest.raises(EvaluationError) as failed:
        compile_template("{{ .s.x }}{{ .s }}").evaluate({"s": "x" * 10_000})
    assert len(failed.value.met) < 100
