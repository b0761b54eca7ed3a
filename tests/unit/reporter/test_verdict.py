"""The sidecar's verdict: one row per case, and what holds for every combination of file, container, clock and signal."""

import itertools
import re
from datetime import UTC, datetime

import pytest

from shared.model.conditions import Condition, Status
from shared.model.report import AdapterReport
from status_reporter.exits import Exit
from status_reporter.pod.container import CannotStart, PodFailed, Running, State, Terminated, Unknown
from status_reporter.shutdown import Stage
from status_reporter.verdict import (
    Facts,
    Found,
    Missing,
    Reading,
    Unusable,
    Verdict,
    go_duration,
    misconfigured,
    verdict,
)

TYPES = ("Applied", "Available", "Health")
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
REPORT = AdapterReport(
    conditions=(Condition(type="Applied", status=Status.TRUE, reason="Created", message="it is there"),),
    data={"endpoint": "api.example"},
)

FOUND, MISSING, BROKEN = Found(REPORT), Missing(), Unusable("not JSON at line 1, column 2")
WELL = Terminated(exit_code=0, reason="Completed", message="")
FAILED = Terminated(exit_code=1, reason="Error", message="")
KILLED = Terminated(exit_code=137, reason="OOMKilled", message="")
AGAIN = Terminated(exit_code=1, reason="Error", message="", final=False)
SIGNALLED = Terminated(exit_code=139, reason="Error", message="", signal=11)
TALKING = Terminated(exit_code=2, reason="Error", message="no credentials\n")
NAMELESS = Terminated(exit_code=2, reason="", message="")
STUCK = CannotStart(reason="ImagePullBackOff", message="no such tag")
STUCK_SILENT = CannotStart(reason="CrashLoopBackOff", message="")
EVICTED = PodFailed(reason="Evicted", message="low on memory")
OVERDUE = PodFailed(reason="DeadlineExceeded", message="")
GOING, UNSEEN, BLIND = Running(), Unknown(), Unknown(observable=False)

READINGS: tuple[Reading, ...] = (FOUND, MISSING, BROKEN)
STATES: tuple[State, ...] = (
    *(GOING, Running(attempt_began=BEGAN), UNSEEN, BLIND, STUCK, STUCK_SILENT, EVICTED, OVERDUE),
    *(WELL, FAILED, KILLED, AGAIN, SIGNALLED, TALKING, NAMELESS),
)


def decide(reading: Reading, state: State, *, late: bool = False, stage: Stage = Stage.RUNNING) -> Verdict | None:
    facts = Facts(reading=reading, container=state, waited=300.0 if late else 10.0, max_wait=300.0, stage=stage)
    return verdict(facts, TYPES)


def row(
    sentence: str,
    reading: Reading,
    state: State,
    reason: str,
    message: str,
    *,
    late: bool = False,
    stage: Stage = Stage.RUNNING,
    final: bool = True,
    exit_: Exit = Exit.REPORTED,
) -> object:
    return pytest.param(reading, state, late, stage, reason, message, final, exit_, id=sentence)


