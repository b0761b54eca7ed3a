"""What can be waited for: the language, its precedence, its refusals, and how it is judged on a work's status."""

import contextlib
import os
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maestro_cli.waiting import InvalidExpression, met, parse, unmet
from maestro_cli.waiting.syntax import And, Comparator, Expression, In, Not, Or, Quantified, Quantifier, Target
from maestro_cli.waiting.syntax import Test as Comparison
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestStatus, ManifestWork, WorkStatus


def condition(type_: str, status: str = "True", generation: int = 2) -> Condition:
    return Condition(type=type_, status=Status(status), observed_generation=generation)


def work(*conditions: Condition, manifests: tuple[ManifestStatus, ...] = ()) -> ManifestWork:
    status = WorkStatus(conditions=conditions, manifests=manifests)
    return ManifestWork(name="w", consumer="c", manifests=(), generation=2, status=status)


APPLIED = condition("Applied")
JOB = ManifestStatus(
    kind="Job",
    name="sync",
    namespace="ns",
    conditions=(condition("Complete", "False"),),
    feedback={
        "succeeded": 2,
        "phase": "Running",
        "status": {"conditions": [{"type": "Ready", "status": "True"}], "n": 1},
    },
)
OTHER_JOB = ManifestStatus(kind="Job", name="other", namespace="ns", feedback={"succeeded": 0})
SEEN = work(APPLIED, condition("Available", "False"), manifests=(JOB, OTHER_JOB))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param("Applied", True, id="a condition of the work is True"),
        pytest.param("applied", True, id="conditions are found whatever their case"),
        pytest.param("Available", False, id="a condition that is False"),
        pytest.param("Available=False", True, id="another status than True"),
        pytest.param("Available==False", True, id="two equal signs"),
        pytest.param("Available!=True", True, id="not equal"),
        pytest.param("NOT Available", True, id="negation"),
        pytest.param("Applied OR Available AND Missing", True, id="AND binds closer than OR, which Go inverts"),
        pytest.param("(Applied) AND Available OR Applied", True, id="parentheses do not change what follows them"),
        pytest.param("(Applied OR Available) AND Available", False, id="parentheses group"),
        pytest.param("Applied && !Available || Missing", True, id="signs instead of words"),
        pytest.param("Job/sync:Complete", False, id="an object's condition"),
        pytest.param("Job/ns/sync:Complete=False", True, id="an object's condition by its status"),
        pytest.param("Job/sync:Ready", True, id="a condition that came as feedback"),
        pytest.param("Job/sync:succeeded>=2", True, id="a feedback value as a number"),
        pytest.param("Job/sync:phase=Running", True, id="a feedback value as text"),
        pytest.param("Job/sync:phase!='Run ning'", True, id="a quoted value"),
        pytest.param("Job/sync:status.n<2", True, id="a dotted path"),
        pytest.param("Job/sync:phase in (Failed, Running)", True, id="one of several"),
        pytest.param("Job:succeeded>=1", False, id="several objects: all of them count"),
        pytest.param("all(Job:succeeded>=1)", False, id="all, spelled out"),
        pytest.param("any(Job:succeeded>=1)", True, id="any of several objects"),
        pytest.param("Job:missing!=1", False, id="what is not known is not unequal either"),
        pytest.param("Deployment:Available", False, id="no such object"),
    ],
)
def test_an_expression_is_judged_on_the_status(expression: str, expected: object) -> None:
    assert met(parse(expression), SEEN) is expected


def test_a_condition_of_a_former_generation_does_not_count() -> None:
    stale = work(condition("Applied", generation=1), condition("Available", generation=1), manifests=(JOB,))
    assert not met(parse("Available"), stale)
    assert not met(parse("Job/sync:succeeded=2"), stale)
    assert unmet(parse("Job/sync:succeeded=2"), stale) == [
        "Job/sync:succeeded=2: version 2 of the work is not applied yet"
    ]


