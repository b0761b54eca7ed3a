"""Label selectors: Kubernetes' meaning, and searches that leave out nothing that matches."""

import json
import re
import time
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.errors import Invalid
from shared.maestro.works.selectors import Requirement, Selector

PROPERTY = settings(max_examples=100, deadline=None)

KEYS = st.sampled_from(["app", "tier", "in", "notin", "hyperfleet.io/cluster-id", "A_b.c-9"])
VALUES = st.sampled_from(["", "a", "b", "web", "1.2", "A_b-c"])
LABELS = st.dictionaries(KEYS, VALUES, max_size=4)
SPACES = st.sampled_from(["", " ", "  ", "\t"])
# One term as text, beside its meaning.
Term = tuple[str, str, list[str]]
TERMS: st.SearchStrategy[Term] = st.one_of(
    st.tuples(KEYS, st.sampled_from(["=", "==", "!=", "in", "notin"]), st.lists(VALUES, min_size=1, max_size=3)),
    st.tuples(KEYS, st.sampled_from(["exists", "absent"]), st.builds(list)),
)


def written(term: Term, space: str) -> str:
    key, operator, values = term
    match operator:
        case "in" | "notin":
            return f"{space}{key} {operator} {space}({space}{f'{space},{space}'.join(values)}{space}){space}"
        case "exists":
            return f"{space}{key}{space}"
        case "absent":
            return f"{space}!{space}{key}{space}"
        case _:
            return f"{space}{key}{space}{operator}{space}{values[0]}{space}"


def holds(term: Term, labels: Mapping[str, str]) -> bool:
    key, operator, values = term
    match operator:
        case "in":
            return labels.get(key) in values
        case "notin":
            return labels.get(key) not in values
        case "exists":
            return key in labels
        case "absent":
            return key not in labels
        case "!=":
            return labels.get(key) != values[0]
        case _:
            return labels.get(key) == values[0]


@PROPERTY
@given(st.lists(TERMS, max_size=4), SPACES, LABELS)
def test_a_selector_matches_exactly_what_its_terms_say(terms: list[Term], space: str, labels: dict[str, str]) -> None:
    selector = Selector.parse(",".join(written(term, space) for term in terms))
    assert selector.matches(labels) is all(holds(term, labels) for term in terms)


@PROPERTY
@given(st.lists(TERMS, max_size=4), LABELS)
def test_the_search_leaves_out_nothing_that_matches(terms: list[Term], labels: dict[str, str]) -> None:
    selector = Selector.parse(",".join(written(term, "") for term in terms))
    if selector.matches(labels):
        assert all(found_by_maestro(term, labels) for term in selector.search_terms())


def found_by_maestro(term: str, labels: Mapping[str, str]) -> bool:
    """What the server's SQL makes of the two forms that are sent."""
    if match := re.fullmatch(r"payload->'metadata'->'labels'@>'(\{.*\})'", term):
        return all(labels.get(key) == value for key, value in json.loads(match[1]).items())
    match = re.fullmatch(r"payload->'metadata'->'labels'->>'([^']+)'in\(('[^']*'(?:,'[^']*')*)\)", term)
    assert match is not None, term
    return labels.get(match[1]) in [value.strip("'") for value in match[2].split(",")]


@PROPERTY
@given(st.text("abzAZ019-_./=!,() \tinot'\"\\", max_size=30))
def test_any_text_is_a_selector_or_invalid_and_never_a_crash(text: str) -> None:
    try:
        selector = Selector.parse(text)
    except Invalid:
        return
    for term in selector.search_terms():
        assert found_by_maestro(term, {}) in (True, False), "a search must be well formed"


@pytest.mark.parametrize(
    "text",
    [
        "=",
        "a=b c",
        "a==b=c",
        "a,,b",
        ",a",
        "a=b,",
        "a,",
        "!",
        "!a=b",
        "a in b",
        "a in (b",
        "a in b)",
        "a in (b c)",
        "a in ((b))",
        "a in (it's)",
        "a=it's",
        "a='b'",
        "-a",
        "a/",
        "/a",
        "a/b/c",
        "A.b/c",
        "a=-b",
        "a=b-",
        "a>1",
        "ä=b",
    ],
)
def test_what_is_no_selector_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(Invalid, match="label selector") as refusal:
        Selector.parse(text)
    assert repr(text) in str(refusal.value)


@pytest.mark.parametrize(
    "hostile", ["a in (" + ",   " * 40 + "!", "a" * 50_000 + "!", "a=b," * 5_000 + "!", " " * 50_000 + "!"]
)
def test_no_text_takes_long_to_refuse(hostile: str) -> None:
    started = time.process_time()
    with pytest.raises(Invalid):
        Selector.parse(hostile)
    assert time.process_time() - started < 2.0


@pytest.mark.parametrize("nothing", ["", "  ", None, {}], ids=repr)
def test_nothing_selects_everything(nothing: str | dict[str, str] | None) -> None:
    selector = Selector.of(nothing)
    assert selector.matches({})
    assert selector.matches({"a": "b"})
    assert selector.search_terms() == []


def test_labels_are_a_selector_too() -> None:
    selector = Selector.of({"app": "web", "hyperfleet.io/cluster-id": "c1"})
    assert selector == Selector.parse("app=web,hyperfleet.io/cluster-id=c1")


@pytest.mark.parametrize("labels", [{"a": "b,c=d"}, {"a": "it's"}, {"a,b": "c"}, {"a": "b,!c"}, {"": "b"}], ids=repr)
def test_a_label_cannot_smuggle_in_another_term(labels: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        Selector.of(labels)


def test_a_selector_stays_itself() -> None:
    selector = Selector((Requirement("a", None),))
    assert Selector.of(selector) is selector


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("app=web", ["payload->'metadata'->'labels'@>'{\"app\": \"web\"}'"]),
        ("app in (b, a)", ["payload->'metadata'->'labels'->>'app'in('a','b')"]),
        ("app!=web", []),
        ("app notin (a)", []),
        ("app", []),
        ("!app", []),
    ],
)
def test_only_what_means_the_same_on_the_server_is_searched_for_there(text: str, terms: list[str]) -> None:
    assert Selector.parse(text).search_terms() == terms
