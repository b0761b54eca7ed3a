"""The published schema of the report says what the reader does."""

import json
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from shared.errors import InvalidReport
from shared.model.report import AdapterReport, schema

VALIDATOR = Draft202012Validator(schema())
TEXTS = st.text(st.characters(codec="utf-8"), max_size=10)
SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
)
OBJECTS = st.dictionaries(TEXTS, SCALARS | st.lists(SCALARS, max_size=2), max_size=3)


def test_it_is_a_valid_schema() -> None:
    Draft202012Validator.check_schema(schema())


CONDITION = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["Available", "Applied", "a.b/C", "", "a b", "A/b", "x" * 317, 5]),
        "status": st.sampled_from(["True", "False", "Unknown", "true", "", True, None]),
    },
    optional={
        "reason": st.sampled_from(["R", "", None, 5]),
        "message": st.sampled_from(["m", None, []]),
        "lastTransitionTime": st.sampled_from(
            ["2026-01-02T03:04:05Z", "2026-01-02 03:04:05.123456789+02:00", None, "now", 5, "٢026-01-02T03:04:05Z"]
        ),
        "observedGeneration": st.sampled_from([0, 2**63 - 1, 2**63, -1, 3.0, 1.5, True, "1", None]),
    },
)
GOOD_CONDITION = st.fixed_dictionaries(
    {"type": st.sampled_from(["Available", "Applied", "a.b/C"]), "status": st.sampled_from(["True", "False"])}
)
DOCUMENT = st.fixed_dictionaries(
    {},
    optional={
        "conditions": st.none()
        | st.lists(GOOD_CONDITION, max_size=2)
        | st.lists(GOOD_CONDITION | CONDITION | SCALARS, max_size=3)
        | SCALARS,
        "data": st.sampled_from([{}, {"a": 1}, None]) | SCALARS,
        "observedGeneration": st.sampled_from([None, 0, 3, 3.0, 2**63, -1, "1", 1.5, False]),
        "status": st.sampled_from(["success", "failure", "Applied", "Failed", "", None, 5, ["success"]]),
        "reason": SCALARS,
        "message": SCALARS,
        "details": SCALARS | OBJECTS,
        "consumer": st.sampled_from(["mgmt-01", "", None, 5]),
        "name": SCALARS,
    },
)


@settings(max_examples=300, deadline=None)
@given(DOCUMENT)
def test_it_accepts_exactly_what_the_reader_accepts(document: dict[str, Any]) -> None:
    listed = document.get("conditions")
    types = [each.get("type") for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    assume(len(types) == len(set(types)))  # that types are unique is the one rule a schema cannot say
    try:
        AdapterReport.parse(json.dumps(document).encode())
        accepted = True
    except InvalidReport:
        accepted = False
    assert VALIDATOR.is_valid(document) is accepted
