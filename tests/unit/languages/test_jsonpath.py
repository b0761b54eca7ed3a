"""What a compiled path knows, how it fails, and where it stops."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError
from types import MappingProxyType
from typing import Any

import pytest

from shared.languages.errors import EvaluationError, LimitExceeded, MissingKey, Position, Rejected
from shared.languages.jsonpath import compile_jsonpath

CLUSTER = {
    "name": "c1",
    "status": {
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "Available", "status": "False", "age": 3}],
        "observed": None,
    },
}


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("status.phase", {"status"}),
        ("{.status.phase} {.name}", {"status", "name"}),
        ("{['status','name']}", {"status", "name"}),
        ("{range .items[*]}{.name}{end}", {"items"}),
        ("{.items[?(@.name=='x')].id}", {"items"}),
        ("{..name}", set()),
        ("{.*}", set()),
        ("{'text'}", set()),
    ],
)
def test_a_program_knows_the_top_level_keys_it_asks_for(path: str, names: set[str]) -> None:
    program = compile_jsonpath(path)
    assert program.free_variables == names
    assert program.source == path
    assert program.functions == frozenset()


def test_a_program_cannot_be_changed() -> None:
    program = compile_jsonpath("name")
    with pytest.raises(FrozenInstanceError):
        program.source = "other"  # type: ignore[misc]  # the assignment is what must fail


def test_a_single_result_is_the_value_itself_and_not_a_copy() -> None:
    assert compile_jsonpath("status").evaluate(CLUSTER) is CLUSTER["status"]


def test_objects_and_lists_may_be_any_mapping_and_tuples() -> None:
    class Lazy(Mapping[str, Any]):
        def __getitem__(self, key: str) -> Any:
            return {"xs": ({"n": 1}, {"n": 2})}[key]

        def __iter__(self) -> Iterator[str]:
            return iter(["xs"])

        def __len__(self) -> int:
            return 1

    assert compile_jsonpath("xs[*].n").evaluate(Lazy()) == [1, 2]
    assert compile_jsonpath("{..n}").evaluate(Lazy()) == [1, 2]


@pytest.mark.parametrize(
    "path", ["obj.__class__", "obj.secret", "obj['secret']", "obj[0]", "{.obj[*]}", "obj[?(@.secret)]"]
)
def test_a_python_object_in_the_document_is_opaque(path: str) -> None:
    class Foreign:
        secret = "s"

        def __getitem__(self, key: object) -> str:
            return "s"

    with pytest.raises(EvaluationError) as error:
        compile_jsonpath(path).evaluate({"obj": Foreign()})
    assert error.value.met == "a value that is not JSON"


@pytest.mark.parametrize("path", ["{.obj.*}", "{.obj..secret}"])
def test_nothing_is_found_inside_a_python_object(path: str) -> None:
    assert compile_jsonpath(path).evaluate({"obj": type("Foreign", (), {"secret": "s"})()}) is None


@pytest.mark.parametrize(
    "path",
    [
        "missing",
        "status.missing",
        "status.observed.x",
        "name.x",
        "status.conditions[2]",
        "status.conditions[-3].type",
        "status.conditions[0:9]",
    ],
)
def test_what_is_not_there_is_a_missing_key(path: str) -> None:
    with pytest.raises(MissingKey):
        compile_jsonpath(path).evaluate(CLUSTER)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("missing", None),
        ("status.missing.deeper", None),
        ("name.x", None),
        ("status.conditions[2]", None),
        ("status.conditions[0].type", "Ready"),
        ("name", CLUSTER["name"]),
    ],
)
def test_get_takes_what_is_not_there_for_nothing(path: str, value: object) -> None:
    assert compile_jsonpath(path).get(CLUSTER) == value
    assert compile_jsonpath(path).get(MappingProxyType(CLUSTER)) == value


def test_get_fails_where_evaluate_does_for_any_other_reason() -> None:
    with pytest.raises(EvaluationError):
        compile_jsonpath("name[0]").get(CLUSTER)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("name[0]", "only a list has an index"),
        ("status[*]", "only a list has an index"),
        ("name[?(@.x)]", "only a list can be filtered"),
        ("status.observed[?(@.x)]", "only a list can be filtered"),
        ("status.conditions[1:0]", "the slice starts at 1, behind its end 0"),
        ("status.conditions[?(@.type==1)]", 'cannot compare "Ready" == 1'),
        ("status.conditions[?(@.*=='x')]", "a filter compares one value, not 2"),
        ("status.conditions[?(@=='x')]", 'cannot compare an object with the keys type, status == "x"'),
    ],
)
def test_any_other_failure_is_not_a_missing_key(path: str, problem: str) -> None:
    with pytest.raises(EvaluationError) as error:
        compile_jsonpath(path).evaluate(CLUSTER)
    assert error.value.problem == problem
    assert not isinstance(error.value, MissingKey | LimitExceeded)


def test_a_missing_key_is_shown_in_its_place_with_what_was_there() -> None:
    with pytest.raises(MissingKey) as error:
        compile_jsonpath("status.conditions[0].state.x").evaluate(CLUSTER)
    assert error.value.fragment == ".state"
    assert error.value.explain().splitlines() == [
        "line 1, column 21: no key 'state'",
        "  status.conditions[0].state.x",
        "                      ^^^^^^",
        "met: an object with the keys type, status",
    ]


@pytest.mark.parametrize(
    ("source", "column", "problem", "hint"),
    [
        ("", 1, "the path is empty", "status.phase"),
        ("   ", 1, "the path is empty", "status.phase"),
        ("{.a", 1, "this path does not end on its line", "}"),
        ("{.a\n}", 1, "this path does not end on its line", "}"),
        ("{.a} {.b", 6, "this path does not end on its line", "}"),
        ("a[0", 2, "this bracket is not closed", None),
        ("a[x]", 3, "`x` is neither an index nor a key", "single quotes"),
        ('a["x"]', 3, '`"x"` is neither an index nor a key', "single quotes"),
        ("a['x]y']", 3, "`'x` is neither an index nor a key", "single quotes"),
        ("a['x','y]", 7, "`'y` is neither an index nor a key", "single quotes"),
        ("a[-]", 2, "`-` is not an index", None),
        ("a[9223372036854775808]", 2, "`9223372036854775808` is not an index", None),
        ("a[?(@.b=='x']", 2, "this filter is not closed", ")]"),
        ("a[?(@.b=='x')", 14, "`]` is missing here", ")]"),
        ("a[?(@.b==x)]", 10, "unknown word `x`", "`'x'`"),
        ("a[?(@.b=1)]", 8, "unknown operator `=`", "`==`"),
        ("a[?(@.b==1 && @.c==2)]", 12, "'&' has no meaning here", "CEL"),
        ("a[?(@.b=~'x')]", 9, "'~' has no meaning here", "CEL"),
        ("a['x}y']", 5, "'}' has no meaning here", "\\}"),
        ("  a b", 5, "unknown word `b`", "`.b`"),
        ("{..*}", 4, "'*' has no meaning here", "[*]"),
        ("{.a....b}", 6, "`..` follows `..`", None),
        ("a.b\\", 1, "this path does not end on its line", None),
        ("{'x}", 2, "this quote is not closed", None),
        ("{'\\q'}", 3, "this escape is not one of Go's", None),
        ("{'\\ud800'}", 3, "this escape is not one of Go's", None),
        ("{'\\400'}", 3, "this escape is not one of Go's", None),
        ("{1.2.3}", 2, "`1.2.3` is not a number", None),
        (f"{{{'9' * 400}}}", 2, f"`{'9' * 400}` is not a number", None),
        ("{.a range .b}", 5, "`range` comes first in its braces", "{range .items[*]}"),
        ("{range .a}{.b}", 1, "this range has no `{end}`", None),
        ("{range .a}{end .b}", 11, "`end` stands alone in its braces", None),
        ("{.a}{end}", 5, "there is no range to end here", None),
        ("$.a", 1, "a path without braces starts with a key, not with `$`", "{$.a}"),
    ],
)  # fmt: skip
def test_a_mistake_is_found_at_load_in_its_place(source: str, column: int, problem: str, hint: str | None) -> None:
    with pytest.raises(Rejected) as rejected:
        compile_jsonpath(source)
    assert rejected.value.problem == problem
    assert rejected.value.position == Position(1, column)
    assert hint is None or hint in (rejected.value.hint or "")


def test_a_mistake_on_a_later_line_names_that_line() -> None:
    with pytest.raises(Rejected) as rejected:
        compile_jsonpath("{.a}\nand {.b[x]}")
    assert rejected.value.position == Position(2, 9)


@pytest.mark.parametrize(
    "path",
    [
        "{" + "[*,*]" * 40 + "}",
        "{" + ".*" * 1000 + "}",
        "{..a" + "[*]..a" * 50 + "}",
        "{range [*,*]}" * 16 + "{@}" + "{end}" * 16,
        "{[" + "*," * 2000 + "*]" + "[?(@[*])]" * 10 + "}",
    ],
)
def test_a_path_that_multiplies_its_results_is_stopped_in_time(path: str) -> None:
    nested: list[Any] = []
    nested.extend([nested, nested])
    program = compile_jsonpath(path)
    started = time.process_time()
    with pytest.raises(LimitExceeded, match=r"more than 1,000,000 steps"):
        program.evaluate(nested)
    assert time.process_time() - started < 1


def test_a_document_deeper_than_the_stack_is_walked() -> None:
    document: dict[str, Any] = {"leaf": "x"}
    for _ in range(100_000):
        document = {"in": document}
    assert compile_jsonpath("{..leaf}").evaluate(document) == "x"


def test_ranges_inside_each_other_are_limited() -> None:
    def nested(depth: int) -> str:
        return "{range .}".replace(".", "@") * depth + "{.name}" + "{end}" * depth

    assert compile_jsonpath(nested(16)).evaluate(CLUSTER) == "c1"
    with pytest.raises(Rejected, match="more than 16 ranges"):
        compile_jsonpath(nested(17))


def test_a_source_of_unreasonable_length_is_refused() -> None:
    with pytest.raises(Rejected, match=r"longer than 16,384 characters"):
        compile_jsonpath("a" * 16_385)


def test_looking_at_a_large_document_costs_what_is_looked_at() -> None:
    names = compile_jsonpath("{.items[*].name}")
    document = json.loads(json.dumps({"items": [{"name": f"n{i}", "data": {"x": [1, 2, 3]}} for i in range(100_000)]}))
    assert len(names.evaluate(document)) == 100_000
