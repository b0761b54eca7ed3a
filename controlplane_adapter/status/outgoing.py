"""What leaves the process in a report: without secrets, in valid UTF-8, and of limited size. Pure.

Whatever a cluster, a setting or another system put into it, the report can be written and read. Messages have their
limit, reasons theirs, and data are cut last.
"""

import re
from collections.abc import Mapping
from typing import Any

from controlplane_adapter.status.messages import MAX_MESSAGE
from shared.model.conditions import Condition
from shared.model.report import AdapterReport
from shared.redaction import redact_message

MAX_DATA_TEXT = 4096
MAX_REASON = 256
_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?", re.ASCII)
_DEEPEST = 4


def outgoing(report: AdapterReport) -> AdapterReport:
    conditions = tuple(_condition(each) for each in report.conditions)
    return report._replace(conditions=conditions, data=_value(report.data, _DEEPEST))


def text(value: str, limit: int) -> str:
    """Without secrets, half characters and NUL, and not longer than `limit`."""
    whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")
    shown = redact_message(whole)
    return shown if len(shown) <= limit else type(shown)(f"{shown[: limit - 1]}…")


def _condition(condition: Condition) -> Condition:
    reason = text(condition.reason, MAX_REASON)
    usable = reason if _REASON.fullmatch(reason) else condition.type
    return condition._replace(reason=usable, message=text(condition.message, MAX_MESSAGE))


def _value(value: Any, depth: int) -> Any:
    match value:
        case str():
            return text(value, MAX_DATA_TEXT)
        case Mapping() if depth:
            return {text(str(name), MAX_REASON): _value(each, depth - 1) for name, each in value.items()}
        case None | bool() | int():
            return value
        case _:
            return text(str(value), MAX_DATA_TEXT)
