"""The results file of a Job's container: written whole, on every way a command can end, for the status reporter.

By default it is the adapter report our sidecar reads, with the document's members (`manifestWorkName`, `consumer`,
`status`) as its data. `--results-format go` writes the Go tool's StatusResult instead.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maestro_cli.output.states import State, state_of, view
from shared import times
from shared.errors import HyperFleetError
from shared.files import write_atomically
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestWork
from shared.model.report import AdapterReport

FORMATS = ("report", "go")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a command ended. `state` is Applied, Failed, InProgress, Deleting or Deleted."""

    name: str
    consumer: str
    state: str
    reason: str
    message: str
    work: ManifestWork | None = None


@dataclass(slots=True)
class ResultsFile:
    """Where the result goes, if anybody asked.

    `name` and `consumer` are set as soon as they are known, `sent` once Maestro has the work: what fails after that is
    not a failure to apply it.
    """

    path: Path | None
    format: str = "report"
    name: str = ""
    consumer: str = ""
    sent: ManifestWork | None = None

    def write(self, outcome: Outcome) -> None:
        if self.path is None:
            return
        content = _go_result(outcome) if self.format == "go" else _report(outcome)
        try:
            write_atomically(self.path, content)
        except OSError as error:
            raise HyperFleetError(
                f"the results file {self.path} cannot be written", why=error.strerror or "unknown error"
            ) from error

    def write_success(self, work: ManifestWork, message: str) -> None:
        outcome = Outcome(
            name=work.name, consumer=work.consumer, state=_state(work), reason=_state(work), message=message, work=work
        )
        self.write(outcome)

    def write_deletion(self, names: str, *, gone: bool) -> None:
        if gone:
            self.write(self._outcome("Deleted", "Deleted", f"{names} is gone"))
        else:
            self.write(self._outcome("Deleting", "Deleting", f"{names} is being deleted"))

    def write_failure(self, error: HyperFleetError) -> None:
        state = "InProgress" if self.sent else "Failed"
        self.write(self._outcome(state, type(error).__name__, str(error), self.sent))

    def _outcome(self, state: str, reason: str, message: str, work: ManifestWork | None = None) -> Outcome:
        return Outcome(name=self.name, consumer=self.consumer, state=state, reason=reason, message=message, work=work)


def _state(work: ManifestWork) -> str:
    match state_of(work):
        case State.AVAILABLE | State.APPLIED:
            return "Applied"
        case State.IN_PROGRESS:
            return "InProgress"
    return str(state_of(work))


def _report(outcome: Outcome) -> bytes:
    data: Mapping[str, Any] = {
        "manifestWorkName": outcome.name,
        "consumer": outcome.consumer,
        "status": outcome.state,
        "resources": view(outcome.work, ours=True)["status"]["resources"] if outcome.work else [],
    }
    return AdapterReport(conditions=_conditions(outcome), data=data).to_bytes()


def _conditions(outcome: Outcome) -> tuple[Condition, ...]:
    """The work's own conditions where the command succeeded; where it did not, what failed comes first."""
    of_work = outcome.work.status.conditions if outcome.work else ()
    match outcome.state:
        case "Applied" | "InProgress" if of_work and outcome.reason == outcome.state:
            return of_work
        case "Deleted":
            own = Condition(type="Finalized", status=Status.TRUE, reason="Deleted", message=outcome.message)
        case "Deleting":
            own = Condition(type="Finalized", status=Status.FALSE, reason="Deleting", message=outcome.message)
        case "Applied":
            own = Condition(type="Applied", status=Status.TRUE, reason="Applied", message=outcome.message)
        case "InProgress":
            own = Condition(type="Available", status=Status.FALSE, reason=outcome.reason, message=outcome.message)
        case _:
            own = Condition(type="Applied", status=Status.FALSE, reason=outcome.reason, message=outcome.message)
    return (own, *(each for each in of_work if each.type != own.type))


def _go_result(outcome: Outcome) -> bytes:
    document: dict[str, Any] = {
        "name": outcome.name,
        "manifestWorkName": outcome.name,
        "consumer": outcome.consumer,
        "status": outcome.state,
        "message": outcome.message,
        "timestamp": times.to_seconds(times.now()),
    }
    if outcome.work:
        shown = view(outcome.work, ours=True)
        document |= {"id": shown["id"], "version": shown["version"]}
        document |= {"conditions": shown["status"]["conditions"], "resources": shown["status"]["resources"]}
    return json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"
