"""The sidecar's log: JSON lines with the project's field names, or text; to standard error, never a secret."""

import json
import logging
import os
import socket
import sys
from datetime import UTC, datetime

from shared import times
from shared.redaction import redact_text

COMPONENT = "status-reporter"
LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


# What all lines are about: who logs, and for which Job and cluster.
_context: dict[str, str] = {}


class JsonLines(logging.Formatter):
    """One JSON object per line, with the bound context in every one of them."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": times.to_micros(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "msg": redact_text(record.getMessage()),
            **_context,
        }
        if record.exc_info:
            line["stack_trace"] = redact_text(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


class TextLines(logging.Formatter):
    """Lines for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return redact_text(super().format(record))


def configure(level: str, format_: str, *, version: str, context: dict[str, str]) -> None:
    hostname = os.environ.get("POD_NAME") or socket.gethostname()
    _context.clear()
    bind(component=COMPONENT, version=version, hostname=hostname, **context)
    handler = logging.StreamHandler(sys.stderr)
    text = TextLines("%(asctime)s %(levelname)-7s %(message)s")
    handler.setFormatter(JsonLines() if format_ == "json" else text)
    logging.basicConfig(level=LEVELS[level], handlers=[handler], force=True)


def bind(**context: str) -> None:
    """Put these fields on every line from now on; an empty one is left out."""
    _context.update({key: redact_text(value) for key, value in context.items() if value})
