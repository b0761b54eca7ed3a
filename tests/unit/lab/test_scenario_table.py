"""The table at the end of the log of the tests on a real cluster."""

from typing import Literal

import pytest

from lab.real.artifacts import steps
from lab.real.artifacts.steps import Step
from tests.support.scenario_table import Table

Phase = Literal["setup", "call", "teardown"]
Outcome = Literal["passed", "failed", "skipped"]
STARTED = 1000.0


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "done", [])


def report(
    name: str, when: Phase, seconds: float, outcome: Outcome = "passed", why: tuple[str, int, str] | None = None
) -> pytest.TestReport:
    location = ("x", 1, name)
    return pytest.TestReport(
        f"here/test_x.py::{name}", location, {}, outcome, why, when, duration=seconds, start=STARTED
    )


def test_it_names_each_scenario_with_its_outcome_and_time_and_what_was_set_up_by_itself() -> None:
    table = Table("here/")
    steps.done.append(Step("build etcd", 70.0, STARTED))
    table.take(report("test_it_works", "setup", 71.0))
    steps.done.append(Step("cluster of its own", 5.0, STARTED))
    table.take(report("test_it_works", "call", 8.0))
    table.take(report("test_it_works", "teardown", 1.0))
    table.take(report("test_it_does_not", "setup", 0.5))
    table.take(report("test_it_does_not", "call", 2.0, "failed"))
    table.take(report("test_not_here", "setup", 0.0, "skipped", ("x", 1, "Skipped: it needs root")))

    assert list(table.lines()) == [
        "            70.0 s  build etcd",
        "            70.0 s  = all that was set up",
        "passed      10.0 s  it works",
        "failed       2.5 s  it does not",
        "skipped      0.0 s  not here: Skipped: it needs root",
        "            12.5 s  = 3 scenarios",
    ]


def test_of_tests_elsewhere_only_the_builds_are_shown() -> None:
    table = Table("elsewhere/")
    steps.done.append(Step("build maestro", 300.0, STARTED))
    table.take(report("test_x", "call", 301.0))

    assert table.scenarios == {}
    assert [each.what for each in table.preparations] == ["build maestro"]


def test_what_was_built_before_takes_nothing_off_the_first_scenario() -> None:
    table = Table("here/")
    steps.done.extend([Step("build maestro", 300.0, STARTED - 301.0), Step("node", 4.0, STARTED + 1.0)])
    table.take(report("test_it_works", "setup", 5.0))

    assert [each.what for each in table.preparations] == ["build maestro", "node"]
    assert [each.seconds for each in table.scenarios.values()] == [1.0]
