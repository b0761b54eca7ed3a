"""Timestamps and durations to the nanosecond, over the years 1 to 9999, as Go reads, writes and splits them.

Python's datetime stops at microseconds and at the ends of its range; its calendar and its time zone database serve.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from shared.languages.cel.functions.overloads import Function, Overload
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import Failure
from shared.languages.cel.runtime.numbers import LONGEST, show_decimal, toward_zero
from shared.languages.cel.runtime.values import INT_MAX, INT_MIN, Duration, Kind, Timestamp

NANOS: Final = 1_000_000_000
_DAY: Final = 86_400
_DAYS_IN_400_YEARS: Final = 146_097
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
MIN_SECONDS, MAX_SECONDS = -62_135_596_800, 253_402_300_799

# Python's datetime cannot shift the first and the last day of its range; no zone changed its rules on them.
_SHIFTABLE = (MIN_SECONDS + 2 * _DAY, MAX_SECONDS - 2 * _DAY)

# A zone is read from a file, or searched for in vain.
_ZONE_LOOKUP: Final = 500

_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d+))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))",
    re.ASCII,
)
_LENIENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T([01]?\d|2[0-3]):([0-5]\d):([0-5]\d)(?:[.,](\d+))?"
    r"(?:Z|([+-])([01]\d|2[0-4]):([0-5]\d|60))",
    re.ASCII,
)
_OFFSET = re.compile(r"([+-]?)([01]?\d|2[0-3]):\+?([0-5]?\d)", re.ASCII)
_DURATION_PART = re.compile(r"(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": NANOS, "m": 60 * NANOS, "h": 3600 * NANOS}


class Civil(NamedTuple):
    """A timestamp as a calendar and a clock in one zone show it; `day` is right but for whole 400-year cycles."""

    day: date
    cycles: int
    second_of_day: int
    nanos: int

    @property
    def year(self) -> int:
        return self.day.year + 400 * self.cycles


def parse_timestamp(text: str) -> Timestamp:
    found = _RFC3339.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        raise Failure(
            "this is not an RFC 3339 timestamp", met=text, hint='write it like timestamp("2026-01-02T15:04:05Z")'
        )
    year, month, day, hour, minute, second, fraction, sign, zone_hours, zone_minutes = found.groups()
    try:
        days = date(int(year), int(month), int(day)).toordinal() - _EPOCH_DAY
    except ValueError:
        raise Failure("there is no such day in the calendar", met=text) from None
    offset = 0
    if sign:
        offset = int(zone_hours) * 3600 + int(zone_minutes) * 60
        offset = -offset if sign == "-" else offset
    seconds = days * _DAY + int(hour) * 3600 + int(minute) * 60 + int(second) - offset
    nanos = int(fraction[:9].ljust(9, "0")) if fraction else 0
    return timestamp(seconds * NANOS + nanos, offset)


def parse_lenient(text: str) -> int | None:
    """Nanoseconds since 1970 of what Go's `time.Parse` takes for RFC 3339; None for what it refuses.

    It takes an hour of one digit, a comma before the fraction, and offsets of up to 24 hours and 60 minutes.
    """
    found = _LENIENT.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, sign, zone_hours, zone_minutes = found.groups()
    try:
        # The calendar repeats after 400 years, so year 0, which `date` does not have, is year 400 less a cycle.
        days = date(int(year) or 400, int(month), int(day)).toordinal() - _EPOCH_DAY
    except ValueError:
        return None
    days -= 0 if int(year) else _DAYS_IN_400_YEARS
    offset = int(f"{sign}1") * (int(zone_hours) * 3600 + int(zone_minutes) * 60) if sign else 0
    seconds = days * _DAY + int(hour) * 3600 + int(minute) * 60 + int(second) - offset
    return seconds * NANOS + int((fraction or "")[:9].ljust(9, "0"))


def timestamp(nanos: int, offset: int = 0) -> Timestamp:
    if not MIN_SECONDS * NANOS <= nanos < (MAX_SECONDS + 1) * NANOS:
        raise Failure("a timestamp lies outside the years 1 to 9999")
    return Timestamp(nanos, offset)


def timestamp_of(moment: datetime) -> Timestamp:
    """A clock's reading; one without a zone is taken as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    offset = aware.utcoffset() or timedelta()
    return timestamp((since // timedelta(microseconds=1)) * 1000, int(offset.total_seconds()))


def show_timestamp(value: Timestamp, *, utc: bool = False) -> str:
    """RFC 3339 with as many digits of the second as it has, in the zone it was written with."""
    offset = 0 if utc else value.offset
    civil = _civil(value, offset)
    minutes, seconds = divmod(civil.second_of_day, 60)
    clock = f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}{_fraction(civil.nanos)}"
    return f"{civil.year:04}-{civil.day.month:02}-{civil.day.day:02}T{clock}{_zone(offset)}"


def _fraction(nanos: int) -> str:
    return f".{nanos:09}".rstrip("0") if nanos else ""


def _zone(offset: int) -> str:
    if not offset:
        return "Z"
    minutes = abs(offset) // 60
    return f"{'-' if offset < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"


def _civil(value: Timestamp, offset: int) -> Civil:
    """The calendar repeats, weekdays too, every 400 years, so every year finds its like in what `date` can hold."""
    seconds, nanos = divmod(value.nanos, NANOS)
    days, second_of_day = divmod(seconds + offset, _DAY)
    cycles, day = divmod(days + _EPOCH_DAY - 1, _DAYS_IN_400_YEARS)
    return Civil(date.fromordinal(day + 1), cycles, second_of_day, nanos)


def _offset_of(value: Timestamp, zone: str) -> int:
    """Seconds east of UTC of a zone's name or `+hh:mm`, at that instant."""
    if ":" in zone:
        return _fixed_offset(zone)
    if zone in {"", "UTC"}:
        return 0
    first, last = _SHIFTABLE
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=min(max(value.nanos // NANOS, first), last))
    try:
        local = moment.astimezone(None if zone == "Local" else ZoneInfo(zone))
    except (KeyError, ValueError, OSError):
        raise Failure(
            "there is no such time zone", met=zone, hint='write it like "Europe/Berlin" or "+02:00"'
        ) from None
    return int((local.utcoffset() or timedelta()).total_seconds())


def _fixed_offset(zone: str) -> int:
    found = _OFFSET.fullmatch(zone)
    if found is None:
        raise Failure("this is not an offset from UTC", met=zone, hint='write it like "+02:00"')
    seconds = int(found[2]) * 3600 + int(found[3]) * 60
    return -seconds if found[1] == "-" else seconds


def parse_duration(text: str) -> Duration:
    """A sum of numbers with units, such as `1h30m` or `-1.5s`."""
    body = text[1:LONGEST] if text[:1] in {"+", "-"} else text[:LONGEST]
    if body == "0":
        return Duration(0)
    total, position = 0, 0
    while found := _DURATION_PART.match(body, position):
        whole, fraction, unit = found.groups()
        if not whole and not fraction:
            break
        total += int(whole[:20] or 0) * _UNITS[unit] + _part_of(fraction or "", _UNITS[unit])
        position = found.end()
    nanos = -total if text[:1] == "-" else total
    if not body or position != len(body) or len(text) > LONGEST or not INT_MIN <= nanos <= INT_MAX:
        raise Failure("this is not a duration", met=text, hint='write it like duration("1h30m") or duration("90s")')
    return Duration(nanos)


def _part_of(fraction: str, unit: int) -> int:
    digits = fraction[:18]
    return int(float(int(digits)) * (unit / 10 ** len(digits))) if digits else 0


def duration(nanos: int) -> Duration:
    if not INT_MIN <= nanos <= INT_MAX:
        raise Failure("a duration is longer than 292 years")
    return Duration(nanos)


def show_duration(value: Duration) -> str:
    """Seconds, as the shortest decimal that means the same double."""
    seconds, nanos = divmod(abs(value.nanos), NANOS)
    sign = "-" if value.nanos < 0 else ""
    return f"{sign}{show_decimal(seconds + nanos / NANOS)}s"


_READINGS: Final[Mapping[str, Callable[[Civil], int]]] = {
    "getFullYear": lambda civil: civil.year,
    "getMonth": lambda civil: civil.day.month - 1,
    "getDayOfYear": lambda civil: civil.day.timetuple().tm_yday - 1,
    "getDayOfMonth": lambda civil: civil.day.day - 1,
    "getDate": lambda civil: civil.day.day,
    "getDayOfWeek": lambda civil: civil.day.isoweekday() % 7,
    "getHours": lambda civil: civil.second_of_day // 3600,
    "getMinutes": lambda civil: civil.second_of_day // 60 % 60,
    "getSeconds": lambda civil: civil.second_of_day % 60,
    "getMilliseconds": lambda civil: civil.nanos // 1_000_000,
}
_WHOLE: Final = {"getHours": 3600 * NANOS, "getMinutes": 60 * NANOS, "getSeconds": NANOS, "getMilliseconds": 10**6}


def _getter(name: str, reading: Callable[[Civil], int]) -> Function:
    def in_utc(_: Evaluation, value: Timestamp) -> int:
        return reading(_civil(value, 0))

    def in_zone(evaluation: Evaluation, value: Timestamp, zone: str) -> int:
        evaluation.spend(_ZONE_LOOKUP)
        return reading(_civil(value, _offset_of(value, zone)))

    overloads = [Overload((Kind.TIMESTAMP,), in_utc), Overload((Kind.TIMESTAMP, Kind.STRING), in_zone)]
    if name in _WHOLE:
        unit = _WHOLE[name]

        def whole(_: Evaluation, value: Duration) -> int:
            return toward_zero(value.nanos, unit)

        overloads.append(Overload((Kind.DURATION,), whole))
    return Function(name, tuple(overloads), weight=30)


FUNCTIONS: Final = tuple(_getter(name, reading) for name, reading in _READINGS.items())
