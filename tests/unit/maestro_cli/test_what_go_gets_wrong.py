"""Each fault of the Go tool's waiting that was seen, as a row: what it does, and what we do instead.

A row with an expression is judged on `SEEN`; one with a place is refused there, before anything is sent. The rows below
the table are about the loop around the expression.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from maestro_cli.commands.works.waiting_for import Awaited, Progress
from maestro_cli.waiting import InvalidExpression, met, parse
from shared.errors import NotFound
from shared.maestro.config.settings import MaestroSettings
from shared.maestro.works.ownership import Ownership
from shared.maestro.works.reading import WorkReader
from shared.maestro.works.waiting import Watcher
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestStatus, ManifestWork, WorkStatus
from shared.times import parse as moment


def condition(type_: str, status: str = "True", *, generation: int = 2, at: str = "2026-01-01T00:00:00Z") -> Condition:
    return Condition(type=type_, status=Status(status), observed_generation=generation, last_transition_time=moment(at))


def job(name: str, *conditions: Condition, **feedback: Any) -> ManifestStatus:
    return ManifestStatus(kind="Job", name=name, namespace="ns", conditions=conditions, feedback=feedback)


def work(*conditions: Condition, jobs: tuple[ManifestStatus, ...] = (), generation: int = 2) -> ManifestWork:
    status = WorkStatus(conditions=conditions, manifests=jobs)
    return ManifestWork(name="w", consumer="c", manifests=(), generation=generation, status=status)


SEEN = work(
    condition("Applied"),
    condition("Available", "False"),
    condition("Progressing", "Unknown"),
    jobs=(job("first", phase="Done", n=1), job("second", phase="Running", n=0)),
)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param("Applied OR Available AND Missing", True, id="A OR B AND C is (A OR B) AND C"),
        pytest.param("(Available) AND Applied OR Applied", True, id="(A) AND B OR C is A AND (B OR C)"),
        pytest.param("NOT Available", True, id="NOT B is false for ever"),
        pytest.param("NOT Applied", False, id="NOT A of what holds"),
        pytest.param("Job/first:phase!=Running", True, id="x!=y is false for ever"),
        pytest.param("Job/first:phase==Done", True, id="x==y is false for ever"),
        pytest.param("Available=False", True, id="Available=False is false for ever"),
        pytest.param("Progressing=Unknown", True, id="no status but True can be asked for"),
        pytest.param("Job:phase=Done", False, id="of several objects only the first counts"),
        pytest.param("any(Job:phase=Running)", True, id="there is no any()"),
        pytest.param("all(Job:n>=0)", True, id="there is no all()"),
    ],
)
def test_an_expression_that_go_answers_wrongly(expression: str, expected: object) -> None:
    assert met(parse(expression), SEEN) is expected


@pytest.mark.parametrize(
    ("expression", "column"),
    [
        pytest.param("(Applied", 9, id="(A is no error"),
        pytest.param("Applied AND", 12, id="A AND is no error"),
        pytest.param("Applied or Available", 9, id="A or B is no error"),
        pytest.param("Applied AND OR Available", 13, id="two operators are no error"),
        pytest.param("Applied)", 8, id="A) is no error"),
    ],
)
def test_an_expression_that_go_waits_for_until_the_time_is_over(expression: str, column: int) -> None:
    with pytest.raises(InvalidExpression, match=f"column {column} "):
        Awaited.parse(expression, None)


def test_a_later_transition_of_applied_does_not_keep_the_wait_from_its_end() -> None:
    later = work(condition("Available"), condition("Applied", at="2026-01-01T00:10:00Z"))
    assert met(parse("Available"), later)


def test_conditions_of_the_version_before_an_update_do_not_satisfy() -> None:
    updated = work(condition("Applied"), condition("Available"), generation=3)
    assert not met(parse("Available"), updated)


def test_an_objects_status_of_the_version_before_an_update_does_not_satisfy() -> None:
    done = job("sync", condition("Complete"), n=1)
    assert met(parse("Job:Complete AND Job:n=1"), work(condition("Applied"), jobs=(done,)))
    assert not met(parse("Job:Complete"), work(condition("Applied"), jobs=(done,), generation=3))
    assert not met(parse("Job:n=1"), work(condition("Applied"), jobs=(done,), generation=3))


def test_a_failed_job_ends_the_wait_and_is_no_success() -> None:
    progress = Progress(Awaited.parse("Job:Complete", "Job:Failed"))
    assert not progress.reached(work(condition("Applied"), jobs=(job("sync"),)))
    assert progress.reached(work(condition("Applied"), jobs=(job("sync", condition("Failed")),)))
    assert progress.failed == "Job:Complete: Job/sync has no such value yet"


def test_a_work_that_is_not_there_yet_is_said_to_be_missing() -> None:
    progress = Progress(Awaited.parse("Applied", None))
    assert not progress.reached(None)
    assert progress.missing == ["there is no such work"]
    assert progress.reached(SEEN)


class RecordingRest:
    """Knows no work, and keeps what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def get(self, what: str, path: str, query: object = None) -> Any:
        self.asked.append(path)
        assert query is None, "a wait searches for nothing"
        raise NotFound(what)


class QuietStream:
    @asynccontextmanager
    async def feed(self, _wants: object) -> AsyncIterator["QuietStream"]:
        yield self

    async def next(self, _timeout: float) -> None:
        await asyncio.sleep(0)


async def test_a_look_reads_one_work_by_its_id_not_all_works_of_the_consumer() -> None:
    rest: Any = RecordingRest()
    stream: Any = QuietStream()
    ownership = Ownership(source_id="s", consumer="c", labels={})
    settings = MaestroSettings(
        grpc_server_address="h:1", http_server_address="http://h:1", source_id="s", insecure=True
    )
    looks = iter([False, False, True])
    watcher = Watcher(settings, WorkReader(rest, ownership), lambda: stream)
    await watcher.wait("w", lambda _: next(looks), timeout=60)
    assert rest.asked == [f"/resource-bundles/{ownership.id_of('w')}"] * 3
