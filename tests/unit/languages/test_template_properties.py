"""What holds for every text, every value and every source, tried on many.

`make soak` asks for many more than a normal run.
"""

import os
import random
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.languages.errors import EvaluationError, Rejected
from shared.languages.gotemplate import compile_structure, compile_template

FUZZED = 100_000 if os.environ.get("SOAK") else 3_000
many = settings(max_examples=20_000 if os.environ.get("SOAK") else 100, deadline=None)

names = st.from_regex(r"[a-z]{1,6}", fullmatch=True)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values = st.recursive(
    scalars, lambda inside: st.lists(inside, max_size=3) | st.dictionaries(names, inside, max_size=3), max_leaves=8
)
documents = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["plain", "{{ .v }}", "a {{ .v }} b", "{{ .v }}{{ .v }}"]),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(names, inside, max_size=3),
    max_leaves=12,
)


def text_of(value: Any) -> str:
    """A second, naive opinion on how Go writes a value."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float() if value != value:  # noqa: PLR0124  only a NaN differs from itself
            return "NaN"
        case float() if abs(value) == float("inf"):
            return "+Inf" if value > 0 else "-Inf"
        case float():
            return shortest(value)
        case list():
            return f"[{' '.join(map(text_of, value))}]"
        case dict():
            return f"map[{' '.join(f'{key}:{text_of(value[key])}' for key in sorted(value))}]"
    return str(value)


def shortest(value: float) -> str:
    exact = Decimal(repr(value)).normalize()
    if value == 0 or -4 <= exact.adjusted() < 6:
        return f"{exact:f}"
    mantissa, exponent = f"{exact:e}".split("e")
    return f"{mantissa}e{int(exponent):+03d}"


@many
@given(st.text().filter(lambda text: "{{" not in text))
def test_a_text_without_braces_renders_to_itself(text: str) -> None:
    program = compile_template(text)
    assert program.evaluate({}) == text
    assert not program.free_variables


@many
@given(st.text().filter(lambda text: "{{" not in text and not text.endswith("{")), st.text())
def test_text_around_an_action_is_kept(text: str, value: str) -> None:
    assert compile_template(f"{text}{{{{ .v }}}}{text}").evaluate({"v": value}) == text + value + text


@many
@given(st.text(st.characters(codec="utf-8", exclude_characters="\r`")), st.text())
def test_a_literal_means_its_text(raw: str, value: str) -> None:
    quoted = compile_template("{{ quote .v }}").evaluate({"v": value})
    assert compile_template(f"{{{{ {quoted} }}}}").evaluate({}) == value
    assert compile_template(f"{{{{ `{raw}` }}}}").evaluate({}) == raw


@many
@given(values)
def test_a_value_is_written_as_go_writes_it(value: Any) -> None:
    expected = "<no value>" if value is None else text_of(value)
    assert compile_template("{{ .v }}").evaluate({"v": value}) == expected
    assert compile_template('{{ printf "%v" .v }}').evaluate({"v": value}) == text_of(value)
    assert compile_template("{{ string .v }}").evaluate({"v": value}) == text_of(value)


@many
@given(st.dictionaries(names, values, min_size=1, max_size=4), st.data())
def test_every_place_of_the_variables_can_be_read(variables: dict[str, Any], data: st.DataObject) -> None:
    place: Any = variables
    path = ""
    while isinstance(place, dict) and place and (not path or data.draw(st.booleans())):
        key = data.draw(st.sampled_from(sorted(place)))
        path, place = f"{path}.{key}", place[key]
    program = compile_template(f"{{{{ {path} | printf `%v` }}}}", variables=variables)
    assert program.evaluate(variables) == text_of(place)
    assert program.free_paths == {tuple(path.split(".")[1:])}


@many
@given(st.dictionaries(names, st.text(max_size=3), max_size=6))
def test_a_map_is_walked_in_the_order_of_its_keys(entries: dict[str, str]) -> None:
    source = "{{ range $k, $v := .m }}{{ $k }}={{ $v }};{{ else }}none{{ end }}"
    expected = "".join(f"{key}={entries[key]};" for key in sorted(entries)) or "none"
    assert compile_template(source).evaluate({"m": entries}) == expected


def in_place(document: Any, value: str) -> Any:
    if isinstance(document, dict):
        return {key: in_place(inside, value) for key, inside in document.items()}
    if isinstance(document, list):
        return [in_place(inside, value) for inside in document]
    return document.replace("{{ .v }}", value) if isinstance(document, str) else document


@many
@given(documents, st.text())
def test_no_text_changes_the_structure_of_a_document(document: Any, value: str) -> None:
    assert compile_structure(document).render({"v": value}) == in_place(document, value)


PIECES = [
    "{{", "}}", "{{-", "-}}", " ", "\n", "|", "(", ")", ".", "$", ":=", "=", ",", '"', "`", "'", "-", "\\", "%", "é", "0", "1e3", "0x1p-2", "1i",
    "if", "else", "end", "range", "with", "define", "template", "block", "break", "continue", "nil", "true", '"t"', '"%v %d %q"', "/*", "*/",
    ".s", ".n", ".l", ".m", ".m.a", ".deep.x", "$x", "$i, $x := ", "print", "printf", "len", "index", "slice", "eq", "lt", "and", "or", "not",
    "lower", "title", "quote", "replace", "default", "int", "float64", "string", "now", "date", "html", "js", "urlquery", "call", "println",
]  # fmt: skip
SOURCES = [
    "{{ range $i, $x := .l }}{{ if eq $x 2 }}{{ break }}{{ else if $i }}{{ $x }}{{ end }}{{ else }}none{{ end }}",
    '{{ define "t" }}<{{ . }}>{{ template "t" (slice . 1) }}{{ end }}{{ template "t" .s }}',
    '{{ with $y := .m }}{{ .a }}{{ $y.b | printf "%05.2f|%-8q|%[1]T" }}{{ end }}{{ block "b" .n }}{{ . }}{{ end }}',
    '{{- now | date "Mon Jan _2 15:04:05.000 2006" -}} {{ (index .l 0) | print .s .f .deep | html | js | urlquery | title }}',
    '{{ $z := "x" }}{{ range 20 }}{{ $z = printf "%s%v" $z . }}{{ end }}{{ $z | replace "x" "" }}{{ and .t (or .nil .e) }}',
]
VARIABLES = {
    "s": "hello", "e": "", "n": 5, "f": 3.5, "t": True, "nil": None, "l": [1, 2, 3], "m": {"a": 1, "b": 2.0}, "deep": {"x": {"y": ["é"]}},
}  # fmt: skip


def mutated(source: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(source) + 1)
        cut = at + chance.choice([0, 0, 1, 2, 5])
        source = source[:at] + chance.choice([*PIECES, ""]) + source[cut:]
    return source


def any_source(chance: random.Random) -> str:
    if chance.random() < 0.5:
        return mutated(chance.choice(SOURCES), chance)
    words = "".join(chance.choice(PIECES) + chance.choice(["", " "]) for _ in range(chance.randint(1, 12)))
    return "{{ " + words + " }}" if chance.random() < 0.7 else words


def outcome(source: str) -> str:
    try:
        return compile_template(source).evaluate(VARIABLES)
    except (Rejected, EvaluationError) as error:
        return error.explain()


def seconds_for(source: str) -> float:
    started = time.process_time()
    outcome(source).encode()
    return time.process_time() - started


@pytest.mark.parametrize("part", range(4))
def test_any_source_is_refused_or_rendered_within_the_limits(part: int) -> None:
    chance = random.Random(part)
    for _ in range(FUZZED // 4):
        source = any_source(chance)
        # Python's own housekeeping may fall into one try of a long run, but not into all of them.
        assert any(seconds_for(source) < 1 for _ in range(3)), source
