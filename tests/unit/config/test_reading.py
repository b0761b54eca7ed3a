"""YAML as the Go framework reads it, with the place of every value."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dispatcher.config.findings import Finding
from dispatcher.config.reading.composing import ScalarNode
from dispatcher.config.reading.documents import Document, child
from dispatcher.config.reading.parsing import parse, read_file
from dispatcher.config.reading.paths import shown
from dispatcher.config.reading.scalars import Scalar, plain, resolve


def read(text: str) -> Document:
    findings: list[Finding] = []
    document = parse(text, "f.yaml", findings)
    assert document is not None, findings
    return document


def refusal(text: str) -> Finding:
    findings: list[Finding] = []
    assert parse(text, "f.yaml", findings) is None
    return findings[0]


SCALARS = {
    "": None, "~": None, "null": None, "NULL": None, "nil": "nil",
    "true": True, "False": False, "yes": "yes", "on": "on", "y": "y", "tRUE": "tRUE",
    "0": 0, "-7": -7, "+7": 7, "1_000": 1000, "0x1A": 26, "0b101": 5, "0o17": 15, "017": 15, "08": 8.0, "-0x10": -16,
    "1.5": 1.5, ".5": 0.5, "1.": 1.0, "1e3": 1000.0, "-.inf": -math.inf, ".Inf": math.inf, "1.2.3": "1.2.3",
    "2020-01-01": "2020-01-01", "12:30:45": "12:30:45", "-": "-", ".": ".", "1_a": "1_a",
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), SCALARS.items(), ids=map(repr, SCALARS))
def test_an_unquoted_scalar_means_what_the_go_parser_makes_of_it(text: str, value: object) -> None:
    found = plain(resolve(text))
    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_a_number() -> None:
    found = resolve(".nan")
    assert isinstance(found, Scalar)
    assert math.isnan(found.value)


def test_a_scalar_keeps_the_text_it_was_written_as() -> None:
    data = read("version: 0.10\nmode: 0644\n").data
    assert (data["version"], data["version"].value) == ("0.10", 0.1)
    assert (data["mode"], data["mode"].value) == ("0644", 420)


def test_quoted_scalars_and_tagged_ones_are_texts() -> None:
    assert plain(read("a: '5'\nb: \"true\"\nc: |\n  7\nd: !!str 5\n").data) == {
        "a": "5",
        "b": "true",
        "c": "7\n",
        "d": "5",
    }


def test_only_the_first_document_counts_and_that_is_said() -> None:
    findings: list[Finding] = []
    document = parse("---\na: 1\n---\nb: 2\n", "f.yaml", findings)
    assert document is not None
    assert plain(document.data) == {"a": 1}
    assert [finding.rule for finding in findings] == ["more-documents"]


def test_anchors_aliases_and_merged_keys_work() -> None:
    text = "base: &base {a: 1, b: 2}\nsame: *base\nmore: {<<: *base, b: 3}\nboth: {<<: [*base, {c: 4}]}\n"
    assert plain(read(text).data) == {
        "base": {"a": 1, "b": 2},
        "same": {"a": 1, "b": 2},
        "more": {"a": 1, "b": 3},
        "both": {"a": 1, "b": 2, "c": 4},
    }
    assert str(read(text).place(("more", "a"))) == "f.yaml:1:17"


NOT_YAML = {
    "a: 1\na: 2\n": ("duplicate-key", 2, 1),
    "x:\n  b: 1\n  c: 2\n  b: 3\n": ("duplicate-key", 4, 3),
    "a: b: c\n": ("not-yaml", 1, 5),
    "a:\n\t- b\n": ("not-yaml", 2, 1),
    "a: [1, 2\n": ("not-yaml", 2, 1),
    "a: {{ .x }}\n": ("key-is-no-text", 1, 5),
    "a: *b\n": ("not-yaml", 1, 4),
    "a: &a [*a]\n": ("recursive-alias", 1, 4),
    "<<: 5\n": ("merge", 1, 5),
    "a: \x01\n": ("not-yaml", 1, 4),
    "[" * 5000: ("not-yaml", 1, 102),
}


@pytest.mark.parametrize(("text", "expected"), NOT_YAML.items(), ids=lambda value: repr(value)[:30])
def test_what_is_no_proper_yaml_is_refused_at_its_place(text: str, expected: tuple[str, int, int]) -> None:
    finding = refusal(text)
    assert (finding.rule, finding.place.line, finding.place.column) == expected


def test_tabs_and_unquoted_templates_have_a_hint() -> None:
    assert "spaces" in refusal("a:\n\t- b\n").hint
    assert "quotes" in refusal("a: {{ .x }}\n").hint


def test_aliases_that_multiply_a_file_are_refused_quickly() -> None:
    rows = ["a0: &a0 [1]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    assert "too large" in refusal("\n".join(rows)).message


def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe9\n")
    for name, problem in (
        ("missing.yaml", "No such file"),
        ("latin.yaml", "not text in UTF-8"),
        (".", "Is a directory"),
        ("a\0b", "cannot be read: embedded null byte"),
        ("/dev/zero", "larger than 8 MiB"),
    ):
        findings: list[Finding] = []
        assert read_file(tmp_path / name, findings) is None
        assert problem in findings[0].message


PLACES: dict[tuple[str | int, ...], tuple[int, int]] = {
    ("a", "b"): (2, 6),
    ("list", 1): (6, 5),
    ("list", 1, "x"): (6, 8),
    ("flow", "k", 0): (7, 12),
    ("missing",): (1, 1),
    ("a", "missing", "deeper"): (2, 3),
}
PLACED = """\
a:
  b: 1
  # a comment
