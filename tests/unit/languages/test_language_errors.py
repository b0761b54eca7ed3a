"""What an author reads when a language complains."""

from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import pytest

from shared.languages.errors import (
    EvaluationError,
    LanguageError,
    LimitExceeded,
    MissingKey,
    Position,
    Rejected,
    shown,
)


@pytest.mark.parametrize(
    ("source", "offset", "line", "column"),
    [
        pytest.param("abc", 0, 1, 1, id="the first character is line 1, column 1"),
        pytest.param("abc", 2, 1, 3, id="columns count characters"),
        pytest.param("äöü", 2, 1, 3, id="columns count characters, not bytes"),
        pytest.param("a\nbc", 1, 1, 2, id="a line break belongs to the line it ends"),
        pytest.param("a\nbc", 2, 2, 1, id="a line starts behind the break"),
        pytest.param("a\n\nb", 3, 3, 1, id="empty lines count"),
        pytest.param("abc", 3, 1, 4, id="the end of the source is a place"),
        pytest.param("abc", 99, 1, 4, id="beyond the end is the end"),
        pytest.param("abc", -5, 1, 1, id="before the start is the start"),
        pytest.param("", 0, 1, 1, id="an empty source has a place"),
    ],
)
def test_a_position_is_where_an_editor_would_show_it(source: str, offset: int, line: int, column: int) -> None:
    assert Position.of(source, offset) == Position(line, column)
    assert LanguageError("problem", source=source, offset=offset).position == Position(line, column)


def test_the_tree_lets_a_caller_catch_what_it_means() -> None:
    assert issubclass(Rejected, LanguageError)
    assert issubclass(EvaluationError, LanguageError)
    assert issubclass(MissingKey, EvaluationError)
    assert issubclass(LimitExceeded, EvaluationError)
    assert not issubclass(Rejected, EvaluationError)


def test_the_short_form_names_the_place_and_the_problem() -> None:
    assert str(Rejected("no such thing", source="a\nbcd", offset=4)) == "line 2, column 3: no such thing"


def test_the_long_form_points_at_the_place_and_ends_with_the_hint() -> None:
    error = Rejected("no such thing", source="first\n\tx = @y\nlast", offset=11, hint="write y")
    assert error.explain().splitlines() == [
        "line 2, column 6: no such thing",
        "  \tx = @y",
        "  \t    ^",
        "hint: write y",
    ]


def test_a_mistake_at_the_end_is_pointed_at_behind_the_last_character() -> None:
    assert Rejected("more is missing", source="a +", offset=3).explain().splitlines()[1:] == ["  a +", "     ^"]


def test_the_whole_failing_part_is_underlined() -> None:
    error = EvaluationError("no key 'x'", source="a.b.x.y", offset=3, fragment=".x", met="null")
    assert error.explain().splitlines() == [
        "line 1, column 4: no key 'x'",
        "  a.b.x.y",
        "     ^^",
        "met: null",
    ]


@pytest.mark.parametrize(
    ("offset", "fragment"),
    [
        pytest.param(2, "b.c", id="a part that stands elsewhere is not underlined"),
        pytest.param(0, "", id="no part, one caret"),
    ],
)
def test_one_caret_stands_where_the_part_is_not_known(offset: int, fragment: str) -> None:
    caret = EvaluationError("problem", source="a b.c", offset=offset + 1, fragment=fragment).explain().splitlines()[2]
    assert caret.strip() == "^"


def test_a_part_over_several_lines_is_underlined_on_its_first() -> None:
    error = EvaluationError("problem", source="a +\nb", offset=0, fragment="a +\nb")
    assert error.explain().splitlines()[1:] == ["  a +", "  ^^^"]


def test_what_was_met_is_not_reported_twice() -> None:
    error = EvaluationError("cannot add null", source="a + b", met="null")
    assert "met:" not in error.explain()


def test_a_long_line_is_cut_around_the_place() -> None:
    source = "x" * 500 + "HERE" + "y" * 500
    problem, line, caret = EvaluationError("problem", source=source, offset=500, fragment="HERE").explain().splitlines()
    assert len(line) < 120
    assert line.startswith("  …x")
    assert line.endswith("y…")
    assert line[caret.index("^") : caret.rindex("^") + 1] == "HERE"
    assert problem == "line 1, column 501: problem"


def test_the_caret_stays_below_the_line_when_the_part_is_longer() -> None:
    source = "f(" + "x" * 500 + ")"
    _, line, caret = EvaluationError("problem", source=source, offset=0, fragment=source).explain().splitlines()
    assert len(caret) <= len(line)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (2.5, "2.5"),
        (float("inf"), "inf"),
        pytest.param(10**5000, "a very large number", id="a very large number"),
        ("text", '"text"'),
        ("x" * 1000, '"' + "x" * 60 + '…" (1000 characters)'),
        ([], "an empty list"),
        ([1, 2, 3], "a list of 3"),
        ((1, 2), "a list of 2"),
        ({}, "an empty object"),
        ({"a": 1, "b": 2}, "an object with the keys a, b"),
        (OrderedDict(a=1), "an object with the keys a"),
        (MappingProxyType({"a": 1}), "an object with the keys a"),
        ({str(i): i for i in range(9)}, "an object with the keys 0, 1, 2, 3, 4, 5, 6, 7, …"),
        (object(), "a value that is not JSON"),
    ],
)
def test_a_value_is_shown_short(value: Any, text: str) -> None:
    assert shown(value) == text


def test_showing_a_value_does_not_touch_foreign_objects() -> None:
    class Foreign:
        def __repr__(self) -> str:
            raise AssertionError("touched")

        __str__ = __repr__

    assert shown(Foreign()) == "a value that is not JSON"
    assert shown({Foreign(): 1}) == "an object with the keys ?"
