"""What a compiled template is and what it takes: plain values in, text out, nothing of Python within reach.

How each action and function behaves is held to Go's answers in tests/conformance.
"""

from collections import ChainMap, UserDict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from shared.languages.errors import EvaluationError
from shared.languages.gotemplate import compile_template


def render(source: str, **variables: Any) -> str:
    return compile_template(source).evaluate(variables)


def test_a_text_without_actions_is_itself_whatever_it_looks_like() -> None:
    source = 'a: "b" }} {% if %} ${x} %d \\ {'
    assert render(source) == source


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1_000_000, "1000000"),
        (1_234_567, "1234567"),
        (2**63 - 1, "9223372036854775807"),
        (-(2**63), "-9223372036854775808"),
        (10**30, "1" + "0" * 30),
        (1_000_000.0, "1e+06"),
    ],
)
def test_an_integer_of_a_document_is_written_with_all_its_digits(value: float, text: str) -> None:
    assert render("{{ .x }} {{ .l }}", x=value, l=[value]) == f"{text} [{text}]"


def test_a_program_knows_its_source_and_the_functions_it_calls() -> None:
    program = compile_template('{{ if eq .a "x" }}{{ .b | lower }}{{ print (len .c) }}{{ end }}')
    assert program.source.startswith("{{ if")
    assert program.functions == {"eq", "lower", "print", "len"}


