"""One run while it lasts: what the phases share, and what they leave behind for the result."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from dispatcher.config.compiled import Adapter, LogAction
from dispatcher.engine.metadata import Metadata
from dispatcher.engine.ports import Ports
from dispatcher.engine.redaction import redact_secrets
from dispatcher.engine.runs import AwaitedDeletion, Phase, Requeue, RunRequest
from dispatcher.engine.variables import Variables
from shared import logs
from shared.errors import HyperFleetError, Transient
from shared.languages.cel import CelProgram
from shared.languages.errors import LanguageError
from shared.languages.gotemplate import Template

Failure = (HyperFleetError, LanguageError)
"""What a step may raise; anything else is a defect of ours."""

NOT_FOUND = "ResourceNotFound"
"""The reason of a skip after the API said that the object does not exist."""

_log = logs.get("dispatcher.engine")


class Run:
    __slots__ = (
        "adapter",
        "awaited",
        "built",
        "errors",
        "failed_expressions",
        "metadata",
        "missing_job",
        "not_found",
        "observed_at",
        "phase",
        "ports",
        "request",
        "requeue",
        "secrets",
        "transient",
        "unmet",
        "variables",
        "warnings",
        "withhold",
    )

    def __init__(self, adapter: Adapter, ports: Ports, request: RunRequest, environment: Mapping[str, str]) -> None:
        self.adapter = adapter
        self.ports = ports
        self.request = request
        self.metadata = Metadata()
        self.variables = Variables(adapter, request.event.data, environment, self.metadata.values)
        self.observed_at: datetime = ports.clock.now()
        self.phase = Phase.PARAMS
        self.errors: dict[Phase, str] = {}
        self.failed_expressions: dict[Phase, int] = {}
        self.warnings: list[str] = []
        self.secrets: set[str] = set()
        self.built: dict[str, dict[str, Any]] = {}
        """Payloads by their text, which a body mostly is."""
        self.awaited: list[AwaitedDeletion] = []
        self.requeue: Requeue | None = None
        self.transient = False
        self.not_found = False
        self.unmet = False
        self.missing_job = ""
        """A Job that its TTL may have removed, where this run may not make it again."""
        self.withhold = ""
        """Why no status of this run may be sent, where none may."""

    def evaluate(self, program: CelProgram, *, has_default: bool = False) -> Any:
        """A failure is counted, unless its author foresaw it with a default."""
        try:
            return program.evaluate(self.variables.cel, clock=self.ports.clock.now)
        except LanguageError:
            if not has_default:
                self.count_failed_expression()
            raise

    def count_failed_expression(self) -> None:
        self.failed_expressions[self.phase] = self.failed_expressions.get(self.phase, 0) + 1

    def matches(self, program: CelProgram) -> bool:
        return is_match(self.evaluate(program))

    def render(self, template: Template) -> str:
        if template.compiled is None:
            return template.source
        return template.evaluate(self.variables.template, clock=self.ports.clock.now)

    def fail(self, phase: Phase, step: str, error: BaseException | str, *, what: str = "") -> str:
        """Records a failure and returns its text; `what` goes before it."""
        text = self.text_of(error)
        message = f"{what} because {text}" if what else text
        self.metadata.fail(phase, step, message)
        named = message if step in message else f"{step}: {message}"
        self.errors[phase] = f"{self.errors[phase]}; {named}" if phase in self.errors else named
        if isinstance(error, Transient):
            self.transient = True
            self.run_again(Requeue(reason=message, after=error.retry_after))
        return message

    def text_of(self, error: BaseException | str) -> str:
        text = str(error)
        if isinstance(error, LanguageError) and error.hint:
            text = f"{text} ({error.hint})"
        return str(redact_secrets(text, self.secrets))

    def skip(self, reason: str) -> None:
        self.metadata.skip(str(redact_secrets(reason, self.secrets)))

    def warn(self, text: str) -> None:
        self._remark(text, logging.WARNING)

    def note(self, text: str) -> None:
        """A warning in traces; what many configurations live with is no line in the log of every event."""
        self._remark(text, logging.DEBUG)

    def _remark(self, text: str, level: int) -> None:
        redacted = str(redact_secrets(text, self.secrets))
        self.warnings.append(redacted)
        _log.log(level, redacted)

    def run_again(self, requeue: Requeue) -> None:
        """The earliest of several requests counts. The next run only observes where none of them asks for more.

        A run that writes nothing asks for no other that does, unless for a newer generation.
        """
        if not self.request.writes and requeue.generation is None:
            requeue = replace(requeue, observe_only=True)
        former = self.requeue or requeue
        earliest = requeue if (requeue.after or 0.0) < (former.after or 0.0) else former
        self.requeue = replace(earliest, observe_only=former.observe_only and requeue.observe_only)

    def log(self, action: LogAction) -> None:
        """An author's own line. One that cannot be rendered is no reason to stop."""
        try:
            message = self.render(action.message)
        except LanguageError as error:
            self.warn(f"a log message cannot be rendered: {self.text_of(error)}")
            return
        level = logs.LEVELS.get(action.level.lower(), logs.LEVELS["info"])
        _log.log(level, f"[config] {redact_secrets(message, self.secrets)}")


def is_match(value: Any) -> bool:
    """Whether a condition's value means yes: null, "" and empty lists and objects do not, every number does."""
    match value:
        case bool() | str() | list() | dict():
            return bool(value)
    return value is not None
