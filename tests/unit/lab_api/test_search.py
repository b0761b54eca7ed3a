"""The search language: whatever is typed, a search either finds or is refused."""

import contextlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.api.lists.search import matcher
from lab.api.problems import Problem
from lab.api.rules.values import Owner, Resource

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CLUSTER = Resource(
    id="id",
    kind="NodePool",
    name="it's",
    href="/href",
    created_time=NOW,
    updated_time=NOW,
    created_by="somebody",
    updated_by="somebody",
    spec={"a": {"b": 3, "on": True}},
    labels={"env": "dev", "example.com/team": "x"},
    owner=Owner(id="owner", kind="Cluster", href="/owner"),
)
FIELDS = ["name", "labels.env", "generation", "status.conditions.Reconciled", "created_time"]
OPERATORS = ["=", "!=", "<", ">=", "in", "is", "null", "not", "and", "or", "(", ")", ","]
LITERALS = ["'x'", "'True'", "3", "-1.5", "'2026-01-01T00:00:00Z'", "'", "\\"]
FRAGMENTS = st.sampled_from([*FIELDS, *OPERATORS, *LITERALS])


@pytest.mark.parametrize(
    ("search", "found"),
    [
        (r"name = 'it\'s'", True),
        ("labels.example.com/team = 'x'", True),
        ("labels.nothing = 'x'", False),
        ("labels.nothing != 'x'", False),
        ("spec.a.b = '3'", True),
        ("spec.a.b = 3", True),
        ("spec.a.on = 'true'", True),
        ("spec.a.c.d = 'x'", False),
        ("owner_id = 'owner' and kind = 'NodePool'", True),
        ("name not in ('a', 'b')", True),
        ("labels.nothing not in ('a')", False),
        ("created_time >= '2026-01-01T00:00:00Z'", True),
        ("generation=1and kind='NodePool'", True),
        ("generation in (1, 2)", True),
        ("id = 'x' or id = 'id' and name = 'x'", False),
    ],
)
def test_a_search(search: str, found: bool) -> None:  # noqa: FBT001 - a column of the table
    assert matcher(search)(CLUSTER) is found


@pytest.mark.parametrize(
    "search", ["created_time > 'yesterday'", "generation = 'many'", "nothing = 1", "and = 1", "a.b.c = 1"]
)
def test_a_search_that_cannot_match_anything_is_refused_before_it_is_tried(search: str) -> None:
    with pytest.raises(Problem):
        matcher(search)


@given(st.lists(FRAGMENTS, max_size=12).map(" ".join) | st.text(max_size=60))
def test_every_text_is_a_search_or_a_problem(text: str) -> None:
    with contextlib.suppress(Problem):
        assert matcher(text)(CLUSTER) in {True, False}
