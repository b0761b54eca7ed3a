"""Untrusted JSON: what is refused and in which words of ours, and fields that are read strictly or leniently."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Invalid, Problem
from shared.untrusted_json import (
    Fields,
    as_objects,
    as_texts,
    as_whole_number,
    is_deeper_than,
    json_object,
    shown_json,
    whole_characters,
)

PYTHONS_OWN = ("codec", "sys.", "set_int_max", "Traceback", "compliant", "invalid literal", "<class", "None")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b" \n", "is empty", id="nothing"),
        pytest.param(b'{"a": \xff}', "byte 7 is not UTF-8 text", id="no UTF-8"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", "more than 400 digits", id="a number without end"),
        pytest.param(b'{"a": 1e999}', "1e999 is out of range", id="a number out of range"),
        pytest.param(b'{"a": NaN}', "NaN is not a JSON value", id="NaN"),
        pytest.param(b'{"a": "\\ud800"}', "half a surrogate pair", id="half a character"),
        pytest.param(b"[" * 60_000, "nested too deeply", id="brackets without end"),
        pytest.param(b'{"a":' * 70 + b"1" + b"}" * 70, "more than 64 levels", id="deeper than 64"),
        pytest.param(b"[1]", "found a list", id="a list"),
        pytest.param(b"null", "found null", id="null"),
        pytest.param(b'{"a": }', "line 1, column 7", id="a syntax error has its place"),
        pytest.param(b'{"a": "' + b"x" * 2**20 + b'"}', "too large", id="a megabyte"),
    ],
)
def test_what_is_refused_is_explained_in_our_own_words(content: bytes, reason: str) -> None:
    with pytest.raises(Invalid) as refused:
        json_object(content, "the file")
    assert reason in str(refused.value)
    assert str(refused.value).startswith("the file ")
    assert not [word for word in PYTHONS_OWN if word in str(refused.value)]


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        document = json_object(content, "the file")
    except Invalid:
        return
    assert json.loads(json.dumps(document, allow_nan=False)) == document


@pytest.mark.parametrize(("levels", "deeper"), [(1, False), (64, False), (65, True), (900, True)])
def test_the_depth_is_counted_in_objects_and_lists(levels: int, *, deeper: bool) -> None:
    document: Any = 1
    for level in range(levels):
        document = {"a": document} if level % 2 else [document, 2]
    assert is_deeper_than(64, document) is deeper


DOCUMENT: dict[str, Any] = {
    "text": "a",
    "empty": "",
    "number": 3.0,
    "zero": 0,
    "time": "2026-01-02T03:04:05Z",
    "list": [{}, 1],
    "labels": {"a": "b", "c": 1},
    "null": None,
}


@pytest.mark.parametrize(
    ("read", "problem"),
    [
        (lambda fields: fields.text("text"), None),
        (lambda fields: fields.text("missing"), None),
        (lambda fields: fields.text("null"), None),
        (lambda fields: fields.text("number"), "p.number: must be a string, not 3.0"),
        (lambda fields: fields.required_text("empty"), 'p.empty: must be a string that is not empty, not ""'),
        (lambda fields: fields.required_text("missing"), "p.missing: must be a string that is not empty, not null"),
        (lambda fields: fields.whole_number("number"), None),
        (lambda fields: fields.whole_number("missing"), None),
        (lambda fields: fields.whole_number("zero", least=1), "p.zero: must be a whole number from 1, not 0"),
        (lambda fields: fields.whole_number("null", required=True), "p.null: must be a whole number from 0, not null"),
        (lambda fields: fields.time("time"), None),
        (lambda fields: fields.time("text"), "p.text: 'a' is not an RFC 3339 time such as 2026-01-02T03:04:05Z"),
        (lambda fields: fields.object("labels"), None),
        (lambda fields: fields.object("list"), "p.list: must be an object, not a list"),
        (lambda fields: fields.object("missing", required=True), "p.missing: must be an object, not null"),
        (lambda fields: fields.texts("labels"), "p.labels.c: must be a string, not 1"),
        (lambda fields: fields.items("labels"), "p.labels: must be a list, not an object"),
        (lambda fields: fields.objects("list"), "p.list[1]: must be an object, not 1"),
    ],
)
def test_a_field_of_a_wrong_type_is_a_problem_with_its_place(read: Any, problem: str | None) -> None:
    problems: list[Problem] = []
    read(Fields(DOCUMENT, problems, "p"))
    assert [str(each) for each in problems] == ([problem] if problem else [])


def test_read_leniently_a_wrong_type_counts_as_absent() -> None:
    assert as_texts({"a": "b", "c": 1}) == {"a": "b"}
    assert as_texts([1]) == {}
    assert as_objects([{"a": 1}, 2, None]) == ({"a": 1},)
    values: list[Any] = ["7", 7, None, "x", [], float("inf")]
    assert [as_whole_number(each) for each in values] == [7, 7, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "value", [None, "x" * 500, 10**5000, {"a": 1}, [1], object(), float("nan")], ids=lambda v: str(type(v))
)
def test_a_shown_value_is_short_whatever_it_is(value: Any) -> None:
    assert 0 < len(shown_json(value)) < 80


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\ud800"', "\ufffd"),
        (r'"a\uDFFFb\udc80"', "a\ufffdb\ufffd"),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\ud83d\ud83d\ude00\ude00"', "\ufffd\U0001f600\ufffd"),
        (r'"\\ud800"', r"\ud800"),
        (r'"\\\ud800"', "\\\ufffd"),
        (r'{"\ud800": "\u00e9"}', {"\ufffd": "\u00e9"}),
        ('"plain"', "plain"),
    ],
)
def test_half_a_character_is_replaced_where_json_is_read(text: str, value: Any) -> None:
    assert json.loads(whole_characters(text)) == value
