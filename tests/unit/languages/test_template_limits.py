"""No template can eat the process: each of these is stopped, quickly, with an error that says by what."""

import time
from typing import Any

import pytest

from shared.languages.errors import LimitExceeded, Rejected
from shared.languages.gotemplate import compile_template

LAUGHS: Any = ["ha"] * 10
for _ in range(12):
    LAUGHS = [LAUGHS] * 10
NESTED: Any = []
for _ in range(50_000):
    NESTED = [NESTED]
LONG = "é" * 300_000

STOPPED: list[tuple[str, str, dict[str, Any], str]] = [
    ("a long loop", "{{ range 100000000 }}{{ end }}", {}, "steps"),
    ("loops in loops", "{{ range 900 }}{{ range 900 }}{{ range 900 }}x{{ end }}{{ end }}{{ end }}", {}, "steps"),
    ("a loop over a huge number", "{{ range .x }}{{ end }}", {"x": 10**30}, "steps"),
    ("a loop over a large map, left at once", "{{ range 1000 }}{{ range $.m }}{{ break }}{{ end }}{{ end }}", {"m": {str(i): i for i in range(5000)}}, "steps"),
    ("a template that calls itself", '{{ define "r" }}{{ template "r" . }}{{ end }}{{ template "r" . }}', {}, "levels"),
    ("templates that call each other", '{{ define "a" }}{{ template "b" . }}{{ end }}{{ define "b" }}{{ template "a" . }}{{ end }}{{ template "a" }}', {}, "levels"),
    ("a tree of calls", '{{ define "r" }}{{ if . }}{{ template "r" (slice . 1) }}{{ template "r" (slice . 1) }}{{ end }}{{ end }}{{ template "r" .x }}', {"x": "a" * 30}, "steps"),
    ("a text that doubles", '{{ $x := "0123456789" }}{{ range 100 }}{{ $x = print $x $x }}{{ end }}', {}, "steps|characters"),
    ("a replacement that multiplies", '{{ $x := printf "%10000d" 1 }}{{ replace $x "" $x }}', {}, "characters"),
    ("a wide number", '{{ printf "%9999999d" 1 }}', {}, "width"),
    ("many wide numbers", '{{ printf "%900000d%900000d%900000d%900000d%900000d" 1 2 3 4 5 }}', {}, "characters"),
    ("too much output", "{{ range 10000 }}0123456789{{ $.x }}{{ end }}", {"x": "y" * 1000}, "characters"),
    ("a value that shares its parts", "{{ .x }}", {"x": LAUGHS}, "pieces"),
    ("a value that shares its parts, printed", "{{ len (print .x) }}", {"x": LAUGHS}, "pieces"),
    ("a value without bottom", "{{ .x }}", {"x": NESTED}, "levels"),
    ("many verbs", "{{ range 100 }}{{ $y := printf $.x 1 }}{{ end }}", {"x": "%[1]d" * 2000}, "pieces|steps"),
    ("brackets without end", "{{ printf .x }}", {"x": "%[" * 100_000}, "pieces"),
    ("slow work again and again", "{{ range 100000 }}{{ $y := title $.x }}{{ end }}", {"x": LONG}, "steps"),
    ("quoting again and again", "{{ range 100000 }}{{ $y := quote $.x }}{{ end }}", {"x": LONG}, "steps"),
    ("comparing again and again", "{{ range 100000 }}{{ $y := eq $.x $.y }}{{ end }}", {"x": LONG + "a", "y": LONG + "b"}, "steps"),
    ("counting again and again", "{{ range 100000 }}{{ $y := len $.x }}{{ end }}", {"x": LONG}, "steps"),
    ("slicing again and again", "{{ range 100000 }}{{ $y := slice $.x 1 }}{{ end }}", {"x": [1] * 100_000}, "steps"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "variables", "limit"), [row[1:] for row in STOPPED], ids=[row[0] for row in STOPPED]
)
def test_an_evaluation_that_takes_too_much_is_stopped(source: str, variables: dict[str, Any], limit: str) -> None:
    program = compile_template(source)
    started = time.process_time()
    with pytest.raises(LimitExceeded, match=limit) as stopped:
        program.evaluate(variables)
    assert time.process_time() - started < 2
    assert stopped.value.fragment


REFUSED = [
    ("a long source", "{{ 1 }}" + "x" * 1024 * 1024, "characters"),
    ("many actions", "{{ 1 }}" * 10_000, "tokens"),
    ("a long pipeline", "{{ 1" + " | print" * 10_000 + " }}", "tokens"),
    ("many arguments", "{{ print " + "1 " * 20_000 + " }}", "tokens"),
    ("a long chain", "{{ " + ".a" * 30_000 + " }}", "tokens"),
    ("deep parentheses", "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "inside each other"),
    ("deep blocks", "{{ if 1 }}" * 5000 + "{{ end }}" * 5000, "inside each other"),
    ("blocks and parentheses", "{{ range .x }}" * 40 + "{{ " + "(" * 40 + "1" + ")" * 40 + " }}" + "{{ end }}" * 40, "inside each other"),
    ("many variables", "".join(f"{{{{ $v{i} := 1 }}}}" for i in range(1000)), "variables at once"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "limit"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_source_that_takes_too_much_is_refused(source: str, limit: str) -> None:
    started = time.process_time()
    with pytest.raises(Rejected, match=limit):
        compile_template(source)
    assert time.process_time() - started < 2


def test_what_is_reasonably_deep_and_long_still_works() -> None:
    assert compile_template("{{ if 1 }}" * 49 + "x" + "{{ end }}" * 49).evaluate({}) == "x"
    assert compile_template("{{ " + "(" * 49 + "1" + ")" * 49 + " }}").evaluate({}) == "1"
    counting = '{{ define "r" }}{{ if . }}.{{ template "r" (slice . 1) }}{{ end }}{{ end }}{{ template "r" .x }}'
    assert compile_template(counting).evaluate({"x": "a" * 45}) == "." * 45
    rows = [{"id": i, "name": f"n{i}"} for i in range(10_000)]
    text = compile_template("{{ range .x }}{{ .id }}: {{ .name | quote }}\n{{ end }}").evaluate({"x": rows})
    assert text.count("\n") == 10_000
    assert compile_template("{{ .x }}").evaluate({"x": "y" * 1_000_000}) == "y" * 1_000_000


def test_a_stack_that_is_almost_full_is_an_error_of_the_language() -> None:
    source = "{{ if 1 }}" * 40 + "{{ print (print (print .x)) }}" + "{{ end }}" * 40
    program = compile_template(source)

    def descend(levels: int) -> None:
        if levels:
            descend(levels - 1)
            return
        with pytest.raises(Rejected):
            compile_template(source)
        with pytest.raises(LimitExceeded):
            program.evaluate({"x": [[[[]]]]})

    descend(_free_levels() - 60)


def _free_levels(used: int = 0) -> int:
    try:
        return _free_levels(used + 1)
    except RecursionError:
        return used
