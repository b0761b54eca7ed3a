"""Numbers as text: how Go reads and writes them, where that differs from Python."""

import math
import re
from decimal import Decimal
from typing import Final

from shared.languages.cel.runtime.failure import Failure
from shared.languages.cel.runtime.values import INT_MAX, INT_MIN, UINT_MAX, UInt

# Go's %g turns to an exponent from this power of ten on, when it writes the shortest digits.
_SCIENTIFIC_FROM: Final = 6
_SCIENTIFIC_BELOW: Final = -4

_INT = re.compile(r"([+-]?)0*(\d{1,20})", re.ASCII)
_UINT = re.compile(r"0*(\d{1,20})", re.ASCII)
_DECIMAL_DOUBLE = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_HEX_DOUBLE = re.compile(r"[+-]?0[xX](?:[\da-fA-F]+\.?[\da-fA-F]*|\.[\da-fA-F]+)[pP][+-]?\d+", re.ASCII)
_SPECIAL_DOUBLE = re.compile(r"[+-]?(?:inf|infinity)|nan", re.ASCII | re.IGNORECASE)
# No number anybody means is longer.
LONGEST: Final = 400
_TRUE, _FALSE = {"1", "t", "T", "TRUE", "true", "True"}, {"0", "f", "F", "FALSE", "false", "False"}


def show_int(value: int) -> str:
    """A JSON document may hold a number of any length; Python refuses to write one of thousands of digits."""
    if not -(10**40) < value < 10**40:
        raise Failure("a number is too long to be written")
    return str(value)


def show_double(value: float) -> str:
    """Go's `%g`: the shortest digits, with an exponent from a million on."""
    if not math.isfinite(value):
        return show_special(value, infinity="Inf")
    sign, digits, exponent = _digits(value)
    point = len(digits) + exponent - 1
    if _SCIENTIFIC_BELOW <= point < _SCIENTIFIC_FROM:
        return show_decimal(value)
    mantissa = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{sign}{mantissa}e{'-' if point < 0 else '+'}{abs(point):02}"


def show_decimal(value: float) -> str:
    """The shortest digits that mean the same double, never with an exponent."""
    sign, digits, exponent = _digits(value)
    if exponent >= 0:
        return sign + digits + "0" * exponent
    whole = digits[:exponent] or "0"
    return f"{sign}{whole}.{digits[exponent:].rjust(-exponent, '0')}"


def show_special(value: float, *, infinity: str) -> str:
    """`infinity` is the word for it; only `Inf` carries a plus."""
    if math.isnan(value):
        return "NaN"
    return f"{'-' if value < 0 else '+' if infinity == 'Inf' else ''}{infinity}"


def _digits(value: float) -> tuple[str, str, int]:
    """Sign, significant digits and the power of ten of the last of them."""
    parts = Decimal(repr(value)).normalize().as_tuple()
    digits = "".join(map(str, parts.digits))
    return "-" if parts.sign else "", digits, int(parts.exponent)


def parse_int(text: str) -> int:
    found = _INT.fullmatch(text) if len(text) <= LONGEST else None
    if found and INT_MIN <= (value := int(found[1] + found[2])) <= INT_MAX:
        return value
    raise Failure("this is not an int", met=text)


def parse_uint(text: str) -> UInt:
    found = _UINT.fullmatch(text) if len(text) <= LONGEST else None
    if found and (value := int(found[1])) <= UINT_MAX:
        return UInt(value)
    raise Failure("this is not a uint", met=text)


def parse_double(text: str) -> float:
    if len(text) <= LONGEST:
        if _DECIMAL_DOUBLE.fullmatch(text) and math.isfinite(value := float(text)):
            return value
        if _SPECIAL_DOUBLE.fullmatch(text):
            return float(text)
        if _HEX_DOUBLE.fullmatch(text):
            return _parse_hex(text)
    raise Failure("this is not a double", met=text)


def _parse_hex(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        raise Failure("a double cannot be that large", met=text) from None


def parse_bool(text: str) -> bool:
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise Failure("this is not a bool", met=text)


def toward_zero(dividend: int, divisor: int) -> int:
    """Division as machines do it; Python's rounds down."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient
