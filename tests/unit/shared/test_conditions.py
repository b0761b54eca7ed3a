"""Conditions: the transition rule, and the two wire forms."""

import contextlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.errors import Invalid
from shared.model.conditions import MAX_TYPE_LENGTH, Condition, Status, find

PROPERTY = settings(max_examples=60, deadline=None)
EARLIER = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NOW = EARLIER + timedelta(hours=1)

MOMENTS = st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - the zone is drawn beside it
CONDITIONS = st.builds(
    Condition,
    type=st.from_regex(r"([a-z0-9]{1,8}\.[a-z0-9]{1,8}/)?[A-Z][A-Za-z0-9_.-]{0,20}[A-Za-z0-9]", fullmatch=True),
    status=st.sampled_from(Status),
    reason=st.text(max_size=20),
    message=st.text(max_size=40),
    last_transition_time=st.none() | MOMENTS,
    observed_generation=st.none() | st.integers(0, 2**63 - 1),
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
JSON = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(st.text(max_size=4), SCALARS, max_size=2)
WIRE_MEMBERS = (
    *("type", "status", "reason", "message", "lastTransitionTime", "observedGeneration"),
    *("last_transition_time", "observed_generation"),
)


def condition(status: Status, since: datetime | None = None) -> Condition:
    return Condition(type="Available", status=status, reason="R", message="m", last_transition_time=since)


@pytest.mark.parametrize(
    ("previous", "expected"),
    [
        pytest.param(None, NOW, id="without a former one the time is now"),
        pytest.param(condition(Status.TRUE, EARLIER), EARLIER, id="while the status is the same the time stays"),
        pytest.param(condition(Status.FALSE, EARLIER), NOW, id="when the status changes the time moves"),
        pytest.param(condition(Status.UNKNOWN, EARLIER), NOW, id="unknown is a status of its own"),
        pytest.param(condition(Status.TRUE), NOW, id="a former one that does not know its time gives none"),
        pytest.param(
            condition(Status.TRUE, EARLIER)._replace(reason="Other", message="other", observed_generation=7),
            EARLIER,
            id="reason, message and generation do not move the time",
        ),
    ],
)
def test_the_time_of_a_condition_moves_only_with_its_status(previous: Condition | None, expected: datetime) -> None:
    moved = condition(Status.TRUE).since(previous, NOW)
    assert moved == condition(Status.TRUE, expected)


def test_a_time_the_condition_claims_for_itself_is_not_believed() -> None:
    claimed = condition(Status.TRUE, EARLIER - timedelta(days=1))
    assert claimed.since(condition(Status.TRUE, EARLIER), NOW).last_transition_time == EARLIER
    assert claimed.since(None, NOW).last_transition_time == NOW


def test_kubernetes_gets_camel_case_and_whole_seconds() -> None:
    moment = EARLIER.replace(microsecond=678901)
    full = Condition(
        type="Available",
        status=Status.TRUE,
        reason="R",
        message="m",
        last_transition_time=moment,
        observed_generation=3,
    )
    assert full.to_kubernetes() == {
        "type": "Available",
        "status": "True",
        "observedGeneration": 3,
        "lastTransitionTime": "2026-01-02T03:04:05Z",
        "reason": "R",
        "message": "m",
    }


def test_hyperfleet_gets_snake_case_and_microseconds() -> None:
    moment = EARLIER.replace(microsecond=678901)
    full = Condition(
        type="Available",
        status=Status.TRUE,
        reason="R",
        message="m",
        last_transition_time=moment,
        observed_generation=3,
    )
    assert full.to_hyperfleet() == {
        "type": "Available",
        "status": "True",
        "observed_generation": 3,
        "last_transition_time": "2026-01-02T03:04:05.678901Z",
        "reason": "R",
        "message": "m",
    }


def test_what_is_not_known_is_not_written() -> None:
    bare = Condition(type="Available", status=Status.UNKNOWN)
    assert bare.to_kubernetes() == bare.to_hyperfleet()
    assert bare.to_kubernetes() == {"type": "Available", "status": "Unknown", "reason": "", "message": ""}


@PROPERTY
@given(CONDITIONS)
def test_the_hyperfleet_form_is_read_back_equal(original: Condition) -> None:
    assert Condition.from_hyperfleet(original.to_hyperfleet()) == original


@PROPERTY
@given(CONDITIONS)
def test_the_kubernetes_form_is_read_back_equal_to_the_second(original: Condition) -> None:
    moment = original.last_transition_time
    cut = original._replace(last_transition_time=moment.replace(microsecond=0) if moment else None)
    assert Condition.from_kubernetes(original.to_kubernetes()) == cut


@PROPERTY
@given(JSON | st.dictionaries(st.sampled_from(WIRE_MEMBERS), JSON))
def test_any_json_is_a_condition_or_invalid_and_never_a_crash(wire: Any) -> None:
    for read in (Condition.from_kubernetes, Condition.from_hyperfleet):
        with contextlib.suppress(Invalid):
            assert isinstance(read(wire).status, Status)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        pytest.param("type", None, id="no type"),
        pytest.param("type", "", id="an empty type"),
        pytest.param("type", "has space", id="a type with a space"),
        pytest.param("type", "-Leading", id="a type that begins with a dash"),
        pytest.param("type", "UPPER.io/Ready", id="a prefix in upper case"),
        pytest.param("type", "Available\n", id="a type with a line end"),
        pytest.param("type", "A" * (MAX_TYPE_LENGTH + 1), id="a type that is too long"),
        pytest.param("status", True, id="a boolean status"),
        pytest.param("status", "true", id="a lower-case status"),
        pytest.param("status", None, id="no status"),
        pytest.param("status", ["True"], id="a list as status"),
        pytest.param("reason", 5, id="a number as reason"),
        pytest.param("message", {}, id="an object as message"),
        pytest.param("lastTransitionTime", "yesterday", id="a weekday as time"),
        pytest.param("lastTransitionTime", 1767323045, id="a number as time"),
        pytest.param("observedGeneration", -1, id="a generation below zero"),
        pytest.param("observedGeneration", 2**63, id="a generation above int64"),
        pytest.param("observedGeneration", "3", id="a generation as text"),
        pytest.param("observedGeneration", True, id="a boolean generation"),
        pytest.param("observedGeneration", 1.5, id="a broken generation"),
        pytest.param("observedGeneration", float("inf"), id="an endless generation"),
    ],
)
def test_each_wrong_member_is_named(member: str, value: Any) -> None:
    wire = {"type": "Available", "status": "True", "reason": "R", "message": "m", member: value}
    with pytest.raises(Invalid) as refusal:
        Condition.from_kubernetes(wire)
    assert [problem.path for problem in refusal.value.problems] == [member]


