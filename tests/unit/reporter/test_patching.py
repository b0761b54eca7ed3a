"""The one PATCH: what it says, what it leaves out, and how it is cut to what a Job and its readers take."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.model.conditions import Condition, Status
from status_reporter.job.patching import (
    DATA_ANNOTATION,
    DROPPED_MEMBER,
    MAX_DATA_BYTES,
    MAX_MESSAGE_BYTES,
    MAX_REASON_BYTES,
    NOTE_BYTES,
    Patch,
    cut,
    fitting_data,
    patch_for,
)
from status_reporter.settings import RESERVED_TYPES

NOW = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)
EARLIER = NOW - timedelta(days=1)
PROPERTY = settings(max_examples=150, deadline=None)
TEXTS = st.text(st.characters(codec="utf-8"))


def condition(type_: str = "Applied", status: Status = Status.TRUE, **more: Any) -> Condition:
    return Condition(type=type_, status=status, **more)


def patch(
    *conditions: Condition, data: Any = None, present: tuple[Condition, ...] = (), uid: str | None = None
) -> Patch:
    return patch_for(conditions, data, present={each.type: each for each in present}, now=NOW, uid=uid)


def conditions_of(made: Patch) -> list[dict[str, Any]]:
    conditions: list[dict[str, Any]] = made.body["status"]["conditions"]
    return conditions


def test_conditions_and_data_travel_in_one_body_that_names_the_job_it_means() -> None:
    made = patch(condition(reason="Created", message="it is there"), data={"port": 443}, uid="u-1")
    assert made.body == {
        "metadata": {"uid": "u-1", "annotations": {DATA_ANNOTATION: '{"port":443}'}},
        "status": {
            "conditions": [
                {
                    "type": "Applied",
                    "status": "True",
                    "reason": "Created",
                    "message": "it is there",
                    "lastTransitionTime": "2026-05-01T12:00:00Z",
                }
            ]
        },
    }


def test_without_data_the_annotation_stays_as_it_is() -> None:
    assert "annotations" not in patch(condition(), uid="u-1").body["metadata"]
    assert "metadata" not in patch(condition()).body


def test_empty_data_replaces_the_data_of_before() -> None:
    assert patch(condition(), data={}).body["metadata"]["annotations"] == {DATA_ANNOTATION: "{}"}


@pytest.mark.parametrize(
    ("before", "time"),
    [
        pytest.param((), "2026-05-01T12:00:00Z", id="a new condition begins now"),
        pytest.param(
            (condition(reason="Old", last_transition_time=EARLIER),),
            "2026-04-30T12:00:00Z",
            id="an unchanged status keeps its time, whatever its reason",
        ),
        pytest.param(
            (condition(status=Status.FALSE, last_transition_time=EARLIER),),
            "2026-05-01T12:00:00Z",
            id="a changed status begins now",
        ),
        pytest.param((condition(),), "2026-05-01T12:00:00Z", id="a condition that had no time begins now"),
        pytest.param(
            (condition("Health", last_transition_time=EARLIER),),
            "2026-05-01T12:00:00Z",
            id="another's time is not taken",
        ),
    ],
)
def test_the_time_of_a_condition_moves_only_with_its_status(before: tuple[Condition, ...], time: str) -> None:
    assert conditions_of(patch(condition(reason="New"), present=before))[0]["lastTransitionTime"] == time


def test_what_a_job_cannot_hold_is_left_out() -> None:
    made = patch(condition(observed_generation=3, last_transition_time=EARLIER))
    assert set(conditions_of(made)[0]) == {"type", "status", "reason", "message", "lastTransitionTime"}
    assert conditions_of(made)[0]["lastTransitionTime"] == "2026-05-01T12:00:00Z"


def test_conditions_of_the_job_controller_are_left_out_and_named() -> None:
    made = patch(condition(), *(condition(type_) for type_ in sorted(RESERVED_TYPES)))
    assert [each["type"] for each in conditions_of(made)] == ["Applied"]
    assert made.refused == ("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet", "Suspended")
    assert patch(condition()).refused == ()


@pytest.mark.parametrize("character", ["x", "é", "€", "😀"], ids=["1 byte", "2 bytes", "3 bytes", "4 bytes"])
def test_texts_are_cut_between_characters(character: str) -> None:
    made = conditions_of(patch(condition(reason=character * 1000, message=character * 3000)))[0]
    for text, limit in ((made["reason"], MAX_REASON_BYTES), (made["message"], MAX_MESSAGE_BYTES)):
        assert set(text) == {character}
        assert limit - 4 < len(text.encode()) <= limit


@PROPERTY
@given(TEXTS, st.integers(0, 40))
def test_a_cut_text_is_the_longest_beginning_that_fits(text: str, limit: int) -> None:
    beginning = cut(text, limit)
    assert text.startswith(beginning)
    assert len(beginning.encode()) <= limit
    assert beginning == text or len(text[: len(beginning) + 1].encode()) > limit


def test_data_that_fits_is_reported_whole() -> None:
    most = {"a": "x" * (MAX_DATA_BYTES - len('{"a":""}'))}
    assert json.loads(fitting_data(most)) == most
    assert len(fitting_data(most)) == MAX_DATA_BYTES


def test_the_largest_members_are_dropped_first_and_named() -> None:
    data = {"large": "x" * 45_000, "small": 1, "larger": ["y" * 50_000], "middle": "z" * 20_000}
    assert json.loads(fitting_data(data)) == {
        "small": 1,
        "middle": "z" * 20_000,
        DROPPED_MEMBER: ["larger", "large"],
    }


def test_one_member_that_is_too_large_leaves_its_name() -> None:
    assert json.loads(fitting_data({"all": "é" * MAX_DATA_BYTES})) == {DROPPED_MEMBER: ["all"]}


def test_a_name_that_is_too_large_leaves_its_beginning() -> None:
    assert json.loads(fitting_data({"n" * MAX_DATA_BYTES: 1})) == {DROPPED_MEMBER: ["n" * 64]}


def test_many_small_members_are_dropped_quickly_and_counted() -> None:
    data = {f"member-{number:05}": number for number in range(40_000)}
    started = time.process_time()
    text = fitting_data(data)
    shown = json.loads(text)

    assert time.process_time() - started < 5, "the time must follow the size"
    named = shown.pop(DROPPED_MEMBER)
    assert len(named) == 11
    assert named[-1] == f"and {40_000 - len(shown) - 10} more"
    assert len(text) > MAX_DATA_BYTES - NOTE_BYTES, "what fits is kept"


@PROPERTY
@given(
    st.dictionaries(
        TEXTS | st.integers(0, 30_000).map(lambda size: "\0" * size),
        st.integers(0, 90_000).map(lambda size: "é" * size) | st.integers(),
        max_size=30,
    )
)
def test_any_data_fits_and_what_is_kept_is_unchanged(data: dict[str, Any]) -> None:
    text = fitting_data(data)
    assert len(text.encode()) <= MAX_DATA_BYTES
    shown = json.loads(text)
    if shown != data:
        assert shown.pop(DROPPED_MEMBER)
    assert all(data[name] == value for name, value in shown.items())
