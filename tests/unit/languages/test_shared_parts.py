"""A result that holds a large part many times is small in memory and large as JSON: it is refused before it is written."""

import json
import tracemalloc
from typing import Any

import pytest

from shared.languages.cel import compile_cel
from shared.languages.errors import LimitExceeded
from shared.languages.gotemplate.functions.casing import title
from shared.languages.jsonpath import compile_jsonpath

TEXT = "x" * 19_000
MOST_BYTES = 48 * 1024 * 1024


@pytest.mark.parametrize("large", [TEXT, {"k": [TEXT]}, [TEXT]], ids=["a text", "an object", "a list"])
@pytest.mark.parametrize(
    "source",
    [
        "lists.range(5000).map(i, x)",
        "{'a': lists.range(5000).map(i, {'b': x})}",
        "lists.range(100).map(i, lists.range(50).map(j, x))",
        "[optional.of(x)].map(o, lists.range(5000).map(i, o))",
        "[bytes(toJson(x))].map(b, lists.range(5000).map(i, b))",
    ],
)
def test_a_result_is_limited_by_its_size_as_json(source: str, large: Any) -> None:
    with pytest.raises(LimitExceeded, match="too large when it is written as JSON"):
        compile_cel(source).evaluate({"x": large})


def test_to_json_counts_before_it_writes() -> None:
    program = compile_cel("toJson(lists.range(5000).map(i, x))")
    tracemalloc.start()
    try:
        with pytest.raises(LimitExceeded):
            program.evaluate({"x": TEXT})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < MOST_BYTES


def test_what_leaves_once_is_not_limited_by_its_size() -> None:
    large = {"k": [TEXT] * 2000}

    assert compile_cel("x").evaluate({"x": large}) is large
    assert compile_cel("[x]").evaluate({"x": large})[0] is large
    assert len(compile_cel("x.k.filter(t, t != '')").evaluate({"x": {"k": [TEXT] * 500}})) == 500


def test_a_part_that_is_met_again_counts_each_time() -> None:
    part = {"k": "x" * 1_000_000}
    size = len(json.dumps(part))
    fits = 16 * 1024 * 1024 // size + 1  # the first time is free

    assert len(compile_cel(f"lists.range({fits}).map(i, x)").evaluate({"x": part})) == fits
    with pytest.raises(LimitExceeded):
        compile_cel(f"lists.range({fits + 1}).map(i, x)").evaluate({"x": part})


def test_a_path_may_not_select_the_same_values_without_end() -> None:
    document = {"a": {"k": TEXT}}

    assert len(compile_jsonpath("{.a}" * 500).evaluate(document)) == 500
    with pytest.raises(LimitExceeded, match="characters of JSON"):
        compile_jsonpath("{.a}" * 1000).evaluate(document)


class Counted(str):
    """A text that counts the characters that are taken out of it."""

    __slots__ = ("taken",)
    taken: int

    def __getitem__(self, index: Any) -> str:
        found = super().__getitem__(index)
        self.taken += len(found)
        return found


def test_title_looks_at_a_sigma_and_little_more() -> None:
    text = Counted("\u00e9\u03a3" * 5_000)
    text.taken = 0

    assert title(text) == "\u00c9" + "\u03c3\u00e9" * 4_999 + "\u03c2"
    assert text.taken < 40 * len(text)
