"""How instants are read and written: RFC 3339 with any precision in, UTC out.

Kubernetes writes whole seconds, the HyperFleet API microseconds, and Go programs up to nine digits. Digits beyond
microseconds are cut, not rounded, so that a time never moves into the future by being read.
"""

import math
import re
from datetime import UTC, datetime, timedelta, timezone

_RFC3339 = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:([Zz])|([+-])(\d{2}):(\d{2}))", re.ASCII
)


def now() -> datetime:
    return datetime.now(UTC)


def parse(text: str) -> datetime:
    """The instant an RFC 3339 text names, in UTC. Raises ValueError for anything else."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not an RFC 3339 time such as 2026-01-02T03:04:05Z")
    year, month, day, hour, minute, second = (int(match[group]) for group in range(1, 7))
    micros = int((match[7] or "0").ljust(9, "0")[:6])
    zone = UTC if match[8] else _offset(text, match[9], int(match[10]), int(match[11]))
    try:
        return datetime(year, month, day, hour, minute, second, micros, zone).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text!r} is not a time that exists: {error}") from None


def _offset(text: str, sign: str, hours: int, minutes: int) -> timezone:
    if hours > 23 or minutes > 59:  # noqa: PLR2004 - a clock's own limits
        raise ValueError(f"{text!r} has no valid offset from UTC")
    delta = timedelta(hours=hours, minutes=minutes)
    return timezone(-delta if sign == "-" else delta)


def to_seconds(moment: datetime) -> str:
    """Kubernetes' form: `2026-01-02T03:04:05Z`."""
    return _utc(moment).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def to_micros(moment: datetime) -> str:
    """The HyperFleet API's form: `2026-01-02T03:04:05.678901Z`."""
    return _utc(moment).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("a time without a zone could mean any instant; give it one")
    return moment.astimezone(UTC)


_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
# Go writes microseconds with the micro sign and reads the Greek letter as well.
_DURATION = re.compile(rf"({_NUMBER.pattern})(ns|us|\u00b5s|\u03bcs|ms|s|m|h)")
_UNIT_SECONDS = {"ns": 1e-9, "us": 1e-6, "\u00b5s": 1e-6, "\u03bcs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_duration(text: str) -> float:
    """Seconds of a duration: a plain number, or Go's form such as `500ms`, `2s` or `1m30s`."""
    text = text.strip()
    spelled = f"{text}s" if _NUMBER.fullmatch(text) else text
    parts = _DURATION.findall(spelled)
    seconds = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts)
    if not parts or "".join(number + unit for number, unit in parts) != spelled or math.isinf(seconds):
        raise ValueError(f"{text!r:.60} is not a duration such as 2, 0.5, 500ms, 20s or 1m30s")
    return seconds
