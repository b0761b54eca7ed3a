from typing import Any

import pytest

from dispatcher.config.compiled import Operator
from dispatcher.engine.operators import holds
from shared.errors import Invalid


@pytest.mark.parametrize(
    ("actual", "operator", "expected", "answer"),
    [
        ("a", "equals", "a", True),
        ("a", "equals", "b", False),
        (3, "equals", 3, True),
        (3.0, "equals", 3, True),
        (True, "equals", 1, False),
        (None, "equals", None, True),
        (None, "equals", "", False),
        ([1, {"a": 2.0}], "equals", [1.0, {"a": 2}], True),
        ([True], "equals", [1], False),
        ({"a": 1}, "equals", {"a": 1, "b": 2}, False),
        (None, "notEquals", "x", True),
        (3, "notEquals", 3.0, False),
        ("b", "in", ["a", "b"], True),
        (2.0, "in", [1, 2], True),
        (None, "in", ["a"], False),
        (None, "notIn", ["a"], True),
        ("a", "notIn", ["a"], False),
        ("production", "contains", "prod", True),
        (["a", 1], "contains", 1.0, True),
        ({"a": 1}, "contains", "a", True),
        ({"a": 1}, "contains", "b", False),
        (2, "greaterThan", 1.5, True),
        (2, "greaterThan", 2, False),
        (2, "greaterThanOrEqual", 2, True),
        (1, "lessThan", 2, True),
        (2, "lessThanOrEqual", 2, True),
        (3, "lessThanOrEqual", 2, False),
        (0, "exists", None, True),
        (False, "exists", None, True),
        ("", "exists", None, False),
        ([], "exists", None, False),
        ({}, "exists", None, False),
        (None, "exists", None, False),
        (None, "notExists", None, True),
        ("x", "notExists", None, False),
    ],
)
def test_an_operator_holds_or_not(actual: Any, operator: str, expected: Any, answer: bool) -> None:  # noqa: FBT001 - a column
    assert holds(Operator(operator), actual, expected) is answer


@pytest.mark.parametrize(
    ("actual", "operator", "expected"),
    [
        (None, "contains", "x"),
        (5, "contains", "x"),
        ("x", "contains", 5),
        (None, "greaterThan", 1),
        ("5", "lessThan", 9),
        (True, "greaterThan", 0),
        (None, "greaterThanOrEqual", 1),
        ("x", "in", "xyz"),
    ],
)
def test_what_no_answer_would_be_right_for_is_an_error(actual: Any, operator: str, expected: Any) -> None:
    with pytest.raises(Invalid):
        holds(Operator(operator), actual, expected)
