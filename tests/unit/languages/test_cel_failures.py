"""A failed evaluation says which part failed, what it met, and what to write instead."""

from typing import Any

import pytest

from shared.languages.cel import compile_cel
from shared.languages.errors import EvaluationError, MissingKey, Position

VARIABLES: dict[str, Any] = {
    "spec": {"name": "c1", "nodes": [1, 2], "region": None},
    "text": "abc",
    "number": 3,
    "half": 0.5,
}


def failure(source: str, variables: dict[str, Any] = VARIABLES) -> EvaluationError:
    with pytest.raises(EvaluationError) as caught:
        compile_cel(source).evaluate(variables)
    return caught.value


@pytest.mark.parametrize(
    ("source", "fragment", "met", "hint"),
    [
        ("spec.size + 1", "spec.size", "name, nodes, region", "size()"),
        ("spec.zone + 1", "spec.zone", "name, nodes, region", "spec.?zone.orValue"),
        ("spec.region.zone", "spec.region.zone", "null", "has(spec.region.zone)"),
        ("spec.nodes[2]", "spec.nodes[2]", "a list of 2", None),
        ("spec.nodes.name", "spec.nodes.name", "a list of 2", "xs[0].name"),
        ("true && number + text == 3", "number + text", "3", "string(x)"),
        ("number + half", "number + half", "3", "double(x)"),
        ("text.matches('[')", "text.matches('[')", '"["', None),
        ("text.matches(text + '[')", "text.matches(text + '[')", '"abc["', None),
        ("spec.nodes.map(n, n / (n - 1))", "n / (n - 1)", "", None),
        ("spec.name.orValue('x')", "spec.name.orValue('x')", '"c1"', "a.?b"),
        ("spec.name.hasValue()", "spec.name.hasValue()", '"c1"', "a.?b"),
        ("number ? 1 : 2", "number", "3", None),
        ("number || false", "number", "3", None),
        ("spec.nodes.all(n, n)", "spec.nodes.all(n, n)", "1", None),
        ("text.map(c, c)", "text.map(c, c)", '"abc"', None),
        ("timestamp(text)", "timestamp(text)", '"abc"', "2026-01-02T15:04:05Z"),
        ("[3].contains(3)", "[3].contains(3)", "a list of 1", "contains(string, string)"),
        ("resources", "resources", "", None),
        ("nuber", "nuber", "", "number"),
        ("None", "None", "", "null"),
        ("text.lenght()", "text.lenght()", "", None),
    ],
)
def test_a_failure_names_the_part_the_value_and_the_remedy(
    source: str, fragment: str, met: str, hint: str | None
) -> None:
    failed = failure(source)
    assert failed.fragment == fragment
    assert met in failed.met
    assert (hint or "") in (failed.hint or "")


@pytest.mark.parametrize("source", ["spec.zone", "spec.nodes[9]", "resources", "spec.?zone.value()"])
def test_what_is_not_there_is_distinguished_from_other_failures(source: str) -> None:
    assert isinstance(failure(source), MissingKey)


@pytest.mark.parametrize("source", ["number + text", "spec.nodes.name", "1 / 0", "foo(1)"])
def test_other_failures_are_not_taken_for_something_missing(source: str) -> None:
    assert not isinstance(failure(source), MissingKey)


def test_the_caret_points_at_the_field_that_is_missing() -> None:
    assert failure("text == 'abc' &&\n  spec.zone == 'z'").position == Position(2, 8)


def test_the_first_of_two_failures_is_reported() -> None:
    assert failure("spec.a || spec.b").fragment == "spec.a"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("spec.zone == 'z' || number == 3", True),
        ("number == 3 || spec.zone == 'z'", True),
        ("spec.zone == 'z' && number == 4", False),
        ("number == 4 && spec.zone == 'z'", False),
        ("spec.nodes.exists(n, 1 / (n - 1) > 0)", True),
        ("spec.nodes.all(n, 1 / (n - 2) > 0)", False),
        ("number == 3 ? 1 : spec.zone", 1),
        ("spec.?name.orValue(spec.zone)", "c1"),
    ],
)
def test_a_failure_that_does_not_matter_is_absorbed(source: str, expected: Any) -> None:
    assert compile_cel(source).evaluate(VARIABLES) == expected


def test_a_large_value_is_shown_short() -> None:
    failed = failure("text + 1", {"text": "x" * 1_000_000})
    assert len(failed.met) < 200


class Trap:
    """An object that must never be asked for anything."""

    def __getattribute__(self, name: str) -> Any:
        if name in {"__class__", "__dict__"}:
            return object.__getattribute__(self, name)
        raise AssertionError(f"{name} was reached")


@pytest.mark.parametrize(
    "source", ["thing", "thing.x", "[thing].sort()", "toJson([thing])", "thing + 1", "string(thing)"]
)
def test_a_python_object_among_the_variables_is_refused_untouched(source: str) -> None:
    assert "Trap" not in failure(source, {"thing": Trap()}).explain()


def test_a_python_object_equals_nothing() -> None:
    assert compile_cel("thing == 1 || thing == thing").evaluate({"thing": Trap()}) is False


@pytest.mark.parametrize(
    "source",
    ["xs[big]", "spec[string(big)]", "text.substring(big)", "xs.slice(0, big)", "lists.range(-big)", "big + 1", "-big * big",
     "double(big)", "timestamp(big)", "'%d'.format([big])", "'%f'.format([big])", "toJson(big)", "uint(big)"],
)  # fmt: skip
def test_a_number_of_thousands_of_digits_is_an_error_like_any_other(source: str) -> None:
    assert failure(source, VARIABLES | {"big": 10**5000, "xs": [1]}).explain()
