"""What the sidecar says about an adapter that may have reported, crashed, hung or never started.

`verdict` is pure: the file, the container, the clock and a signal go in, conditions come out. A valid report always
wins. Reasons and messages are those of the Go reporter where the case is the same; a new case is a new row here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.conditions import Condition, Status
from shared.report import AdapterReport
from status_reporter.container import Ended, Removed, State, Stuck, Unseen
from status_reporter.exits import Exit
from status_reporter.stopping import Stage

# Whether these hold is decided elsewhere; an adapter that died tells nothing about them.
UNDECIDED_TYPES = frozenset({"Applied", "Finalized"})


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no report file, or only one of a former attempt."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """There is a file, and this is why it is no report (yet)."""

    problem: str


@dataclass(frozen=True, slots=True)
class Found:
    report: AdapterReport


Reading = Missing | Unusable | Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything the verdict depends on. `stage` is how far this process is on its way to its end."""

    reading: Reading
    container: State
    waited: float
    max_wait: float
    stage: Stage = Stage.LIVING

    @property
    def out_of_time(self) -> bool:
        return self.waited >= self.max_wait

    @property
    def must_end(self) -> bool:
        return self.stage is Stage.LEAVING or self.out_of_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What to put on the Job. After a final one there is nothing to wait for; without `data` the Job keeps its own."""

    conditions: tuple[Condition, ...]
    data: Mapping[str, Any] | None = field(default=None)
    final: bool = True
    exit: Exit = Exit.REPORTED

    def says_the_same_as(self, other: "Verdict | None") -> bool:
        return other is not None and (self.conditions, self.data) == (other.conditions, other.data)

    @property
    def sentence(self) -> str:
        return ", ".join(f"{each.type}={each.status} ({each.reason})" for each in self.conditions)


def misconfigured(message: str, types: tuple[str, ...]) -> Verdict:
    return _synthetic(types, "ReporterMisconfigured", message, exit_=Exit.MISCONFIGURED)


def verdict(facts: Facts, types: tuple[str, ...]) -> Verdict | None:
    """None while there is nothing to say yet."""
    if isinstance(facts.reading, Found):
        report = facts.reading.report
        return Verdict(conditions=report.conditions, data=report.data, final=_is_over(facts))
    match facts.container:
        case Ended() as ended:
            return _synthetic(types, *_of_ended(ended, facts.reading), final=ended.for_good or _is_over(facts))
        case Removed(reason=reason, message=message):
            return _synthetic(types, f"Adapter{reason}", f"Adapter's pod was failed by Kubernetes: {message or reason}")
        case Stuck(reason=reason, message=message):
            text = f"Adapter container cannot start: {message or reason}"
            exit_ = Exit.TIMED_OUT if facts.out_of_time else Exit.REPORTED
            return _synthetic(types, reason, text, final=_is_over(facts), exit_=exit_)
    if facts.stage >= Stage.LINGERING or facts.out_of_time:
        return _of_nothing_more(facts, types)
    return None


def _is_over(facts: Facts) -> bool:
    """Whether no further report can come, or be waited for."""
    if facts.must_end:
        return True
    stopping = facts.stage is not Stage.LIVING
    match facts.container:
        case Ended(for_good=for_good):
            return for_good or stopping
        case Stuck():
            return stopping
        case Removed():
            return True
        case Unseen(knowable=knowable):
            return not knowable
    return False


def _of_nothing_more(facts: Facts, types: tuple[str, ...]) -> Verdict:
    if isinstance(facts.reading, Unusable):
        return _synthetic(types, *_invalid(facts.reading), final=facts.must_end)
    if facts.stage is not Stage.LIVING:
        message = "The pod was stopped before the adapter reported"
        return _synthetic(types, "ReporterTerminated", message, final=facts.must_end)
    message = f"Adapter did not produce results within {go_duration(facts.max_wait)}"
    return _synthetic(types, "AdapterTimeout", message, exit_=Exit.TIMED_OUT)


def _of_ended(ended: Ended, reading: Reading) -> tuple[str, str]:
    if ended.reason == "OOMKilled":
        return "AdapterOOMKilled", "Adapter container was killed due to out of memory (OOMKilled)"
    if ended.exit_code != 0:
        return "AdapterExitedWithError", _exit_message(ended, reading)
    if isinstance(reading, Unusable):
        return _invalid(reading)
    why = "result file not found"
    text = f"Adapter container exited successfully (code 0) but did not produce a valid result file: {why}"
    return "AdapterMissingResults", text


def _exit_message(ended: Ended, reading: Reading) -> str:
    message = f"Adapter container exited with code {ended.exit_code}: {ended.reason}".rstrip(": ")
    if ended.signal:
        message += f" (signal {ended.signal})"
    if ended.message:
        message += f": {ended.message.strip()}"
    if isinstance(reading, Unusable):
        message += f"; its report could not be used: {reading.problem}"
    return message


def _invalid(reading: Unusable) -> tuple[str, str]:
    return "InvalidResultFormat", f"Failed to parse adapter result: {reading.problem}"


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
    return Verdict(conditions=conditions, final=final, exit=exit_)


def go_duration(seconds: float) -> str:
    """Go's way to write a duration: 5m0s, 1h0m0s, 1.5s, 500ms."""
    if seconds < 1:
        return f"{seconds * 1000:g}ms"
    whole, rest = divmod(seconds, 60)
    text = f"{rest:g}s"
    if whole >= 60:  # noqa: PLR2004 - minutes of an hour
        return f"{int(whole // 60)}h{int(whole % 60)}m{text}"
    return f"{int(whole)}m{text}" if whole else text