def test_one_program_serves_many_renderings_at_once() -> None:
    program = compile_template("{{ $x := .n }}{{ range 2 }}{{ $x = print $x .}}{{ end }}{{ $x }}{{ .inner.text }}")

    class RendersWhenRead(UserDict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            return program.evaluate({"n": "b", "inner": {"text": "!"}}) if key == "text" else default

    assert program.evaluate({"n": "a", "inner": RendersWhenRead()}) == "a01b01!"
    assert program.evaluate({"n": "c", "inner": {"text": "."}}) == "c01."


@pytest.mark.parametrize(
    "variables",
    [{"m": {"k": [1, 2]}}, ChainMap({"m": {"k": (1, 2)}}), {"m": UserDict({"k": [1, 2]})}],
    ids=["dict and list", "other mapping and tuple", "mapping inside"],
)
def test_any_mapping_is_a_map_and_a_tuple_is_a_list(variables: Mapping[str, Any]) -> None:
    source = "{{ .m.k }} {{ index .m.k 1 }} {{ range .m.k }}{{ . }}{{ end }} {{ len .m }} {{ .m }} {{ slice .m.k 1 }}"
    assert compile_template(source).evaluate(variables) == "[1 2] 2 12 1 map[k:[1 2]] [2]"


def test_variables_that_are_not_read_are_not_touched() -> None:
    class OnlyA(Mapping[str, Any]):
        def __getitem__(self, key: str) -> Any:
            if key != "a":
                pytest.fail(f"{key} was read")
            return "x"

        def __iter__(self) -> Iterator[str]:
            pytest.fail("all keys were read")

        def __len__(self) -> int:
            raise AssertionError("the keys were counted")

    assert compile_template("{{ .a }}{{ with .a }}{{ $.a }}{{ end }}").evaluate(OnlyA()) == "xx"


class Secretive:
    secret = "never"

    def leak(self) -> str:
        return self.secret


@pytest.mark.parametrize(
    "source",
    [
        "{{ .x.secret }}",
        "{{ .x.leak }}",
        "{{ .x }}",
        "{{ print .x }}",
        "{{ printf `%v` .x }}",
        "{{ index .x 0 }}",
        "{{ len .x }}",
        "{{ range .x }}{{ end }}",
        "{{ if .x }}{{ end }}",
        "{{ with .x }}{{ end }}",
        "{{ range .l }}{{ . }}{{ end }}",
        "{{ .l }}",
        "{{ eq .x .x }}",
        "{{ and .x 1 }}",
        "{{ call .x }}",
        "{{ .x | lower }}",
        "{{ .x | html }}",
        "{{ .m.__class__ }}",
        "{{ .m.items }}",
        "{{ .l.append }}",
        "{{ .s.upper }}",
        "{{ .s.format }}",
        "{{ .n.real }}",
        "{{ .d.year }}",
        "{{ (index .l 0).secret }}",
        "{{ index .m `__class__` | len }}",
        "{{ .odd }}",
        "{{ range .odd }}{{ end }}",
    ],
)
def test_nothing_of_a_python_object_can_be_reached(source: str) -> None:
    variables = {
        "x": Secretive(),
        "l": [Secretive()],
        "m": {"k": 1},
        "s": "text",
        "n": 5,
        "d": datetime(2026, 3, 4, tzinfo=UTC),
        "odd": {1: "a", "b": 2},
    }
    with pytest.raises(EvaluationError) as refused:
        compile_template(source).evaluate(variables)
    assert "never" not in refused.value.explain()
    assert "object at" not in refused.value.explain() + refused.value.met


def test_now_comes_from_the_clock_of_the_rendering() -> None:
    program = compile_template('{{ now | date "15:04:05.000 Z07:00 MST" }}')
    instant = datetime(2026, 3, 4, 5, 6, 7, 80_000, tzinfo=UTC)
    assert program.evaluate({}, clock=lambda: instant) == "05:06:07.080 Z UTC"
    there = instant.astimezone(timezone(timedelta(hours=-3, minutes=-30)))
    assert program.evaluate({}, clock=lambda: there) == "01:36:07.080 -03:30 -0330"
    assert program.evaluate({}).endswith(" Z UTC")


def test_halves_of_a_character_become_whole_again_and_a_lonely_half_is_replaced() -> None:
    assert render("{{ slice .x 0 1 }}{{ slice .x 1 2 }}", x="é") == "é"
    assert render("{{ slice .x 0 1 }}", x="é") == "\ufffd"
    assert render("{{ .x }}{{ len .x }}{{ quote .x }}{{ printf `%x` .x }}", x="\ud800").encode()


def test_a_block_manifest_is_rendered_as_the_guide_shows() -> None:
    source = """data:
  {{ if eq .platformType "gcp" -}}
  tier: "cloud"
  {{- else -}}
  tier: "onprem"
  {{- end }}
  {{- range $i, $subnet := .subnets }}
  subnet_{{ $subnet.id }}_name: "{{ $subnet.name | lower }}"
  {{- end }}
"""
    text = render(source, platformType="gcp", subnets=[{"id": 1, "name": "A"}, {"id": 2, "name": "B"}])
    assert text == 'data:\n  tier: "cloud"\n  subnet_1_name: "a"\n  subnet_2_name: "b"\n'


@pytest.mark.parametrize(
    ("source", "variables", "rendered"),
    [
        ("zone-{{ .id }}", {"id": "c1"}, "zone-c1"),
        ("{{ .id }}{{ .n }}", {"id": "c1", "n": 5}, "c15"),
        ("{{ .n }}", {"n": True}, "true"),
        ("{{ .n }}", {"n": 2.5}, "2.5"),
        ("{{ .n }}", {"n": None}, "<no value>"),
        ("{{ .n }}", {"n": [1, "a"]}, "[1 a]"),
        ("{{ .n }}", {"n": 2**63 - 1}, "9223372036854775807"),
        ("{{- .id -}} x", {"id": "c1"}, "c1x"),
    ],
)
def test_text_and_variables_alone_give_what_every_other_template_gives(
    source: str, variables: dict[str, Any], rendered: str
) -> None:
    same = f"{{{{ if true }}}}{source}{{{{ end }}}}"

    assert compile_template(source).evaluate(variables) == compile_template(same).evaluate(variables) == rendered


def test_a_variable_that_is_missing_is_an_error_in_the_plainest_template() -> None:
    with pytest.raises(EvaluationError, match="has no key 'id'"):
        compile_template("zone-{{ .id }}").evaluate({})
