"""A table of scenarios for the end of a log: how each ended, how long it took, and what it took to get there."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from lab.real.artifacts import steps
from lab.real.artifacts.steps import Step


@dataclass(slots=True)
class Scenario:
    name: str
    outcome: str = "passed"
    seconds: float = 0.0
    why: str = ""


@dataclass(slots=True)
class Table:
    """Fed with pytest's reports. What is set up on the way to a scenario is no part of its time."""

    folder: str
    scenarios: dict[str, Scenario] = field(default_factory=dict)
    preparations: list[Step] = field(default_factory=list)
    _known: int = 0

    def take(self, report: pytest.TestReport) -> None:
        news, self._known = steps.done[self._known :], len(steps.done)
        ours = report.nodeid.startswith(self.folder)
        if not (ours and report.when == "call"):
            self.preparations += news
        if ours:
            scenario = self.scenarios.setdefault(report.nodeid, Scenario(_sentence(report.nodeid)))
            scenario.seconds += report.duration - (0 if report.when == "call" else _spent(news, report.start))
            if not report.passed:
                scenario.outcome, scenario.why = report.outcome, _reason(report)

    def lines(self) -> Iterator[str]:
        for each in self.preparations:
            yield _line("", each.seconds, each.what)
        yield _line("", sum(each.seconds for each in self.preparations), "= all that was set up")
        for scenario in self.scenarios.values():
            yield _line(scenario.outcome, scenario.seconds, f"{scenario.name}{scenario.why and f': {scenario.why}'}")
        yield _line("", sum(each.seconds for each in self.scenarios.values()), f"= {len(self.scenarios)} scenarios")


def _spent(news: list[Step], since: float) -> float:
    """Steps of other folders are printed first and do not count here."""
    return sum(each.seconds for each in news if each.began >= since)


def _line(outcome: str, seconds: float, what: str) -> str:
    return f"{outcome:8}{seconds:8.1f} s  {what}"


def _sentence(nodeid: str) -> str:
    return nodeid.rpartition("::")[2].removeprefix("test_").replace("_", " ")


def _reason(report: pytest.TestReport) -> str:
    """Why it was skipped; a failure has its own place in the log."""
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else ""
