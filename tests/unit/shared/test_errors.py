"""The tree of errors: what each one is, and what it says."""

import re

import pytest

from shared import errors
from shared.errors import Conflict, HyperFleetError, Invalid, Misconfigured, Permanent, Problem, Transient, Unavailable

BRANCHES = {"Transient": Transient, "Permanent": Permanent}


def drawn() -> dict[str, str]:
    """The tree of the module's docstring: each error's name and the name of what it stands under."""
    parents: dict[str, str] = {}
    trail: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"^ {4}([│├└─ ]*)([A-Z]\w+)\b", line):
            depth, name = len(match[1]), match[2]
            while trail and trail[-1][0] >= depth:
                trail.pop()
            parents[name] = trail[-1][1] if trail else "Exception"
            trail.append((depth, name))
    return parents


def defined() -> dict[str, type[HyperFleetError]]:
    return {
        name: each
        for name, each in vars(errors).items()
        if isinstance(each, type) and issubclass(each, HyperFleetError) and not name.startswith("_")
    }


def test_the_drawing_shows_every_error_and_no_other() -> None:
    assert drawn().keys() == defined().keys()


@pytest.mark.parametrize(("name", "parent"), drawn().items())
def test_each_error_stands_where_it_is_drawn(name: str, parent: str) -> None:
    public = [each.__name__ for each in defined()[name].__mro__[1:] if not each.__name__.startswith("_")]
    assert public[0] == parent


@pytest.mark.parametrize("kind", [each for each in defined().values() if each is not HyperFleetError])
def test_each_error_is_either_worth_another_try_or_not(kind: type[HyperFleetError]) -> None:
    names = [name for name, branch in BRANCHES.items() if issubclass(kind, branch)]
    assert len(names) == 1


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (HyperFleetError("it failed"), "it failed"),
        (HyperFleetError("it failed", why="no disk"), "it failed: no disk"),
        (HyperFleetError("it failed", remedy="buy one"), "it failed (buy one)"),
        (HyperFleetError("it failed", why="no disk", remedy="buy one"), "it failed: no disk (buy one)"),
        (Invalid("bad", [Problem("a.b", "is odd"), Problem("", "is empty")]), "bad: a.b: is odd; is empty"),
        (Misconfigured("bad", [Problem("a", "x")], why="another cause"), "bad: another cause"),
    ],
)
def test_an_error_is_one_line_of_what_why_and_remedy(error: HyperFleetError, sentence: str) -> None:
    assert str(error) == sentence


def test_problems_are_kept_apart_for_those_who_need_them() -> None:
    problems = [Problem("a", "x"), Problem("b", "y")]
    assert Invalid("bad", iter(problems)).problems == tuple(problems)


def test_a_wait_the_other_side_named_is_kept() -> None:
    assert Unavailable("busy", retry_after=3.0).retry_after == 3.0
    assert Unavailable("busy").retry_after is None


def test_a_conflict_knows_the_version_that_won() -> None:
    assert Conflict("late", latest_version=7).latest_version == 7
    assert Conflict("late").latest_version is None
