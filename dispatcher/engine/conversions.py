"""The types an author may ask of a param, and what each accepts."""

import math
from collections.abc import Callable
from typing import Any, Final

from shared.errors import Invalid

_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True", "yes", "y", "on"})
_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False", "no", "n", "off", ""})
_INT64: Final = 1 << 63


def convert(value: Any, type_: str) -> Any:
    """`value` as the type; "" is no type. Raises Invalid."""
    if not type_:
        return value
    conversion = _CONVERSIONS.get(type_)
    if conversion is None:
        raise Invalid(f"{type_!r} is not a type", remedy=f"use one of {', '.join(_CONVERSIONS)}")
    try:
        return conversion(value)
    except (ValueError, OverflowError):
        raise Invalid(f"{_shown(value)} is no {type_}") from None


def _string(value: Any) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.0f}" if value.is_integer() else _fixed(value)
        case int():
            return str(value)
    raise ValueError


def _fixed(value: float) -> str:
    """Without an exponent, with as many digits as say the same number."""
    text = repr(value)
    if "e" not in text:
        return text
    mantissa, _, exponent = text.partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent)
    return f"{value:.{max(digits, 0)}f}"


def _int(value: Any) -> int:
    match value:
        case bool() | int():
            whole = int(value)
        case float():
            whole = math.trunc(value)
        case str():
            whole = _int_of_text(value)
        case _:
            raise ValueError
    if not -_INT64 <= whole < _INT64:
        raise OverflowError
    return whole


def _int_of_text(text: str) -> int:
    if "_" in text or text != text.strip():
        raise ValueError
    try:
        return int(text)
    except ValueError:
        return math.trunc(float(text))


def _float(value: Any) -> float:
    match value:
        case bool() | int() | float():
            return float(value)
        case str() if "_" not in value and value == value.strip():
            return float(value)
    raise ValueError


def _bool(value: Any) -> bool:
    match value:
        case bool():
            return value
        case int() | float():
            return value != 0
        case str() if value in _TRUE or value.lower() in _TRUE:
            return True
        case str() if value in _FALSE or value.lower() in _FALSE:
            return False
    raise ValueError


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"


_CONVERSIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "string": _string,
    "int": _int,
    "int64": _int,
    "float": _float,
    "float64": _float,
    "bool": _bool,
}
