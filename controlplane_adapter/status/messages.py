"""How condition messages are written: durations as kubectl prints them, and texts of limited length."""

import re
from collections.abc import Sequence
from datetime import datetime

from shared.errors import HyperFleetError
from shared.model.conditions import Condition
from shared.redaction import redact_text

MAX_MESSAGE = 2000
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_CERTIFICATE = re.compile(r"certificate|x509|\btls\b|\bca bundle\b", re.IGNORECASE)


def age(since: datetime, now: datetime) -> str:
    """The time since then, as `40s`, `12m`, `3h5m` or `2d`; at least 0s where clocks differ."""
    return duration(seconds_since(since, now))


def duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 2 * _MINUTE:
        return f"{whole}s"
    if whole < 2 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 2 * _DAY:
        minutes = whole % _HOUR // _MINUTE
        return f"{whole // _HOUR}h{minutes}m" if minutes else f"{whole // _HOUR}h"
    return f"{whole // _DAY}d"


def seconds_since(moment: datetime, now: datetime) -> float:
    return max(0.0, (now - moment).total_seconds())


def describe(condition: Condition, state: str = "") -> str:
    """Another system's condition as `Type: Reason: message`, or with `state` instead of the type.

    Certificate problems are marked, because an expiry is urgent.
    """
    foreign = [redact_text(part) for part in (condition.reason, condition.message) if part]
    text = ": ".join([state or condition.type, *foreign])
    return f"certificate problem: {text}" if is_about_certificates(condition) else text


def is_about_certificates(condition: Condition) -> bool:
    return _CERTIFICATE.search(f"{condition.reason} {condition.message}") is not None


def join_parts(*parts: str, remedy: str = "") -> str:
    """The parts that are not empty, as many as fit into MAX_MESSAGE, and how many are left out.

    The remedy is never cut.
    """
    present = [part for part in parts if part]
    available = MAX_MESSAGE - len(remedy) - 2 if remedy else MAX_MESSAGE
    text = "; ".join(present)
    if len(text) > available:
        text = _cut(present, available)
    return "; ".join(part for part in (text, remedy) if part)


def _cut(parts: Sequence[str], available: int) -> str:
    shown: list[str] = []
    for index, part in enumerate(parts):
        left_out = f"and {len(parts) - index} more"
        if len("; ".join((*shown, part, left_out))) > available:
            break
        shown.append(part)
    if not shown:
        rest = f"; and {len(parts) - 1} more" if len(parts) > 1 else ""
        return f"{parts[0][: available - len(rest) - 1]}…{rest}"
    return "; ".join((*shown, f"and {len(parts) - len(shown)} more"))


def error_message(error: HyperFleetError) -> str:
    """What failed, why and the remedy, in the length of a condition."""
    problems = [str(each) for each in getattr(error, "problems", ())] or [error.why]
    first = f"{error.what}: {problems[0]}" if problems[0] else error.what
    return join_parts(first, *problems[1:], remedy=error.remedy)