@pytest.mark.parametrize(
    ("reading", "state", "late", "stage", "reason", "message", "final", "exit_"),
    [
        row(
            "out of memory",
            MISSING,
            KILLED,
            "AdapterOOMKilled",
            "Adapter container was killed due to out of memory (OOMKilled)",
        ),
        row(
            "out of memory while it wrote",
            BROKEN,
            KILLED,
            "AdapterOOMKilled",
            "Adapter container was killed due to out of memory (OOMKilled)",
        ),
        row(
            "ended with an error",
            MISSING,
            FAILED,
            "AdapterExitedWithError",
            "Adapter container exited with code 1: Error",
        ),
        row(
            "ended with an error and no reason",
            MISSING,
            NAMELESS,
            "AdapterExitedWithError",
            "Adapter container exited with code 2",
        ),
        row(
            "ended by a signal",
            MISSING,
            SIGNALLED,
            "AdapterExitedWithError",
            "Adapter container exited with code 139: Error (signal 11)",
        ),
        row(
            "ended with a termination message",
            MISSING,
            TALKING,
            "AdapterExitedWithError",
            "Adapter container exited with code 2: Error: no credentials",
        ),
        row(
            "ended with an error and a broken report",
            BROKEN,
            FAILED,
            "AdapterExitedWithError",
            "Adapter container exited with code 1: Error; its report could not be used: not JSON at line 1, column 2",
        ),
        row(
            "ended with an error and is started again",
            MISSING,
            AGAIN,
            "AdapterExitedWithError",
            "Adapter container exited with code 1: Error",
            final=False,
        ),
        row(
            "ended with an error, would be started again, but time is over",
            MISSING,
            AGAIN,
            "AdapterExitedWithError",
            "Adapter container exited with code 1: Error",
            late=True,
        ),
        row(
            "ended well and wrote nothing",
            MISSING,
            WELL,
            "AdapterMissingResults",
            "Adapter container exited successfully (code 0) but did not produce a valid result file: result file not found",
        ),
        row(
            "ended well and wrote nonsense",
            BROKEN,
            WELL,
            "InvalidResultFormat",
            "Failed to parse adapter result: not JSON at line 1, column 2",
        ),
        row(
            "cannot start",
            MISSING,
            STUCK,
            "ImagePullBackOff",
            "Adapter container cannot start: no such tag",
            final=False,
        ),
        row(
            "cannot start and does not say why",
            MISSING,
            STUCK_SILENT,
            "CrashLoopBackOff",
            "Adapter container cannot start: CrashLoopBackOff",
            final=False,
        ),
        row(
            "could not start in time",
            MISSING,
            STUCK,
            "ImagePullBackOff",
            "Adapter container cannot start: no such tag",
            late=True,
            exit_=Exit.TIMED_OUT,
        ),
        row(
            "could not start before the pod was stopped",
            MISSING,
            STUCK,
            "ImagePullBackOff",
            "Adapter container cannot start: no such tag",
            stage=Stage.EXITING,
        ),
        row("evicted", MISSING, EVICTED, "AdapterEvicted", "Kubernetes failed the adapter's pod: low on memory"),
        row(
            "over the pod's deadline",
            BROKEN,
            OVERDUE,
            "AdapterDeadlineExceeded",
            "Kubernetes failed the adapter's pod: DeadlineExceeded",
        ),
        row(
            "hangs",
            MISSING,
            GOING,
            "AdapterTimeout",
            "Adapter did not produce results within 5m0s",
            late=True,
            exit_=Exit.TIMED_OUT,
        ),
        row(
            "was never seen",
            MISSING,
            UNSEEN,
            "AdapterTimeout",
            "Adapter did not produce results within 5m0s",
            late=True,
            exit_=Exit.TIMED_OUT,
        ),
        row(
            "wrote nonsense and hangs",
            BROKEN,
            GOING,
            "InvalidResultFormat",
            "Failed to parse adapter result: not JSON at line 1, column 2",
            late=True,
        ),
        row(
            "stopped before anything was known",
            MISSING,
            GOING,
            "ReporterTerminated",
            "The pod was stopped before the adapter reported",
            stage=Stage.EXITING,
        ),
        row(
            "stopped over a half-written report",
            BROKEN,
            GOING,
            "InvalidResultFormat",
            "Failed to parse adapter result: not JSON at line 1, column 2",
            stage=Stage.EXITING,
        ),
        row(
            "stopped when the time was over",
            MISSING,
            UNSEEN,
            "ReporterTerminated",
            "The pod was stopped before the adapter reported",
            late=True,
            stage=Stage.EXITING,
        ),
        row(
            "stopped after the adapter had crashed",
            MISSING,
            FAILED,
            "AdapterExitedWithError",
            "Adapter container exited with code 1: Error",
            stage=Stage.EXITING,
        ),
        row(
            "signalled to stop while the adapter cannot start",
            MISSING,
            STUCK,
            "ImagePullBackOff",
            "Adapter container cannot start: no such tag",
            stage=Stage.STOPPING,
        ),
        row(
            "signalled to stop before the adapter was started again",
            MISSING,
            AGAIN,
            "AdapterExitedWithError",
            "Adapter container exited with code 1: Error",
            stage=Stage.STOPPING,
        ),
        row(
            "signalled to stop, and the adapter does not answer",
            MISSING,
            GOING,
            "ReporterTerminated",
            "The pod was stopped before the adapter reported",
            stage=Stage.OVERDUE,
            final=False,
        ),
        row(
            "signalled to stop where the pod may not be seen, and the adapter does not answer",
            MISSING,
            BLIND,
            "ReporterTerminated",
            "The pod was stopped before the adapter reported",
            stage=Stage.OVERDUE,
            final=False,
        ),
        row(
            "signalled to stop, and the adapter's answer is half-written",
            BROKEN,
            GOING,
            "InvalidResultFormat",
            "Failed to parse adapter result: not JSON at line 1, column 2",
            stage=Stage.OVERDUE,
            final=False,
        ),
        row(
            "signalled to stop, and the adapter ends without an answer",
            MISSING,
            FAILED,
            "AdapterExitedWithError",
            "Adapter container exited with code 1: Error",
            stage=Stage.OVERDUE,
        ),
    ],
)
def test_an_adapter_without_a_report(
    *,
    reading: Reading,
    state: State,
    late: bool,
    stage: Stage,
    reason: str,
    message: str,
    final: bool,
    exit_: Exit,
) -> None:
    decided = decide(reading, state, late=late, stage=stage)
    assert decided is not None
    assert [(each.reason, each.message) for each in decided.conditions] == [(reason, message)] * len(TYPES)
    assert (decided.final, decided.exit, decided.data) == (final, exit_, None)