def test_all_that_is_wrong_is_reported_at_once() -> None:
    with pytest.raises(Invalid) as refusal:
        Condition.from_kubernetes({"type": 1, "status": 2, "reason": 3, "message": 4, "lastTransitionTime": 5})
    paths = [problem.path for problem in refusal.value.problems]
    assert paths == ["type", "status", "reason", "message", "lastTransitionTime"]


@pytest.mark.parametrize("wire", [None, "Available", 5, ["Available"]], ids=repr)
def test_what_is_no_object_is_no_condition(wire: Any) -> None:
    with pytest.raises(Invalid, match="must be an object"):
        Condition.from_kubernetes(wire)


def test_absent_and_null_texts_are_empty() -> None:
    read = Condition.from_kubernetes(
        {"type": "Available", "status": "True", "reason": None, "lastTransitionTime": None}
    )
    assert read == Condition(type="Available", status=Status.TRUE)


def test_a_whole_number_written_with_a_point_is_a_generation() -> None:
    read = Condition.from_kubernetes({"type": "Available", "status": "True", "observedGeneration": 3.0})
    assert read.observed_generation == 3
    assert isinstance(read.observed_generation, int)


def test_find_gives_the_first_of_that_type_or_none() -> None:
    first, second = condition(Status.TRUE), condition(Status.FALSE)
    assert find([first, second], "Available") is first
    assert find([first], "Ready") is None
