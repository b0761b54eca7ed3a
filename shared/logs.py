"""How the heavier containers log: one line per event, JSON for machines or text for a terminal, never a secret.

The field names are those of the Go framework (`time level msg component version hostname`, then context such as
`cluster_id`, `maestro_consumer`, `manifestwork`), so existing dashboards go on working. A program binds what all of its
lines are about once, at its start. Records of the standard `logging` module pass through the same chain.
"""

import contextlib
import logging
import os
import socket
import sys
from collections.abc import Mapping
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from shared import log_settings
from shared.environment import Environment
from shared.errors import Misconfigured
from shared.redaction import redact
from shared.standard_streams import wants_colour

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


def configure_from(variables: Mapping[str, str], *, component: str, version: str) -> None:
    """Logging as LOG_LEVEL, LOG_FORMAT and LOG_OUTPUT say; raises Misconfigured with all problems."""
    environment = Environment(variables)
    level, format_ = environment.read(log_settings.LEVEL), environment.read(log_settings.FORMAT)
    stream = sys.stdout if environment.read(log_settings.OUTPUT) == "stdout" else sys.stderr
    if environment.problems:
        raise Misconfigured("logging cannot be set up", environment.problems)
    configure(component=component, version=version, level=level, format_=format_, stream=stream)


def configure(*, component: str, version: str, level: str, format_: str, stream: TextIO) -> None:
    as_text = format_ == "text" or (format_ == "auto" and stream.isatty())
    gathering: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        _origin(component, version),
        structlog.processors.format_exc_info,
    ]
    finishing: list[Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.EventRenamer("msg"),
        _redact_secrets,
    ]
    rendering: list[Processor] = (
        [structlog.dev.ConsoleRenderer(colors=wants_colour(stream), event_key="msg", timestamp_key="time")]
        if as_text
        else [_name_stack_trace, structlog.processors.JSONRenderer(ensure_ascii=False)]
    )
    structlog.configure(
        processors=[*gathering, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = _RedactingHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(), *gathering],
            processors=[*finishing, *rendering],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(LEVELS[level])
    # httpx logs every request at info level; that is our debug.
    logging.getLogger("httpx").setLevel(max(LEVELS[level], logging.WARNING))


def get(name: str) -> structlog.stdlib.BoundLogger:
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger


def bind(**context: str | int | None) -> None:
    """Put these fields on every line from now on, of every logger in this task and those it starts."""
    structlog.contextvars.bind_contextvars(**{key: value for key, value in context.items() if value is not None})


class _RedactingHandler(logging.StreamHandler[TextIO]):
    """Logs only the origin of a line that cannot be written; the standard handler would print its arguments."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is the standard library's
        message = "a log line of %s:%d cannot be written"
        where = (record.pathname, record.lineno)
        substitute = logging.LogRecord(record.name, logging.ERROR, *where, message, where, None)
        with contextlib.suppress(Exception):
            self.stream.write(self.format(substitute) + self.terminator)
            self.flush()


def _origin(component: str, version: str) -> Processor:
    hostname = os.environ.get("POD_NAME") or socket.gethostname()

    def add(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        return {"component": component, "version": version, "hostname": hostname, **event}

    return add


def _name_stack_trace(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    if "exception" in event:
        event["stack_trace"] = event.pop("exception")
    return event


def _redact_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    return {key: redact(value, key=key) for key, value in event.items()}