@pytest.mark.parametrize("reading", [MISSING, BROKEN])
@pytest.mark.parametrize("state", [GOING, UNSEEN, BLIND])
@pytest.mark.parametrize("stage", [Stage.RUNNING, Stage.STOPPING])
def test_nothing_is_said_while_a_report_may_still_come(reading: Reading, state: State, stage: Stage) -> None:
    assert decide(reading, state, stage=stage) is None


@pytest.mark.parametrize(
    ("state", "final"),
    [
        pytest.param(GOING, False, id="it may be replaced while the adapter runs"),
        pytest.param(UNSEEN, False, id="it may be replaced while the adapter is not seen yet"),
        pytest.param(STUCK_SILENT, False, id="it may be replaced by the next attempt"),
        pytest.param(AGAIN, False, id="it may be replaced after a restart"),
        pytest.param(BLIND, True, id="it is final where the adapter's end would never be seen"),
        pytest.param(WELL, True, id="it is final for an adapter that ended"),
        pytest.param(KILLED, True, id="it is final for an adapter that was killed"),
        pytest.param(EVICTED, True, id="it is final for an evicted pod"),
    ],
)
def test_a_report_is_reported_at_once(state: State, *, final: bool) -> None:
    decided = decide(FOUND, state)
    assert decided == Verdict(conditions=REPORT.conditions, data=REPORT.data, final=final)


@pytest.mark.parametrize("stage", [Stage.STOPPING, Stage.OVERDUE])
@pytest.mark.parametrize(
    ("state", "final"),
    [
        pytest.param(GOING, False, id="the adapter may report after the signal"),
        pytest.param(UNSEEN, False, id="an adapter that is not seen yet may answer"),
        pytest.param(STUCK_SILENT, True, id="an adapter that does not run cannot answer"),
        pytest.param(AGAIN, True, id="an adapter that ended is not started again in a pod that ends"),
        pytest.param(BLIND, True, id="the first report is the last where the pod may not be seen"),
        pytest.param(WELL, True, id="an adapter that has ended has answered"),
    ],
)
def test_a_report_is_reported_at_once_by_a_sidecar_that_got_a_signal(
    state: State, stage: Stage, *, final: bool
) -> None:
    decided = decide(FOUND, state, stage=stage)
    assert decided == Verdict(conditions=REPORT.conditions, data=REPORT.data, final=final)


