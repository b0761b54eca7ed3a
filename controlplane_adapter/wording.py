"""How conditions speak: durations a person reads at a glance, and texts of bounded length."""

import re
from datetime import datetime

from shared.conditions import Condition

MAX_MESSAGE = 2000
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_CERTIFICATE = re.compile(r"certificate|x509|\btls\b|\bca bundle\b", re.IGNORECASE)


def how_long(since: datetime, now: datetime) -> str:
    """How long it has been, as `40 s`, `12 min`, `3 h 5 min` or `2 days`; clocks that differ make it 0 at the least."""
    seconds = max(0, int((now - since).total_seconds()))
    if seconds < 2 * _MINUTE:
        return f"{seconds} s"
    if seconds < 2 * _HOUR:
        return f"{seconds // _MINUTE} min"
    if seconds < 2 * _DAY:
        return f"{seconds // _HOUR} h {seconds % _HOUR // _MINUTE} min"
    return f"{seconds // _DAY} days"


def seconds_since(moment: datetime, now: datetime) -> float:
    return max(0.0, (now - moment).total_seconds())


def words_of(condition: Condition) -> str:
    """A foreign condition in its own words; those about certificates are marked, because an expiry is a deadline."""
    words = ": ".join(part for part in (condition.type, condition.reason, condition.message) if part)
    return f"certificate problem: {words}" if is_about_certificates(condition) else words


def is_about_certificates(condition: Condition) -> bool:
    return _CERTIFICATE.search(f"{condition.reason} {condition.message}") is not None


def sentence(*parts: str, remedy: str = "") -> str:
    """The parts that say something, cut to a length that every reader takes; what to do about it is never cut off."""
    text = "; ".join(part for part in parts if part)
    room = MAX_MESSAGE - len(remedy) - 2 if remedy else MAX_MESSAGE
    told = text if len(text) <= room else f"{text[: room - 1]}…"
    return f"{told}; {remedy}" if remedy else told