def test_fresh_conditions_count_whatever_the_order_of_their_transitions() -> None:
    assert met(parse("Available"), work(condition("Available"), condition("Applied")))


def test_what_is_missing_is_said_for_each_part() -> None:
    assert unmet(parse("Available AND Job:succeeded>=1 AND Applied"), SEEN) == [
        "Available: False",
        "Job:succeeded>=1: Job/other has 0",
    ]


@pytest.mark.parametrize(
    ("expression", "column", "problem"),
    [
        pytest.param("(Applied", 9, "')' is expected", id="an open parenthesis"),
        pytest.param("Applied AND", 12, "but it ends", id="nothing behind AND"),
        pytest.param("Applied or Available", 9, "write OR", id="a keyword in lower case"),
        pytest.param("Applied Available", 9, "AND, OR or the end", id="no keyword between two conditions"),
        pytest.param("", 1, "but it ends", id="nothing at all"),
        pytest.param("Job/a/b/c:Complete", 10, "Kind/namespace/name", id="too many parts"),
        pytest.param("Job/sync", 9, "a colon", id="an object without a question"),
        pytest.param("Job:x=", 7, "a value is expected", id="no value"),
        pytest.param("Job:x='a", 7, "closing quote", id="an open quote"),
        pytest.param("Applied ~ 1", 9, "not understood", id="an unknown sign"),
        pytest.param("NOT", 4, "but it ends", id="NOT of nothing"),
        pytest.param("a in ()", 7, "a value is expected", id="an empty list"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_place(expression: str, column: int, problem: str) -> None:
    with pytest.raises(InvalidExpression) as refused:
        parse(expression)
    assert f"column {column} " in str(refused.value)
    assert problem in str(refused.value)
    assert refused.value.explain().endswith("\n  " + " " * (column - 1) + "^")


def test_nesting_has_a_limit() -> None:
    with pytest.raises(InvalidExpression, match="nested"):
        parse("(" * 100 + "A" + ")" * 100)


NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9.\-]{0,8}[A-Za-z0-9]", fullmatch=True).filter(
    lambda name: name.upper() not in {"AND", "OR", "NOT", "IN", "ANY", "ALL", "TRUE", "FALSE"}
)
VALUES = st.one_of(
    st.text(string.printable, max_size=8),
    st.integers(-(10**9), 10**9),
    st.booleans(),
    st.floats(0.5, 1e6).map(lambda f: round(f, 3)),
)
TARGETS = st.one_of(st.builds(Target, NAMES), st.builds(Target, NAMES, NAMES), st.builds(Target, NAMES, NAMES, NAMES))
TESTS = st.one_of(
    st.builds(Comparison, NAMES, st.sampled_from(Comparator), VALUES, st.none() | TARGETS),
    st.builds(In, NAMES, st.lists(VALUES, min_size=1, max_size=3).map(tuple), st.none() | TARGETS),
)


def joined(of: type[And] | type[Or], operands: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    """Lists of at least two; one of its own kind inside would be spelled, and read, in parentheses."""
    return st.lists(operands, min_size=2, max_size=3).map(lambda each: of(tuple(each)))


EXPRESSIONS: st.SearchStrategy[Expression] = st.recursive(
    st.one_of(TESTS, st.builds(Quantified, st.sampled_from(Quantifier), TESTS)),
    lambda inner: st.one_of(st.builds(Not, inner), joined(And, inner), joined(Or, inner)),
    max_leaves=8,
)


@given(EXPRESSIONS)
def test_what_is_printed_parses_back_to_the_same(expression: Expression) -> None:
    assert parse(str(expression)) == expression


@given(st.text(st.sampled_from("AaNDORTin()=!<>&|:/,'\" .-12\\~"), max_size=40))
@settings(max_examples=100_000 if os.environ.get("SOAK") else 500, deadline=None)
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidExpression):
        assert met(parse(text), SEEN) in {True, False}
