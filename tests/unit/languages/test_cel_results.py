"""What leaves an expression is plain JSON, whatever CEL held it as."""

import json
from types import MappingProxyType
from typing import Any

import pytest

from shared.languages.cel import compile_cel


def value(source: str, **variables: Any) -> Any:
    return compile_cel(source).evaluate(variables)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("null", None),
        ("1", 1),
        ("9223372036854775807", 9223372036854775807),
        ("18446744073709551615u", 18446744073709551615),
        ("1.5", 1.5),
        ("2.0", 2.0),
        ("0.0 / 0.0", "NaN"),
        ("1.0 / 0.0", "Infinity"),
        ("-1.0 / 0.0", "-Infinity"),
        ("b'abc'", "YWJj"),
        ("b'\\xff'", "/w=="),
        ("timestamp('2026-01-02T03:04:05.120+02:00')", "2026-01-02T03:04:05.12+02:00"),
        ("timestamp(0)", "1970-01-01T00:00:00Z"),
        ("duration('1h0.5s')", "3600.5s"),
        ("type(1)", "int"),
        ("type(timestamp(0))", "google.protobuf.Timestamp"),
        ("optional.none()", None),
        ("optional.of(optional.of(1u))", 1),
        ("[1u, optional.none(), [b'a']]", [1, None, ["YQ=="]]),
        (
            "{1: 'int', 2u: 'uint', true: 'bool', 1.5: 'double', null: 'null'}",
            {"1": "int", "2": "uint", "true": "bool", "1.5": "double", "null": "null"},
        ),
        ("{'a': {'b': timestamp(0)}}", {"a": {"b": "1970-01-01T00:00:00Z"}}),
        ("xs.map(x, {'x': x})", [{"x": 1}, {"x": 2}]),
    ],
)
def test_every_kind_has_a_json_form(source: str, expected: Any) -> None:
    result = value(source, xs=[1, 2])
    assert (type(result), result) == (type(expected), expected)
    json.dumps(result, allow_nan=False)


@pytest.mark.parametrize("source", ["18446744073709551615u", "1u", "[1u]", "{'a': 1u}.a"])
def test_no_type_of_cel_leaves(source: str) -> None:
    result = value(source)
    assert type(result[0] if isinstance(result, list) else result) is int


def test_integers_stay_integers() -> None:
    assert value("generation", generation=1_000_000) == 1_000_000
    assert value("string(generation)", generation=1_000_000) == "1000000"
    assert value("generation + 1", generation=1_000_000) == 1_000_001
    assert value("id", id=10**30) == 10**30


def test_what_came_in_with_the_variables_leaves_by_reference() -> None:
    spec = {"nodes": [{"id": 1}]}
    assert value("spec", spec=spec) is spec
    assert value("spec.nodes", spec=spec) is spec["nodes"]
    assert value("{'kept': spec.nodes}", spec=spec)["kept"] is spec["nodes"]


def test_a_mapping_of_another_type_leaves_as_an_object() -> None:
    result = value("spec", spec=MappingProxyType({"a": MappingProxyType({"b": 1})}))
    assert result == {"a": {"b": 1}}
    assert type(result) is dict
    assert type(result["a"]) is dict


def test_tuples_are_lists() -> None:
    assert value("xs + [3]", xs=(1, 2)) == [1, 2, 3]
    assert value("xs[1]", xs=(1, 2)) == 2
    assert value("xs == [1, 2]", xs=(1, 2)) is True


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("duration('90s')", "90s"),
        ("[1].filter(x, false)", []),
        ("l.filter(x, true)", [{"a": 1}]),
        ("{'m': l[0]}", {"m": {"a": 1}}),
        ("true ? has(l[0].?a.b) : true", False),
    ],
)
def test_a_result_that_go_writes_otherwise_is_plain_json(source: str, value: Any) -> None:
    """Go: 90000000000, null, [{"Adapter":{}}], an error, and the field in place of the bool."""
    assert compile_cel(source).evaluate({"l": [{"a": 1}]}) == value
