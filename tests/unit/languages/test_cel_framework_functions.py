"""The functions the adapter framework adds, in the semantics this project promises for them."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from shared.languages.cel import compile_cel
from shared.languages.errors import EvaluationError

NOW = datetime(2026, 5, 6, 12, 0, 0, 999_999, tzinfo=UTC)

CONDITIONS = [
    "not a condition",
    {"type": "Ready", "status": "True", "last_transition_time": "2026-05-06T11:59:00Z"},
    {"type": "Ready", "status": "False", "last_transition_time": "2026-05-06T11:00:00Z"},
    {"type": "Applied", "status": "True", "lastTransitionTime": "2026-05-06T13:55:00+02:00"},
    {"type": "Odd", "status": 1},
    {"type": "Broken", "status": "True", "last_transition_time": "yesterday"},
]

FEEDBACK = {
    "values": [
        "not a value",
        {"name": "phase", "fieldValue": {"type": "String", "string": "Active"}},
        {"name": "replicas", "fieldValue": {"type": "Integer", "integer": 3}},
        {"name": "none", "fieldValue": {"type": "Integer", "integer": 0}},
        {"name": "ready", "fieldValue": {"type": "Boolean", "boolean": False}},
        {"name": "raw", "fieldValue": {"type": "JsonRaw", "jsonRaw": '{"a":1}'}},
        {"name": "empty", "fieldValue": {"type": "String", "string": None}},
    ]
}

VARIABLES: dict[str, Any] = {
    "conditions": CONDITIONS,
    "feedback": FEEDBACK,
    "doc": {"a": {"b": [{"c": 1}, None]}, "x.y": 1, "0": "zero"},
    "no": None,
}


def value(source: str, clock: datetime = NOW) -> Any:
    return compile_cel(source, variables=VARIABLES).evaluate(VARIABLES, clock=lambda: clock)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("conditionStatus(conditions, 'Ready')", "True"),
        ("conditionStatus(conditions, 'Odd')", "Unknown"),
        ("conditionStatus(conditions, 'Absent')", "Unknown"),
        ("conditionStatus([], 'Ready')", "Unknown"),
        ("conditionAge(conditions, 'Ready')", 60),
        ("conditionAge(conditions, 'Applied')", 300),
        ("conditionAge(conditions, 'Odd')", -1),
        ("conditionAge(conditions, 'Broken')", -1),
        ("conditionAge(conditions, 'Absent')", -1),
        ("stableFor(conditions, 'Ready', 60)", True),
        ("stableFor(conditions, 'Ready', 61)", False),
        ("stableFor(conditions, 'Applied', 299)", True),
        ("stableFor(conditions, 'Broken', 0)", False),
        ("stableFor(conditions, 'Odd', 0)", False),
        ("stableFor(conditions, 'Absent', -5)", False),
        ("triState(true, true)", "True"),
        ("triState(false, true)", "False"),
        ("triState(false, false)", "Unknown"),
    ],
)
def test_conditions_are_asked_by_type(source: str, expected: Any) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    "made",
    [
        "conditions.filter(c, type(c) == map && c.type == 'Ready')",
        "[{'type': 'Ready', 'status': 'True', 'last_transition_time': '2026-05-06T11:59:00Z'}]",
        "[{'type': 'Ready', 'status': 'True', 'lastTransitionTime': timestamp('2026-05-06T11:59:00Z')}]",
    ],
)
def test_conditions_may_be_made_by_the_expression(made: str) -> None:
    assert value(f"conditionStatus({made}, 'Ready')") == "True"
    assert value(f"conditionAge({made}, 'Ready')") == 60
    assert value(f"stableFor({made}, 'Ready', 60)") is True


@pytest.mark.parametrize("arguments", ["no, 'Ready'", "doc, 'Ready'", "conditions, 1"])
def test_conditions_that_are_no_list_are_an_error(arguments: str) -> None:
    with pytest.raises(EvaluationError):
        value(f"conditionStatus({arguments})")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("statusFeedbackValue(feedback, 'phase')", "Active"),
        ("statusFeedbackValue(feedback, 'replicas')", 3),
        ("statusFeedbackValue(feedback, 'none')", 0),
        ("statusFeedbackValue(feedback, 'ready')", False),
        ("statusFeedbackValue(feedback, 'raw')", '{"a":1}'),
        ("fromJson(statusFeedbackValue(feedback, 'raw')).a", 1),
        ("statusFeedbackValue(feedback, 'empty')", ""),
        ("statusFeedbackValue(feedback, 'absent')", ""),
        ("statusFeedbackValue(no, 'phase')", ""),
        ("statusFeedbackValue({'values': feedback.values.filter(v, type(v) == map)}, 'phase')", "Active"),
    ],
)
def test_feedback_values_of_every_type_are_read(source: str, expected: Any) -> None:
    result = value(source)
    assert (type(result), result) == (type(expected), expected)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.b.0.c", 1),
        (" a . b . 0 . c ", 1),
        ("a..b.0.c", 1),
        ("a.b.1", None),
        ("a.b.9", None),
        ("a.b.-1", None),
        ("a.b.x", None),
        ("a.x.y.z", None),
        ("x.y", None),
        ("0", "zero"),
        ("", VARIABLES["doc"]),
        ("  ", VARIABLES["doc"]),
    ],
)
def test_dig_follows_a_path_and_gives_null_where_it_ends(path: str, expected: Any) -> None:
    assert value(f"dig(doc, '{path}')") == expected


def test_dig_goes_through_what_the_expression_made() -> None:
    assert value("dig({'a': [{'b': doc}]}, 'a.0.b.a.b.0.c')") == 1
    assert value("dig(no, 'a')") is None


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        (NOW, "2026-05-06T12:00:00Z"),
        (NOW.astimezone(timezone(timedelta(hours=2))), "2026-05-06T14:00:00+02:00"),
        (NOW.replace(tzinfo=None), "2026-05-06T12:00:00Z"),
    ],
)
def test_now_is_the_clocks_reading_to_the_second(clock: datetime, expected: str) -> None:
    assert value("now()", clock) == expected


def test_now_does_not_move_during_an_evaluation() -> None:
    readings = iter([NOW, NOW + timedelta(hours=1)])
    program = compile_cel("now() == now() && conditionAge(conditions, 'Ready') == 60")
    assert program.evaluate(VARIABLES, clock=lambda: next(readings)) is True


def test_now_is_the_present_when_no_clock_is_given() -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    read = datetime.fromisoformat(compile_cel("now()").evaluate({}))
    assert before <= read <= datetime.now(UTC)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("toJson(null)", "null"),
        ("toJson('x')", '"x"'),
        ("toJson([1, 2.5, null, true])", "[1,2.5,null,true]"),
        ("toJson({'b': 1, 'a': [{'c': 2u}]})", '{"a":[{"c":2}],"b":1}'),
        ("toJson(conditions.filter(c, type(c) == map && c.type == 'Odd'))", '[{"status":1,"type":"Odd"}]'),
        ("toJson('<a href=\"x\">&\\u2028</a>')", r'"\u003ca href=\"x\"\u003e\u0026\u2028\u003c/a\u003e"'),
        ("toJson('é\\n')", '"é\\n"'),
        ("toJson(2.0)", "2"),
        ("toJson(-0.5)", "-0.5"),
        ("toJson([1e21, 1e20, 0.000001, 0.0000001, 1.5e300, 123456789.125])", "[1e+21,100000000000000000000,0.000001,1e-7,1.5e+300,123456789.125]"),
        ("toJson({'a': '1.0', 'b': 1.0})", '{"a":"1.0","b":1}'),
        ("toJson([timestamp(0), duration('1s'), b'a', int, optional.none()])", '["1970-01-01T00:00:00Z","1s","YQ==","int",null]'),
        ("toJson(10000000)", "10000000"),
    ],
)  # fmt: skip
def test_to_json_writes_what_go_would(source: str, expected: str) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    "unfit",
    [
        pytest.param(float("nan"), id="nan"),
        pytest.param({"a": float("inf")}, id="infinity"),
        pytest.param({"a": object()}, id="python-object"),
        pytest.param({1: "a", "b": 2}, id="keys-of-several-kinds"),
        pytest.param(10**5000, id="number-of-thousands-of-digits"),
    ],
)
def test_to_json_refuses_what_is_not_json(unfit: Any) -> None:
    with pytest.raises(EvaluationError):
        compile_cel("toJson({'x': x})").evaluate({"x": [unfit]})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": [1, 2.5, null, true, "é"]}', {"a": [1, 2.5, None, True, "é"]}),
        ("9223372036854775807", 9223372036854775807),
        ("9223372036854775808", 9223372036854775808.0),
        ("-9223372036854775808", -9223372036854775808),
        ("1" * 300, float("1" * 300)),
        ("1.0", 1.0),
        (" 1 ", 1),
    ],
)
def test_from_json_reads_json_and_keeps_integers(text: str, expected: Any) -> None:
    result = compile_cel("fromJson(text)").evaluate({"text": text})
    assert (type(result), result) == (type(expected), expected)


@pytest.mark.parametrize("text", ["", "{", "NaN", "Infinity", "{'a': 1}", "1 2", "1e999", "1" * 5000])
def test_from_json_refuses_what_is_not_json(text: str) -> None:
    with pytest.raises(EvaluationError):
        compile_cel("fromJson(text)").evaluate({"text": text})


def test_json_goes_there_and_back() -> None:
    assert compile_cel("fromJson(toJson(x)) == x").evaluate({"x": VARIABLES["doc"]}) is True
