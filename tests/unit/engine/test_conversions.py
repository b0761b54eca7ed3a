from typing import Any

import pytest

from dispatcher.engine.conversions import convert
from shared.errors import Invalid


@pytest.mark.parametrize(
    ("value", "type_", "expected"),
    [
        ("x", "", "x"),
        (5, "string", "5"),
        (5.0, "string", "5"),
        (1234567.0, "string", "1234567"),
        (1e21, "string", "1000000000000000000000"),
        (0.5, "string", "0.5"),
        (1e-7, "string", "0.0000001"),
        (True, "string", "true"),
        ("5", "int", 5),
        ("-5", "int64", -5),
        ("5.7", "int", 5),
        (5.7, "int", 5),
        (-5.7, "int", -5),
        (True, "int", 1),
        ("1e3", "int", 1000),
        ("2.5", "float", 2.5),
        (2, "float64", 2.0),
        ("yes", "bool", True),
        ("Y", "bool", True),
        ("On", "bool", True),
        ("T", "bool", True),
        ("no", "bool", False),
        ("off", "bool", False),
        ("", "bool", False),
        (0, "bool", False),
        (0.1, "bool", True),
    ],
)
def test_a_value_converts(value: Any, type_: str, expected: Any) -> None:
    converted = convert(value, type_)

    assert (type(converted), converted) == (type(expected), expected)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("five", "int"),
        ("", "int"),
        (" 5", "int"),
        ("1_000", "int"),
        ("9223372036854775808", "int"),
        ("nan", "int"),
        ("inf", "int64"),
        ([], "string"),
        ({}, "int"),
        (None, "float"),
        ("maybe", "bool"),
        ([], "bool"),
    ],
)
def test_what_does_not_convert_is_refused(value: Any, type_: str) -> None:
    with pytest.raises(Invalid, match=type_):
        convert(value, type_)


def test_an_unknown_type_names_the_known_ones() -> None:
    with pytest.raises(Invalid, match="use one of string, int, int64"):
        convert("x", "integer")
