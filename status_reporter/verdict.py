"""The conditions for an adapter that may have reported, crashed, hung or never started.

`verdict` is pure: the file, the container, the clock and a signal go in, conditions come out. A valid report always
wins. Reasons and messages are those of the Go reporter where the case is the same.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from shared.model.conditions import Condition, Status
from shared.model.report import AdapterReport
from shared.redaction import redact_text
from status_reporter.exits import Exit
from status_reporter.pod.container import CANNOT_START_REASONS, CannotStart, PodFailed, State, Terminated, Unknown
from status_reporter.settings import RESERVED_TYPES
from status_reporter.shutdown import Stage

# Whether these hold is decided elsewhere; the end of an adapter says nothing about them.
UNDECIDED_TYPES = frozenset({"Applied", "Finalized"})
# Reasons of a failed pod, as Kubernetes gives them.
POD_REASONS = ("Evicted", "DeadlineExceeded", "NodeLost", "NodeShutdown", "Preempting", "Terminated")
REASONS = frozenset(
    {
        *("AdapterExitedWithError", "AdapterOOMKilled", "AdapterMissingResults", "AdapterTimeout"),
        *("InvalidResultFormat", "ReporterTerminated", "ReporterMisconfigured"),
        *(f"Adapter{reason}" for reason in POD_REASONS),
        *CANNOT_START_REASONS,
    }
)


class Missing(NamedTuple):
    """There is no report file, or only one of an earlier attempt."""

    def __str__(self) -> str:
        return "no file of this attempt"


class Unusable(NamedTuple):
    """There is a file that is not a valid report (yet)."""

    problem: str

    def __str__(self) -> str:
        return self.problem


class Found(NamedTuple):
    report: AdapterReport


Reading = Missing | Unusable | Found


class Facts(NamedTuple):
    """Everything the verdict depends on. `stage` is how far the shutdown has come."""

    reading: Reading
    container: State
    waited: float
    max_wait: float
    stage: Stage = Stage.RUNNING

    @property
    def out_of_time(self) -> bool:
        return self.waited >= self.max_wait

    @property
    def must_end(self) -> bool:
        return self.stage is Stage.EXITING or self.out_of_time


class Verdict(NamedTuple):
    """What to write to the Job. After a final one nothing is awaited; without `data` the Job keeps its own.

    `synthetic`: the conditions are the reporter's own, because there is no report.
    """

    conditions: tuple[Condition, ...]
    data: Mapping[str, Any] | None = None
    final: bool = True
    synthetic: bool = False
    exit: Exit = Exit.REPORTED

    def same_content_as(self, other: "Verdict | None") -> bool:
        return other is not None and (self.conditions, self.data) == (other.conditions, other.data)

    @property
    def summary(self) -> str:
        """The conditions that are set; those of the Job controller are left out."""
        kept = [each for each in self.conditions if each.type not in RESERVED_TYPES]
        return ", ".join(f"{each.type}={each.status} ({each.reason})" for each in kept)


def misconfigured(message: str, types: tuple[str, ...]) -> Verdict:
    return _synthetic(types, "ReporterMisconfigured", message, exit_=Exit.MISCONFIGURED)


def verdict(facts: Facts, types: tuple[str, ...]) -> Verdict | None:
    """None while there is nothing to write yet."""
    if isinstance(facts.reading, Found):
        report = facts.reading.report
        return Verdict(conditions=report.conditions, data=report.data, final=_is_over(facts))
    match facts.container:
        case Terminated() as ended:
            return _synthetic(types, *_of_terminated(ended, facts.reading), final=ended.final or _is_over(facts))
        case PodFailed(reason=reason, message=message):
            text = f"Kubernetes failed the adapter's pod: {redact_text(message) or reason}"
            return _synthetic(types, f"Adapter{reason}", text)
        case CannotStart(reason=reason, message=message):
            text = f"Adapter container cannot start: {redact_text(message) or reason}"
            exit_ = Exit.TIMED_OUT if facts.out_of_time else Exit.REPORTED
            return _synthetic(types, reason, text, final=_is_over(facts), exit_=exit_)
    if facts.stage >= Stage.OVERDUE or facts.out_of_time:
        return _of_no_report(facts, types)
    return None


def _is_over(facts: Facts) -> bool:
    """Whether no further report can come, or be awaited."""
    if facts.must_end:
        return True
    stopping = facts.stage is not Stage.RUNNING
    match facts.container:
        case Terminated(final=final):
            return final or stopping
        case CannotStart():
            return stopping
        case PodFailed():
            return True
        case Unknown(observable=observable):
            return not observable
    return False


def _of_no_report(facts: Facts, types: tuple[str, ...]) -> Verdict:
    if isinstance(facts.reading, Unusable):
        return _synthetic(types, *_invalid(facts.reading), final=facts.must_end)
    if facts.stage is not Stage.RUNNING:
        message = "The pod was stopped before the adapter reported"
        return _synthetic(types, "ReporterTerminated", message, final=facts.must_end)
    message = f"Adapter did not produce results within {go_duration(facts.max_wait)}"
    return _synthetic(types, "AdapterTimeout", message, exit_=Exit.TIMED_OUT)


def _of_terminated(ended: Terminated, reading: Reading) -> tuple[str, str]:
    if ended.reason == "OOMKilled":
        return "AdapterOOMKilled", "Adapter container was killed due to out of memory (OOMKilled)"
    if ended.exit_code != 0:
        return "AdapterExitedWithError", _exit_message(ended, reading)
    if isinstance(reading, Unusable):
        return _invalid(reading)
    why = "result file not found"
    text = f"Adapter container exited successfully (code 0) but did not produce a valid result file: {why}"
    return "AdapterMissingResults", text


def _exit_message(ended: Terminated, reading: Reading) -> str:
    message = f"Adapter container exited with code {ended.exit_code}: {ended.reason}".rstrip(": ")
    if ended.signal:
        message += f" (signal {ended.signal})"
    if ended.message:
        message += f": {redact_text(ended.message.strip())}"
    if isinstance(reading, Unusable):
        message += f"; its report could not be used: {redact_text(reading.problem)}"
    return message


def _invalid(reading: Unusable) -> tuple[str, str]:
    return "InvalidResultFormat", f"Failed to parse adapter result: {redact_text(reading.problem)}"


def _synthetic(
    types: tuple[str, ...], reason: str, message: str, *, final: bool = True, exit_: Exit = Exit.REPORTED
) -> Verdict:
    conditions = tuple(
        Condition(
            type=type_,
            status=Status.UNKNOWN if type_ in UNDECIDED_TYPES else Status.FALSE,
            reason=reason,
            message=message,
        )
        for type_ in types
    )
    return Verdict(conditions=conditions, final=final, synthetic=True, exit=exit_)


def go_duration(seconds: float) -> str:
    """A duration in Go's format: 5m0s, 1h0m0s, 1.5s, 500ms."""
    if seconds < 1:
        return f"{seconds * 1000:g}ms"
    whole, rest = divmod(seconds, 60)
    text = f"{rest:g}s"
    if whole >= 60:  # noqa: PLR2004 - minutes of an hour
        return f"{int(whole // 60)}h{int(whole % 60)}m{text}"
    return f"{int(whole)}m{text}" if whole else text
