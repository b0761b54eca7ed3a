"""HTTP calls and log lines: parts that several phases have."""

import re
from typing import Final

from dispatcher.config.compiled import ApiCall, LogAction
from dispatcher.config.compiling.context import Context
from dispatcher.config.compiling.scopes import Scope
from dispatcher.config.findings import Severity
from dispatcher.config.models.task import ApiCallBlock, LogBlock
from dispatcher.config.reading.paths import Path
from shared.times import parse_duration

BACKOFFS: Final = ("exponential", "linear", "constant")
LEVELS: Final = ("debug", "info", "warn", "warning", "error")
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


def api_call(context: Context, block: ApiCallBlock, path: Path, scope: Scope) -> ApiCall:
    if "method" not in block.model_fields_set:
        place = context.place(path, key=True)
        context.report(
            Severity.ADVICE, "no-method", "has no method; GET is used", place, "the Go framework refuses this"
        )
    if block.retry_backoff and block.retry_backoff not in BACKOFFS:
        place = context.place((*path, "retry_backoff"))
        context.report(
            Severity.MISTAKE, "backoff", f"{block.retry_backoff!r} is not one of {', '.join(BACKOFFS)}", place
        )
    if block.body and block.method not in _WITH_BODY:
        message = f"the body is not sent with {block.method}"
        context.report(Severity.MISTAKE, "unused-body", message, context.place((*path, "body"), key=True))
    for index, header in enumerate(block.headers):
        if not _HEADER_NAME.fullmatch(header.name):
            place = context.place((*path, "headers", index, "name"))
            context.report(Severity.MISTAKE, "invalid-value", f"{header.name!r} is no name of an HTTP header", place)
    headers = [
        (
            header.name,
            context.template(header.value, context.locate((*path, "headers", index, "value")), scope.template),
        )
        for index, header in enumerate(block.headers)
    ]
    return ApiCall(
        method=block.method,
        url=context.template(block.url, context.locate((*path, "url")), scope.template),
        headers=tuple(headers),
        body=context.template(block.body, context.locate((*path, "body")), scope.template) if block.body else None,
        timeout=_timeout(context, block.timeout, (*path, "timeout")),
        retry_attempts=block.retry_attempts if block.retry_attempts > 0 else None,
        retry_backoff=block.retry_backoff or None,
    )


def _timeout(context: Context, text: str, path: Path) -> float | None:
    """A timeout that cannot be read leaves the client's, as in Go."""
    if not text.strip():
        return None
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        context.report(Severity.MISTAKE, "timeout", f"{error}; the client's timeout is used", context.place(path))
        return None
    return seconds or None


def log_action(context: Context, block: LogBlock | None, path: Path, scope: Scope) -> LogAction | None:
    if block is None:
        return None
    level = block.level.strip().lower() or "info"
    if level not in LEVELS:
        message = f"{block.level!r} is not one of {', '.join(LEVELS)}; info is used"
        context.report(Severity.MISTAKE, "log-level", message, context.place((*path, "level")))
        level = "info"
    message_template = context.template(block.message, context.locate((*path, "message")), scope.template)
    return LogAction(message=message_template, level="warn" if level == "warning" else level)
