"""Go time layouts: a time is written the way the layout writes Mon Jan 2 15:04:05 2006 in the zone -0700."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache, partial

_ELEMENT = re.compile(
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|01|02|03|04|05|06|002|15|1|2006|2|_2006|_2|__2|3|4|5|PM|pm"
    r"|[-Z]070000|[-Z]07:00:00|[-Z]0700|[-Z]07:00|[-Z]07|[.,](?:0+|9+)(?![0-9])"
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_NOON = 12
_TEXT = "2006-01-02 15:04:05.999999999 -0700 MST"


def _hour12(time: datetime) -> int:
    return time.hour % _NOON or _NOON


def _utc_offset(time: datetime) -> int:
    return (time.utcoffset() or timedelta()) // timedelta(seconds=1)


def _zone_name(time: datetime) -> str:
    """The abbreviation of the zone, or its offset where it has none."""
    if not _utc_offset(time):
        return "UTC"
    name = time.tzname() or ""
    return _offset("-0700", time) if not name or name.startswith("UTC") else name


Writer = Callable[[datetime], str]
_WRITERS: Mapping[str, Writer] = {
    "January": lambda t: _MONTHS[t.month - 1],
    "Jan": lambda t: _MONTHS[t.month - 1][:3],
    "Monday": lambda t: _DAYS[t.weekday()],
    "Mon": lambda t: _DAYS[t.weekday()][:3],
    "01": lambda t: f"{t.month:02}",
    "1": lambda t: str(t.month),
    "02": lambda t: f"{t.day:02}",
    "2": lambda t: str(t.day),
    "_2": lambda t: f"{t.day:2}",
    "002": lambda t: f"{t.timetuple().tm_yday:03}",
    "__2": lambda t: f"{t.timetuple().tm_yday:3}",
    "03": lambda t: f"{_hour12(t):02}",
    "3": lambda t: str(_hour12(t)),
    "15": lambda t: f"{t.hour:02}",
    "04": lambda t: f"{t.minute:02}",
    "4": lambda t: str(t.minute),
    "05": lambda t: f"{t.second:02}",
    "5": lambda t: str(t.second),
    "06": lambda t: f"{t.year % 100:02}",
    "2006": lambda t: f"{t.year:04}",
    "_2006": lambda t: f"_{t.year:04}",
    "PM": lambda t: "PM" if t.hour >= _NOON else "AM",
    "pm": lambda t: "pm" if t.hour >= _NOON else "am",
    "MST": _zone_name,
}


def layout(pattern: str, time: datetime) -> str:
    """The time in this layout."""
    return "".join([part if isinstance(part, str) else part(time) for part in _parts(pattern)])


@lru_cache(maxsize=256)
def _parts(pattern: str) -> tuple[str | Writer, ...]:
    """Texts between the elements, and what writes each element; an adapter writes the same few layouts all the time."""
    parts: list[str | Writer] = []
    end = 0
    for match in _ELEMENT.finditer(pattern):
        parts += [pattern[end : match.start()], _writer(match.group())]
        end = match.end()
    return (*parts, pattern[end:])


def text(time: datetime) -> str:
    """A time as %v prints it."""
    return layout(_TEXT, time)


def go_syntax(time: datetime) -> str:
    """A time as %#v prints it."""
    parts = f"{time.year}, time.{_MONTHS[time.month - 1]}, {time.day}, {time.hour}, {time.minute}, {time.second}"
    return f"time.Date({parts}, {time.microsecond * 1000}, time.UTC)"


def _writer(name: str) -> Writer:
    return _WRITERS.get(name) or partial(_offset if name[0] in "-Z" else _fraction, name)


def _offset(name: str, time: datetime) -> str:
    seconds = _utc_offset(time)
    if name[0] == "Z" and not seconds:
        return "Z"
    sign = "-" if seconds < 0 else "+"
    minutes, second = divmod(abs(seconds), 60)
    hour, minute = divmod(minutes, 60)
    parts = [f"{hour:02}", f"{minute:02}", f"{second:02}"][: len(name.replace(":", "")) // 2]
    return sign + (":" if ":" in name else "").join(parts)


def _fraction(name: str, time: datetime) -> str:
    """`.000` keeps its zeros, `.999` drops them, and the point with them if nothing is left."""
    digits = f"{time.microsecond * 1000:09}"[: len(name) - 1]
    if name[1] == "0":
        return name[0] + digits
    digits = digits.rstrip("0")
    return name[0] + digits if digits else ""
