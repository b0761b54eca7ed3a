"""A document keeps its form: what is rendered stays a string in its place, and everything else stays what it is."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.languages.errors import EvaluationError, LimitExceeded, Rejected
from shared.languages.gotemplate import compile_structure

MANIFEST = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {
        "name": "{{ .name | lower }}-config",
        "labels": {"hyperfleet.io/{{ .kind }}": "{{ .name }}"},
        "annotations": {"hyperfleet.io/generation": "{{ .generation }}"},
    },
    "data": {"list": ["{{ .name }}", "plain", 3, ["{{ .kind }}"]]},
    "immutable": True,
    "replicas": 2,
    "ratio": 0.5,
    "nothing": None,
}
VARIABLES = {"name": "Prod", "kind": "cluster", "generation": 1_000_000}


def test_strings_are_rendered_where_they_stand_and_keys_too() -> None:
    assert compile_structure(MANIFEST).render(VARIABLES) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "prod-config",
            "labels": {"hyperfleet.io/cluster": "Prod"},
            "annotations": {"hyperfleet.io/generation": "1000000"},
        },
        "data": {"list": ["Prod", "plain", 3, ["cluster"]]},
        "immutable": True,
        "replicas": 2,
        "ratio": 0.5,
        "nothing": None,
    }


HOSTILE = [
    '"', "'", "\n", "a: b", "\nkind: Secret\n", "- x", "{{ .secret }}", "{a: b}", "[1]", "#", "&a", "*a", "!tag", "|", ">",
    "---\n", "null", "true", "5", "", "\t", "\\", "%", "@", "`", "\0", "é", "a\r\nb", "? ", "<<", "{{", "}}", "{{/*",
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=[json.dumps(value) for value in HOSTILE])
def test_no_value_can_change_the_structure(value: str) -> None:
    document = {"a": "{{ .v }}", "b": ["x {{ .v }} y", {"k{{ .v }}": "{{ quote .v }}"}], "c": 1}
    assert compile_structure(document).render({"v": value, "secret": "leaked"}) == {
        "a": value,
        "b": [f"x {value} y", {f"k{value}": compile_structure("{{ quote .v }}").render({"v": value})}],
        "c": 1,
    }


@pytest.mark.parametrize("value", [5, 1.5, True, None, [1, "a"], {"a": 1}])
def test_a_scalar_that_is_one_template_stays_a_string(value: Any) -> None:
    assert isinstance(compile_structure({"a": "{{ .v }}"}).render({"v": value})["a"], str)


def test_a_scalar_that_looks_like_a_number_is_not_retyped() -> None:
    assert compile_structure({"a": "1{{ .v }}", "b": "{{ .t }}"}).render({"v": 2, "t": True}) == {
        "a": "12",
        "b": "true",
    }


def test_keys_keep_the_order_of_the_document() -> None:
    rendered = compile_structure(MANIFEST).render(VARIABLES)
    assert list(rendered) == list(MANIFEST)
    assert list(rendered["metadata"]) == list(MANIFEST["metadata"])  # type: ignore[call-overload]  # a map


def test_every_rendering_is_a_new_document() -> None:
    structure = compile_structure({"list": [{"a": "{{ .v }}", "b": {"c": 1}}]})
    first = structure.render({"v": 1})
    first["list"][0]["b"]["c"] = "changed"
    first["list"].append("more")
    assert structure.render({"v": 2}) == {"list": [{"a": "2", "b": {"c": 1}}]}


def test_a_document_that_changes_after_compiling_changes_nothing() -> None:
    document = {"list": ["{{ .v }}"]}
    structure = compile_structure(document)
    document["list"].append("late")
    assert structure.render({"v": 1}) == {"list": ["1"]}


@pytest.mark.parametrize("scalar", [0, 1.5, True, None, datetime(2026, 3, 4, tzinfo=UTC), "plain {", b"raw"])
def test_what_is_no_template_stays_what_it_is(scalar: Any) -> None:
    assert compile_structure(scalar).render({}) is scalar
    assert compile_structure({"k": (scalar,), 5: scalar}).render({}) == {"k": [scalar], 5: scalar}


def test_it_knows_what_it_reads_and_calls() -> None:
    structure = compile_structure(MANIFEST)
    assert structure.free_variables == {"name", "kind", "generation"}
    assert structure.functions == {"lower"}
    assert compile_structure({"a": "{{ .x.y }}"}).free_paths == {("x", "y")}
    assert compile_structure({"a": 1}).free_variables == frozenset()


def test_one_clock_gives_now_in_the_whole_document() -> None:
    instant = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
    document = ["{{ now | date `15:04` }}", {"{{ now | date `2006` }}": 1}]
    assert compile_structure(document).render({}, clock=lambda: instant) == ["05:06", {"2026": 1}]


def test_a_mistake_says_where_in_the_document_it_is() -> None:
    with pytest.raises(Rejected) as refused:
        compile_structure({"spec": {"containers": [{}, {"image": "x{{ .imgae }}"}]}}, variables=["image"])
    assert str(refused.value) == "line 1, column 5: in spec.containers[1].image: unknown variable 'imgae'"
    assert refused.value.hint == "did you mean .image?"
    with pytest.raises(Rejected, match=r"in the key a\.{{ x }}: function 'x' is not defined"):
        compile_structure({"a": {"{{ x }}": 1}})
    with pytest.raises(Rejected, match="in the document: "):
        compile_structure("{{ x }}")


def test_a_failure_says_where_in_the_document_it_is() -> None:
    structure = compile_structure({"a": ["ok", "{{ .v.w }}"]})
    with pytest.raises(EvaluationError) as failed:
        structure.render({"v": {}})
    assert str(failed.value) == "line 1, column 6: in a[1]: the map has no key 'w'"
    assert (failed.value.fragment, failed.value.met) == (".v.w", "map with no keys")


def test_all_problems_are_listed_each_time_the_same() -> None:
    structure = compile_structure({"a": "{{ .b }}", "c": ["{{ .d }}{{ upper }}"]})
    expected = [
        "line 1, column 4: in a: unknown variable 'b'",
        "line 1, column 4: in c[0]: unknown variable 'd'",
        "line 1, column 12: in c[0]: upper takes 1 argument, got 0",
    ]
    assert [str(problem) for problem in structure.problems(["x"])] == expected
    assert [str(problem) for problem in structure.problems(["x"])] == expected
    assert len(structure.problems(["b", "d"])) == 1


def test_two_keys_that_become_one_are_an_error() -> None:
    structure = compile_structure({"m": {"a": 1, "{{ .k }}": 2}})
    assert structure.render({"k": "b"}) == {"m": {"a": 1, "b": 2}}
    with pytest.raises(EvaluationError, match=r"in the key m\.{{ \.k }}: the map gets the key 'a' twice"):
        structure.render({"k": "a"})


def test_the_limits_hold_for_the_whole_document() -> None:
    loop = "{{ range 20000 }}{{ end }}"
    assert compile_structure([loop]).render({}) == [""]
    with pytest.raises(LimitExceeded, match=r"in \[\d\]: the template takes more than"):
        compile_structure([loop] * 10).render({})


def test_a_document_without_end_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    with pytest.raises(Rejected, match="more than 100 levels"):
        compile_structure(endless)
    wide: Any = "x"
    for _ in range(7):
        wide = [wide] * 10
    with pytest.raises(Rejected, match="more than 100000 parts"):
        compile_structure(wide)
