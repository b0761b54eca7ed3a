"""The search language of the stand-in, without a server: SQL's logic, and both parsers against random searches."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.maestro.search.json_language import MAX_JOINS
from lab.maestro.search.matching import CONSUMERS, RESOURCES, matcher
from lab.maestro.search.terms import both, either, negated
from lab.maestro.storage.refusals import Refusal

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def record(**changes: Any) -> dict[str, Any]:
    known = {
        "id": "a",
        "name": "a",
        "source": "s",
        "consumer_name": "c",
        "version": 1,
        "type": "",
        "payload": {},
        "status": {},
        "created_at": NOW,
        "updated_at": NOW,
        "deleted_at": None,
    }
    return known | changes


def matches(search: str, candidate: Mapping[str, Any]) -> bool:
    return matcher(search, RESOURCES)(candidate)


@pytest.mark.parametrize(
    ("left", "right", "conjunction", "disjunction"),
    [
        (True, True, True, True),
        (True, False, False, True),
        (True, None, None, True),
        (False, False, False, False),
        (False, None, False, None),
        (None, None, None, None),
    ],
)
def test_null_is_neither_true_nor_false(
    *, left: bool | None, right: bool | None, conjunction: bool | None, disjunction: bool | None
) -> None:
    for one, other in ((left, right), (right, left)):
        assert both(lambda _, one=one: one, lambda _, other=other: other)({}) is conjunction  # type: ignore[misc]
        assert either(lambda _, one=one: one, lambda _, other=other: other)({}) is disjunction  # type: ignore[misc]
    assert negated(lambda _: None)({}) is None


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("a%", "abc", True),
        ("a%", "ba", False),
        ("_b_", "abc", True),
        ("_b_", "abcd", False),
        ("%b%", "line\nb", True),
        ("a.c", "abc", False),
        (r"a\%", "a%", True),
        (r"a\%", "ab", False),
        ("A%", "abc", False),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_like_knows_two_signs_and_an_escape(*, pattern: str, text: str, found: bool) -> None:
    assert matches(f"id like '{pattern}'", record(id=text)) is found
    assert matches(f"id ilike '{pattern.upper()}'", record(id=text.lower())) is matches(
        f"id like '{pattern.lower()}'", record(id=text.lower())
    )


@pytest.mark.parametrize(
    ("value", "wanted", "found"),
    [
        ({"a": 1, "b": 2}, '{"a":1}', True),
        ({"a": 1}, '{"a":1,"b":2}', False),
        ({"a": {"b": [1, 2]}}, '{"a":{"b":[2]}}', True),
        ({"a": None}, '{"a":null}', True),
        ({}, '{"a":null}', False),
        ({"a": True}, '{"a":1}', False),
        ({"a": 1}, '{"a":1.0}', True),
        ([1, [2]], "[[2]]", True),
        ([1, [2]], "[2]", False),
        ([1], "1", True),
        ([[1]], "1", False),
        ({"l": [1]}, '{"l":1}', False),
        ("a", '"a"', True),
        ("a", '["a"]', False),
        ([], "[]", True),
        ({}, "[]", False),
    ],
)
def test_containment_is_that_of_jsonb(*, value: Any, wanted: str, found: bool) -> None:
    assert matches(f"payload->'x'@>'{wanted}'", record(payload={"x": value})) is found


@pytest.mark.parametrize(
    "search", ["payload->'x'@>'{}'", "payload->'x'->'y'->>'z'='1'", "payload->'x'->'y'->>'z'<>'1'"]
)
@pytest.mark.parametrize("payload", [{}, {"x": None}, {"x": 5}, {"x": []}, {"x": {"y": {"z": None}}}], ids=str)
def test_what_is_not_there_is_neither_equal_nor_unequal(search: str, payload: Any) -> None:
    contained = search.endswith("'{}'") and isinstance(payload.get("x"), dict)
    assert matches(search, record(payload=payload)) is contained


def test_consumers_have_columns_of_their_own() -> None:
    found = matcher("name='a' and labels is null", CONSUMERS)
    assert found({"name": "a", "labels": None})
    with pytest.raises(Refusal, match=r"column consumers\.version does not exist"):
        matcher("version=1", CONSUMERS)
    with pytest.raises(Refusal, match="resources is not a related resource of Consumer"):
        matcher("resources.version=1", CONSUMERS)


@pytest.mark.parametrize("joins", [MAX_JOINS, MAX_JOINS + 1])
def test_a_json_search_has_at_most_ten_joins_and_a_plain_one_as_many_as_it_likes(joins: int) -> None:
    matcher(" and ".join(["id='a'"] * (joins + 1)), RESOURCES)
    json_search = " or ".join(["payload->'a'->>'b'='c'"] * (joins + 1))
    if joins > MAX_JOINS:
        with pytest.raises(Refusal, match="maximum number of permitted joins"):
            matcher(json_search, RESOURCES)
    else:
        matcher(json_search, RESOURCES)


COMPARISONS = st.tuples(st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), st.integers(0, 3))
PYTHON = {"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


@st.composite
def searches(draw: st.DrawFn, depth: int = 3) -> tuple[str, str]:
    """A search over `version`, and the same in Python."""
    shape = draw(st.sampled_from(["leaf", "and", "or", "not"] if depth else ["leaf"]))
    if shape == "leaf":
        symbol, number = draw(COMPARISONS)
        return f"version {symbol} {number}", f"(version {PYTHON[symbol]} {number})"
    search, code = draw(searches(depth - 1))
    if shape == "not":
        return f"not ({search})", f"(not {code})"
    other_search, other_code = draw(searches(depth - 1))
    return f"({search}) {shape.upper()} ({other_search})", f"({code} {shape} {other_code})"


@given(searches(), st.integers(0, 3))
def test_a_search_means_what_the_same_condition_means_in_python(search: tuple[str, str], version: int) -> None:
    text, code = search
    assert matches(text, record(version=version)) is eval(code, {"version": version})


@given(st.lists(st.sampled_from(["version=1", "version=2", "id='a'", "id='b'"]), min_size=1, max_size=4), st.data())
def test_and_binds_closer_than_or_in_both_languages(leaves: list[str], data: st.DataObject) -> None:
    joins = [data.draw(st.sampled_from(["and", "or"])) for _ in leaves[1:]]
    text = " ".join(part for pair in zip(leaves, [*joins, ""], strict=True) for part in pair)
    code = text.replace("=", "==")
    candidate = record()

    expected = eval(code, {"version": 1, "id": "a"})
    assert matches(text, candidate) is expected
    always = "payload->'x'->>'y'='z'"
    assert matches(f"({text}) and {always}", record(payload={"x": {"y": "z"}})) is expected


WORDS = st.sampled_from(
    [
        *("id", "version", "payload", "nocol", "a.b", "and", "or", "not", "in", "like", "is", "null", "between"),
        *("=", "<>", "!=", ">", "<", "->", "->>", "@>", "(", ")", ",", "'x'", "'it''s'", "'", "5", "-1", "1e3"),
        *("'{}'", "\\", '"', "ü", "'ü'", ".", "?"),
    ]
)


@given(st.lists(WORDS, max_size=12), st.sampled_from(["", " "]))
def test_nonsense_is_refused_and_never_breaks_anything(parts: list[str], space: str) -> None:
    try:
        answer: object = matcher(space.join(parts), RESOURCES)(record())
    except Refusal as refusal:
        answer = refusal.http_status
    assert answer in (True, False, 400, 500)
