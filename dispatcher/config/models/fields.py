"""Kinds of values in a configuration file, read as leniently as the Go framework reads them.

A text takes whatever scalar was written, as it was written; a number may stand in quotes, as it does when it comes from
the environment.
"""

import math
import re
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

from dispatcher.config.reading.scalars import Scalar, plain
from shared.times import parse_duration

NAME_PATTERN: Final = re.compile(r"[a-z][a-zA-Z0-9_]*")
_TRUE, _FALSE = frozenset({"1", "t", "true", "y", "yes", "on"}), frozenset({"0", "f", "false", "n", "no", "off"})
_DAYS = re.compile(r"([0-9]+)d")
_DAY_SECONDS = 86_400.0


def mistake(message: str, *, key: str = "", hint: str = "", wanted: tuple[str, ...] = ()) -> PydanticCustomError:
    """An error with a hint.

    `key` is the member it is about, where it is found for a whole block; `wanted` are members that would make it good.
    """
    context = {"problem": message, "key": key, "hint": hint, "wanted": wanted}
    return PydanticCustomError("config", "{problem}", context)


def kind(value: Any) -> str:
    """What a value is, for a sentence."""
    match value:
        case None:
            return "nothing"
        case Scalar():
            return kind(value.value)
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case dict():
            return "a mapping"
        case list():
            return "a list"
    return "something else"


def _text(value: Any) -> str:
    if isinstance(value, bool | int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if not isinstance(value, str):
        raise mistake(f"must be a text, not {kind(value)}")
    return str(value)


def _named(value: Any) -> str:
    name = _text(value)
    if not NAME_PATTERN.fullmatch(name):
        hint = "start with a small letter and go on with letters, digits and _, because CEL uses it as a variable"
        suggestion = re.sub(r"[^a-zA-Z0-9]+(.?)", lambda found: found[1].upper(), name)
        suggestion = suggestion[:1].lower() + suggestion[1:]
        if NAME_PATTERN.fullmatch(suggestion):
            hint = f"{hint}: {suggestion}"
        raise mistake(f"{name!r} is no valid name", hint=hint)
    return name


def _flag(value: Any) -> bool:
    value = value.value if isinstance(value, Scalar) else value
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower() if isinstance(value, str | int) else ""
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise mistake(f"must be true or false, not {_quoted(value)}")


def _whole(value: Any) -> int:
    value = value.value if isinstance(value, Scalar) else value
    if isinstance(value, str):
        try:
            return int(value.strip())
        except ValueError:
            value = None if not value.strip() else value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise mistake(f"must be a whole number, not {_quoted(value)}")
    return value


def _number(value: Any) -> float:
    value = value.value if isinstance(value, Scalar) else value
    if not isinstance(value, bool):
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
    raise mistake(f"must be a number, not {_quoted(value)}")


def _seconds(value: Any) -> float:
    """Go's form, days as `Nd`, or a plain number of seconds."""
    text = str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    sign, text = (-1.0, text[1:]) if text.startswith("-") else (1.0, text)
    try:
        days = _DAYS.fullmatch(text)
        seconds = float(days[1]) * _DAY_SECONDS if days else parse_duration(text)
    except ValueError:
        seconds = math.inf
    if math.isfinite(seconds):
        return sign * seconds
    raise mistake(f"must be a duration, not {_quoted(value)}", hint="write it as in 500ms, 20s or 1m30s")


def _quoted(value: Any) -> str:
    return repr(str(value))[:60] if isinstance(value, str | int | float) else kind(value)


def shown_duration(seconds: float) -> str:
    """As Go writes a duration: `1m30s`, `500ms`, `0s`."""
    if seconds < 0:
        return f"-{shown_duration(-seconds)}"
    nanoseconds = round(seconds * 1e9)
    for limit, unit in ((1_000, "ns"), (1_000_000, "\u00b5s"), (1_000_000_000, "ms")):
        if 0 < nanoseconds < limit:
            return f"{_trimmed(nanoseconds / (limit / 1000))}{unit}"
    whole, fraction = divmod(nanoseconds, 1_000_000_000)
    hours, minutes = divmod(whole // 60, 60)
    shown = f"{_trimmed(whole % 60 + fraction / 1e9)}s"
    if hours or minutes:
        shown = f"{minutes}m{shown}"
    return f"{hours}h{shown}" if hours else shown


def _trimmed(number: float) -> str:
    return f"{number:.9f}".rstrip("0").rstrip(".")


Text = Annotated[str, BeforeValidator(_text)]
Filled = Annotated[str, BeforeValidator(_text), Field(min_length=1)]
Name = Annotated[str, BeforeValidator(_named), Field(json_schema_extra={"pattern": f"^{NAME_PATTERN.pattern}$"})]
Flag = Annotated[bool, BeforeValidator(_flag)]
Whole = Annotated[int, BeforeValidator(_whole)]
Number = Annotated[float, BeforeValidator(_number)]
Seconds = Annotated[
    float,
    BeforeValidator(_seconds),
    PlainSerializer(shown_duration, return_type=str),
    WithJsonSchema({"type": ["string", "number"], "examples": ["10s", "1m30s"]}),
]
Anything = Annotated[Any, BeforeValidator(plain)]
