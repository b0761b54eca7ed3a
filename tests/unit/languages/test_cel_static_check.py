"""With the variables declared, what can be known to be wrong is found at load; without, it fails when evaluated."""

import pytest

from shared.languages.cel import compile_cel
from shared.languages.errors import EvaluationError, Rejected

DECLARED = ["resources", "adapter", "generation", "int"]


@pytest.mark.parametrize(
    ("source", "problem", "hint"),
    [
        pytest.param("resourses.x", "no variable resourses", "resources", id="misspelled-variable"),
        pytest.param("xyz", "no variable xyz", None, id="variable-like-no-other"),
        pytest.param("None == generation", "no variable None", "null", id="none-of-python"),
        pytest.param("True", "no variable True", "true", id="true-of-python"),
        pytest.param("size > 1", "no variable size", "size(...)", id="function-without-its-call"),
        pytest.param("sise(resources)", "no function sise", "size", id="misspelled-function"),
        pytest.param("adapter.name.length() > 1", "no function length", "size", id="function-of-another-language"),
        pytest.param("resources.exist(r, true)", "no function exist", "exists", id="misspelled-macro"),
        pytest.param("[1].map(x)", "map does not take 1 argument", "xs.map(x", id="macro-with-too-few-arguments"),
        pytest.param("has(adapter.a, adapter.b)", "has does not take 2", "has(value.field)", id="has-with-two"),
        pytest.param("toJson(1, 2)", "toJson does not take 2 arguments", "toJson(any)", id="too-many-arguments"),
        pytest.param('"abc".size', "a string has no 'size'", "size()", id="field-of-a-string"),
        pytest.param("1.5.name", "a double has no 'name'", None, id="field-of-a-number"),
        pytest.param("[1, 2].name", "a list has no 'name'", None, id="field-of-a-list"),
        pytest.param("[1, 2][2]", "no element 2", None, id="index-outside-a-list"),
        pytest.param('{"name": 1}.nama', "no 'nama'", "name", id="key-a-map-does-not-have"),
        pytest.param('{"name": 1}["nama"]', "no 'nama'", "name", id="index-a-map-does-not-have"),
        pytest.param("[1].filter(x, y > 1)", "no variable y", None, id="free-variable-in-a-body"),
        pytest.param("[1].filter(x, .x > 1)", "no variable x", None, id="rooted-name-is-never-bound"),
        pytest.param("x + [1].map(x, x)[0]", "no variable x", None, id="name-bound-only-inside"),
    ],
)
def test_what_cannot_be_right_is_refused(source: str, problem: str, hint: str | None) -> None:
    with pytest.raises(Rejected) as caught:
        compile_cel(source, variables=DECLARED)
    assert problem in caught.value.problem
    assert (hint or "") in (caught.value.hint or "")


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("resources.x.y", id="fields-of-variables-are-not-known"),
        pytest.param("has({'a': 1}.b)", id="has-asks-what-may-be-absent"),
        pytest.param("{'a': 1}.?b.orValue(2)", id="optional-access-asks-what-may-be-absent"),
        pytest.param("{generation: 1}.b", id="keys-known-only-at-run-time"),
        pytest.param("[?resources.?x][0]", id="elements-known-only-at-run-time"),
        pytest.param("type(generation) == string", id="names-of-types"),
        pytest.param("type(now()) == google.protobuf.Timestamp", id="qualified-names-of-types"),
        pytest.param("strings.quote(string(optional.of(1).value()))", id="qualified-functions"),
        pytest.param("startsWith(adapter.name, 'a')", id="target-as-first-argument"),
    ],
)
def test_what_may_be_right_is_accepted(source: str) -> None:
    compile_cel(source, variables=DECLARED)


@pytest.mark.parametrize("source", ["zz", "foo(generation)", "'abc'.size", "[1][5]", "{'a': 1}.b"])
def test_without_declarations_the_same_fails_when_evaluated(source: str) -> None:
    program = compile_cel(source)
    with pytest.raises(EvaluationError):
        program.evaluate({"generation": 1})


@pytest.mark.parametrize(
    ("source", "variables", "functions"),
    [
        ("1", set(), set()),
        ("a.b.c + d[e]", {"a", "d", "e"}, set()),
        ("xs.filter(x, x.y == z)", {"xs", "z"}, {"filter"}),
        ("x + xs.map(x, x)[0]", {"x", "xs"}, {"map"}),
        ("xs.map(x, .x)", {"xs", "x"}, {"map"}),
        ("xs.map(x, ys.map(y, x + y + z))", {"xs", "ys", "z"}, {"map"}),
        ("has(a.b) && size(c) > 0", {"a", "c"}, {"has", "size"}),
        ("strings.quote(a)", {"a"}, {"strings.quote"}),
        ("a.?b.orValue(c)", {"a", "c"}, {"orValue"}),
        ("type(a) == int", {"a"}, {"type"}),
        ("{a: b, ?'k': c}", {"a", "b", "c"}, set()),
        ("a ? b : c || d", {"a", "b", "c", "d"}, set()),
        ("o.optMap(v, v + w)", {"o", "w"}, {"optMap"}),
        ("foo(a)", {"a"}, {"foo"}),
    ],
)
def test_a_program_knows_its_free_variables_and_functions(
    source: str, variables: set[str], functions: set[str]
) -> None:
    program = compile_cel(source)
    assert program.free_variables == variables
    assert program.functions == functions
    assert program.source == source


def test_a_declared_variable_may_have_the_name_of_a_type() -> None:
    program = compile_cel("int + 1", variables=DECLARED)
    assert program.free_variables == {"int"}
    assert program.evaluate({"int": 41}) == 42


def test_a_program_cannot_be_changed() -> None:
    program = compile_cel("1")
    with pytest.raises(AttributeError):
        program.source = "2"  # type: ignore[misc]  # what must not work
