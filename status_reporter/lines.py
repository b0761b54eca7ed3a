"""The sidecar's log: JSON lines with the project's field names, or text; to standard error, never a secret."""

import json
import logging
import os
import socket
import sys
from datetime import UTC, datetime

from shared import times
from shared.secrecy import conceal_text

COMPONENT = "status-reporter"
LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


class JsonLines(logging.Formatter):
    """One JSON object per line; `context` is on every one of them."""

    def __init__(self, context: dict[str, str]) -> None:
        super().__init__()
        self._context = context

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": times.to_micros(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "msg": conceal_text(record.getMessage()),
            **self._context,
        }
        if record.exc_info:
            line["stack_trace"] = conceal_text(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


class TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return conceal_text(super().format(record))


def configure(level: str, format_: str, *, version: str, context: dict[str, str]) -> None:
    hostname = os.environ.get("POD_NAME") or socket.gethostname()
    fields = {"component": COMPONENT, "version": version, "hostname": hostname, **context}
    handler = logging.StreamHandler(sys.stderr)
    text = TextLines("%(asctime)s %(levelname)-7s %(message)s")
    handler.setFormatter(JsonLines(fields) if format_ == "json" else text)
    logging.basicConfig(level=LEVELS[level], handlers=[handler], force=True)
