"""Reports as bytes: every body is read or refused, and the identifiers made beside them sort by time."""

import contextlib
import json
import uuid
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from lab.api.identifiers import uuid7
from lab.api.problems import Problem
from lab.api.rules.evaluation import Discard, Keep, evaluate
from lab.api.rules.reports import read_report

NOW = datetime(2026, 1, 1, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
MEMBERS = st.sampled_from(["adapter", "observed_generation", "observed_time", "conditions", "data", "metadata"])
CONDITIONS = st.lists(
    st.fixed_dictionaries({"type": st.text() | JSON, "status": st.sampled_from(["True", "False", "Unknown", "x"])}),
    max_size=4,
)


@given(st.binary() | JSON.map(lambda document: json.dumps(document).encode()))
def test_every_body_is_a_report_or_a_problem(content: bytes) -> None:
    with contextlib.suppress(Problem):
        assert read_report(content, NOW).adapter


@given(st.dictionaries(MEMBERS, JSON | CONDITIONS), st.integers(min_value=1, max_value=3))
def test_every_report_is_kept_or_discarded_or_a_problem(members: dict[str, object], generation: int) -> None:
    document = {"adapter": "one", "observed_generation": 1, **members}
    with contextlib.suppress(Problem):
        report = read_report(json.dumps(document).encode(), NOW)
        assert isinstance(evaluate(report, generation, None), Keep | Discard)


@given(st.integers(min_value=0, max_value=2**40), st.integers(min_value=1, max_value=10**6))
def test_identifiers_are_uuids_of_version_7_and_sort_by_time(milliseconds: int, later: int) -> None:
    moment = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=milliseconds)
    first, second = uuid7(moment), uuid7(moment + timedelta(milliseconds=later))

    assert uuid.UUID(first).version == 7
    assert uuid.UUID(first).variant == uuid.RFC_4122
    assert first < second
