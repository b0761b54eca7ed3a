"""What holds for every document and every source, tried on many.

`make soak` asks for many more than a normal run.
"""

import operator
import os
import random
import string
import time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.languages.errors import EvaluationError, Rejected
from shared.languages.jsonpath import compile_jsonpath

SOURCES = 100_000 if os.environ.get("SOAK") else 3_000
many = settings(max_examples=20_000 if os.environ.get("SOAK") else 250, deadline=None)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="latin-1"), max_size=4)
)
# A backslash cannot be written in a key, and a key of `*` alone means everything.
keys = st.text(min_size=1, max_size=4).filter(lambda key: "\\" not in key and key != "*")
documents = st.recursive(
    scalars,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(keys, inside, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(keys, documents, min_size=1, max_size=3)


def spelled(key: str) -> str:
    return "".join("\\" + char if char in " \t\r\n.,[]$@{}" else char for char in key)


def reduced(values: list[Any]) -> Any:
    """One value is itself, none or nothing visible is None, several are a list."""
    visible = [value for value in values if not isinstance(value, str) or value.strip(string.whitespace + "\x85\xa0")]
    if not visible:
        return None
    return values[0] if len(values) == 1 else values


@many
@given(document=objects, data=st.data())
def test_every_place_of_a_document_can_be_addressed(document: dict[str, Any], data: st.DataObject) -> None:
    place: Any = document
    path = ""
    while (isinstance(place, dict | list) and place) and (not path or data.draw(st.booleans())):
        if isinstance(place, dict):
            key = data.draw(st.sampled_from(sorted(place)))
            path += "." + spelled(key)
            place = place[key]
        else:
            index = data.draw(st.integers(-len(place), len(place) - 1))
            path += f"[{index}]"
            place = place[index]
    assert compile_jsonpath("{" + path + "}").evaluate(document) == reduced([place])


@many
@given(
    elements=st.lists(scalars, min_size=1, max_size=6),
    start=st.none() | st.integers(-8, 8),
    stop=st.none() | st.integers(-8, 8),
    step=st.none() | st.integers(1, 3),
)
def test_a_slice_is_pythons_slice_or_an_error(
    elements: list[Any], start: int | None, stop: int | None, step: int | None
) -> None:
    path = ":".join("" if bound is None else str(bound) for bound in (start, stop, step))
    try:
        found = compile_jsonpath(f"xs[{path}]").evaluate({"xs": elements})
    except EvaluationError:
        bounds = [bound for bound in (start, stop) if bound is not None]
        assert any(not -len(elements) <= bound < len(elements) for bound in bounds) or elements[start:stop] == []
    else:
        assert found == reduced(elements[start:stop:step])


quarters = st.integers(-20, 20).map(lambda quarter: quarter / 4)
numbers = st.integers(-5, 5) | quarters
comparisons = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@many
@given(elements=st.lists(numbers, max_size=6), bound=numbers, sign=st.sampled_from(sorted(comparisons)))
def test_whole_and_fractional_numbers_compare_by_their_value(elements: list[float], bound: float, sign: str) -> None:
    path = f"{{.xs[?(@.n{sign}{bound})].n}}"
    holds = comparisons[sign]
    expected = reduced([element for element in elements if holds(element, bound)])
    assert compile_jsonpath(path).evaluate({"xs": [{"n": element} for element in elements]}) == expected


@many
@given(document=objects)
def test_descending_finds_every_key_of_a_name(document: dict[str, Any]) -> None:
    def named(value: Any, name: str) -> list[Any]:
        inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
        here = [value[name]] if isinstance(value, dict) and name in value else []
        return here + [found for each in inside for found in named(each, name)]

    name = next(iter(document))
    assert compile_jsonpath(f"{{...{spelled(name)}}}").evaluate(document) == reduced(named(document, name))


PIECES = [
    *"{}[]().,:;'\"\\*?@$<>=!&|~+-0123456789 \t\nabnx_é/\ud800",
    *(
        "[?(",
        "..",
        "range",
        "end",
        "true",
        "==",
        ")]",
        "{range ",
        "{end}",
        "'a'",
        "\\.",
        "[*]",
        "[0:2]",
        "['a','b']",
        ".a",
        ".items",
    ),
]
WELL_FORMED = [
    "{.items[?(@.name=='a')].n}",
    "items[*].tags[0]",
    "{range .items[*]}{.name}: {.n}{end}",
    "{..name} and {.items[0,1]['name','n']}",
    "metadata.labels.hyperfleet\\.io/cluster-id",
    "{.items[?(@.n>=2.5)].tags[::2]}",
]
DOCUMENT = {
    "a": [[1, 2], [], ["x"]],
    "items": [{"name": "a", "n": 1, "tags": ["x", "y"]}, {"name": "b", "n": 2.5, "tags": [], "b": None}],
    "metadata": {"labels": {"hyperfleet.io/cluster-id": "c1"}},
}


def random_source(chance: random.Random) -> str:
    if chance.random() < 0.3:
        return "".join(chance.choices(PIECES, k=chance.randint(1, 20)))
    source = chance.choice(WELL_FORMED)
    for _ in range(chance.randint(1, 4)):
        at, until = sorted((chance.randint(0, len(source)), chance.randint(0, len(source))))
        change = chance.choice(["", chance.choice(PIECES), source[at:until] * 2])
        source = source[:at] + change + source[chance.choice([at, until]) :]
    return source


def test_no_source_ends_otherwise_than_in_a_value_a_rejection_or_an_evaluation_error() -> None:
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    outcomes = {"value": 0, "rejected": 0, "error": 0}
    for number in range(SOURCES):
        source = random_source(chance)
        started = time.process_time()
        try:
            compile_jsonpath(source).evaluate(DOCUMENT)
            outcomes["value"] += 1
        except Rejected as rejected:
            outcomes["rejected"] += "^" in rejected.explain()
        except EvaluationError as failed:
            outcomes["error"] += "^" in failed.explain()
        except BaseException as error:
            error.add_note(f"seed {seed}, source {number}: {source!r}")
            raise
        assert time.process_time() - started < 1, f"seed {seed}, source {number}: {source!r}"
    assert sum(outcomes.values()) == SOURCES
    assert all(outcomes.values()), outcomes