list:
  - one
  - x: 2
flow: {k: [v]}
"""


@pytest.mark.parametrize(("path", "place"), PLACES.items(), ids=[shown(path) for path in PLACES])
def test_every_value_has_a_place(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    found = read(PLACED).place(path)
    assert (found.line, found.column) == place


STYLES = {
    "plain": "e: abc == defX\n",
    "single quotes": "e: 'a''b == X'\n",
    "double quotes": 'e: "a\\"b\\n\\x41 == X"\n',
    "double quotes over lines": 'e: "abc ==\n   X"\n',
    "a block": "e: |\n  abc\n\n    == X\n",
    "a block with a header": "e: |2-  # why\n    abc\n    == X\n",
    "a folded block": "e: >\n  abc\n  == X\n\n  more\n",
    "plain over lines": "e: abc\n  == X\n",
    "other letters": "e: 'é日 == X'\n",
}


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES)
def test_a_place_inside_a_text_is_found_whatever_its_style(text: str) -> None:
    document = read(text)
    value = str(document.data["e"])
    place = document.place_in(("e",), value.index("X"))
    assert document.line(place.line)[place.column - 1] == "X"


@given(st.text(alphabet="ab{}=.\n \"'\\#:-\t", max_size=40), st.sampled_from(["'", '"', "|"]))
def test_every_visible_character_of_a_value_is_found_again(value: str, style: str) -> None:
    if style == "|":
        lines = value.strip().replace("\t", " ").split("\n")
        text = "e: |\n" + "".join(f"  {line}\n" if line.strip() else "\n" for line in lines)
    elif style == "'":
        text = f"e: '{value.strip().replace(chr(10), ' ').replace(chr(9), ' ').replace(chr(39), chr(39) * 2)}'\n"
    else:
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        text = f'e: "{escaped}"\n'
    document = read(text)
    node = child(document.root, "e")[1]
    assert isinstance(node, ScalarNode)
    for offset, character in enumerate(node.value):
        if not character.isspace():
            place = document.place_in(("e",), offset)
            found = document.line(place.line)[place.column - 1 :]
            assert found[0] == character or found.startswith("\\")


def test_a_path_is_shown_as_the_go_framework_shows_it() -> None:
    assert shown(("preconditions", 0, "api_call", "url")) == "preconditions[0].api_call.url"
    assert shown(("labels", "hyperfleet.io/generation")) == 'labels["hyperfleet.io/generation"]'
