"""What client-go answered, path by path. A wanted difference is written out here, with its row in docs/differences.md."""

import json
from pathlib import Path
from typing import Any

import pytest

from shared.languages.errors import EvaluationError, Rejected
from shared.languages.jsonpath import compile_jsonpath

GOLDEN = Path(__file__).parent / "golden"
FIRST = json.loads((GOLDEN / "jsonpath.json").read_text(encoding="utf-8"))
MORE = json.loads((GOLDEN / "jsonpath_more.json").read_text(encoding="utf-8"))

ERROR = ("error", None)
REJECTED = ("rejected", None)

NUMBERS_COMPARE_WITH_NUMBERS = {
    "{.items[?(@.n>2)].adapter}": "dns",
    "{.items[?(@.n>=1)].data['namespace'].status}": ["Active", "Pending"],
    "{.items[?(@.n==5)].adapter}": "dns",
    "items[?(@.n==2.0)].name": "b",
    "items[?(@.n>1.5)].name": ["b", "c"],
    "items[?(@.ratio>1)].name": ["b", "c"],
    "items[?(@.ratio==2)].name": "c",
    "items[?(@.n>@.ratio)].name": ["a", "b", "c"],
}
FOUND_AT_LOAD = {
    "items[?(@.name==b)].name": "unknown word `b`",
    "items[?(@.name='a')].name": "unknown operator `=`",
    "items[?(@.name==='a')].name": "unknown operator `===`",
    "items[?(@.name in 'abc')].n": "unknown word `in`",
    "items[?(@.name == null)].n": "unknown word `null`",
    "quotes[?(@.t=='it's')].t": "unknown word `s'`",
    "{1e3}": "unknown word `e3`",
    "{word}": "unknown word `word`",
    "{word.x}": "unknown word `word`",
    "{.$ref}": "a key is missing behind this dot",
    "{.word.}": "a key is missing behind this dot",
    "{.}": "a key is missing behind this dot",
    ".": "a key is missing behind this dot",
    "...": "a key is missing behind this dot",
    "[0]": "a path without braces starts with a key, not with `[`",
    "$.word": "a path without braces starts with a key, not with `$`",
    "@.word": "a path without braces starts with a key, not with `@`",
    "{end}": "there is no range to end here",
    "{.items[::0].name}": "the step of a slice is at least 1",
    "{.items[::-1].name}": "the step of a slice is at least 1",
}


def answer(path: str, document: Any) -> tuple[str, Any]:
    try:
        return "value", compile_jsonpath(path).evaluate(document)
    except Rejected:
        return REJECTED
    except EvaluationError:
        return ERROR


def in_any_order(path: str, value: Any) -> Any:
    """Go walks the keys of an object in a random order, we in the document's."""
    if isinstance(value, list) and (".." in path or ".*" in path):
        return sorted(json.dumps(each, sort_keys=True) for each in value)
    return value


def recorded(golden: dict[str, Any], *lists: str) -> list[Any]:
    return [pytest.param(golden["vars"], case, id=case["path"]) for each in lists for case in golden[each]]


@pytest.mark.parametrize(("document", "case"), [*recorded(FIRST, "cases"), *recorded(MORE, "cases", "ranges")])
def test_a_path_gives_the_answer_of_client_go(document: Any, case: dict[str, Any]) -> None:
    path = case["path"]
    outcome, value = answer(path, document)
    if path in NUMBERS_COMPARE_WITH_NUMBERS:
        assert case["outcome"] == "error"
        assert (outcome, value) == ("value", NUMBERS_COMPARE_WITH_NUMBERS[path])
    elif path in FOUND_AT_LOAD:
        with pytest.raises(Rejected) as rejected:
            compile_jsonpath(path)
        assert rejected.value.problem == FOUND_AT_LOAD[path]
    else:
        assert (outcome, in_any_order(path, value)) == (case["outcome"], in_any_order(path, case.get("value")))


def test_a_range_without_elements_gives_nothing_where_client_go_reads_its_body_with_nothing() -> None:
    assert answer("{range .items[?(@.name=='nope')]}{.name}{end}", MORE["vars"]) == ("value", None)


def test_every_wanted_difference_belongs_to_a_recorded_path() -> None:
    recorded_paths = {case["path"] for golden in (FIRST, MORE) for case in golden["cases"]}
    assert recorded_paths >= NUMBERS_COMPARE_WITH_NUMBERS.keys() | FOUND_AT_LOAD.keys()