COMBINATIONS = [
    pytest.param(
        reading,
        state,
        late,
        stage,
        id=f"{type(reading).__name__}-{index}{type(state).__name__}-{'late' if late else 'in time'}-{stage.name.lower()}",
    )
    for reading, (index, state), late, stage in itertools.product(READINGS, enumerate(STATES), (False, True), Stage)
]


@pytest.mark.parametrize(("reading", "state", "late", "stage"), COMBINATIONS)
def test_whatever_happens(*, reading: Reading, state: State, late: bool, stage: Stage) -> None:
    decided = decide(reading, state, late=late, stage=stage)
    over = late or stage is Stage.EXITING

    if decided is None:
        assert stage < Stage.OVERDUE, "an adapter that does not answer is reported"
        assert not over, "at the end something is always said"
        assert isinstance(state, Running | Unknown), "an adapter in trouble is always reported"
        assert not isinstance(reading, Found), "a report is always reported"
        return
    assert decided.final or not over, "after the end nothing is waited for"
    assert decided.final or decided.exit is Exit.REPORTED, "only a final verdict can be a failure"
    assert decided.exit in (Exit.REPORTED, Exit.TIMED_OUT)
    assert decided.exit is Exit.REPORTED or late, "only time can run out"
    if isinstance(reading, Found):
        assert (decided.conditions, decided.data, decided.exit) == (REPORT.conditions, REPORT.data, Exit.REPORTED)
        return
    assert decided.data is None, "the Job keeps the data of a former attempt"
    assert {each.type: each.status for each in decided.conditions} == {
        "Applied": Status.UNKNOWN,
        "Available": Status.FALSE,
        "Health": Status.FALSE,
    }
    for condition in decided.conditions:
        assert re.fullmatch(r"[A-Z][A-Za-z]+", condition.reason)
        assert condition.message


def test_what_a_dead_adapter_cannot_know_is_unknown_and_the_rest_is_false() -> None:
    facts = Facts(reading=MISSING, container=FAILED, waited=0.0, max_wait=1.0)
    decided = verdict(facts, ("Applied", "Finalized", "Available", "example.com/Ready"))
    assert decided is not None
    assert [each.status for each in decided.conditions] == ["Unknown", "Unknown", "False", "False"]


def test_settings_that_cannot_work_are_a_verdict_too() -> None:
    decided = misconfigured("POLL_INTERVAL: 'never' is not a duration", ("Available",))
    assert (decided.final, decided.exit) == (True, Exit.MISCONFIGURED)
    assert decided.conditions == (
        Condition(
            type="Available",
            status=Status.FALSE,
            reason="ReporterMisconfigured",
            message="POLL_INTERVAL: 'never' is not a duration",
        ),
    )


def test_verdicts_say_the_same_when_the_job_would_look_the_same() -> None:
    now, later = decide(FOUND, GOING), decide(FOUND, WELL)
    assert now is not None
    assert later is not None
    assert (now.final, later.final) == (False, True)
    assert now.same_content_as(later)
    assert not now.same_content_as(decide(MISSING, WELL))
    assert not now.same_content_as(None)


def test_the_sentence_of_a_verdict_names_each_condition() -> None:
    decided = decide(MISSING, KILLED)
    assert decided is not None
    assert decided.summary == (
        "Applied=Unknown (AdapterOOMKilled), Available=False (AdapterOOMKilled), Health=False (AdapterOOMKilled)"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.5, "500ms"),
        (1, "1s"),
        (1.5, "1.5s"),
        (60, "1m0s"),
        (90, "1m30s"),
        (300, "5m0s"),
        (3600, "1h0m0s"),
        (5400.5, "1h30m0.5s"),
    ],
)
def test_durations_are_written_as_go_does(seconds: float, text: str) -> None:
    assert go_duration(seconds) == text
