"""Numbers as Go writes them: what a literal in a template means, and what `int "42"` and `float64 "1e3"` read from a
text.

A literal has the type its spelling suggests: a point or an exponent makes a float64, an `i` a complex128, anything
else is an int and must fit into 64 bits.
"""

import math
import re

from shared.languages.gotemplate.functions.quoting import unquote_character
from shared.languages.gotemplate.runtime.values import Int

MIN_INT = -(2**63)
MAX_INT = 2**63 - 1
_INTEGER = re.compile(
    r"(?P<sign>[+-]?)(?:0[xX](?P<hex>_?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)|0[bB](?P<binary>_?[01]+(?:_[01]+)*)"
    r"|0[oO]?(?P<octal>_?[0-7]+(?:_[0-7]+)*)|(?P<decimal>[1-9][0-9]*(?:_[0-9]+)*|0))"
)
_BASES = {"hex": 16, "binary": 2, "octal": 8, "decimal": 10}
_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_DECIMAL_FLOAT = re.compile(rf"[+-]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?")
_HEX = r"[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*"
_HEX_FLOAT = re.compile(rf"[+-]?0[xX](?:_?{_HEX}(?:\.(?:{_HEX})?)?|\.{_HEX})[pP][+-]?{_DIGITS}")
_INFINITE = re.compile(r"(?i)([+-]?)(?:inf|infinity)")
_PLAIN_INTEGER = re.compile(r"[+-]?[0-9]+")
_LONGEST_INTEGER = 20


class BadNumber(ValueError):
    """The literal means no number; the text says why."""


def number(literal: str) -> Int | float | complex:
    """The value of a number or character constant."""
    if literal.startswith("'"):
        return _character(literal)
    if literal.endswith("i"):
        return _complex(literal)
    integer = _INTEGER.fullmatch(literal)
    if integer is not None:
        return _integer(integer)
    if not any(mark in literal for mark in ".eEpP"):
        raise BadNumber(f"illegal number {literal}")
    return _float(literal)


def _character(literal: str) -> Int:
    try:
        return Int(unquote_character(literal))
    except ValueError:
        raise BadNumber(f"malformed character constant {literal}") from None


def _integer(match: re.Match[str]) -> Int:
    group = str(match.lastgroup)
    digits = match.group(group).replace("_", "")
    if len(digits.lstrip("0")) > 64:  # noqa: PLR2004  no spelling of 64 bits is longer; Python refuses to read thousands of digits
        raise BadNumber(f"{match.group()[:_LONGEST_INTEGER]}… overflows int")
    value = int(digits, _BASES[group])
    value = -value if match.group("sign") == "-" else value
    if not MIN_INT <= value <= MAX_INT:
        raise BadNumber(f"{match.group()} overflows int")
    return Int(value)


def _float(literal: str) -> float:
    value = read_float(literal)
    if value is None or math.isinf(value):
        raise BadNumber(f"illegal number {literal}")
    return value


def _complex(literal: str) -> complex:
    cut = max(literal.rfind("+"), literal.rfind("-"))
    if cut > 0 and literal[cut - 1] in "eEpP":
        cut = max(literal.rfind("+", 0, cut), literal.rfind("-", 0, cut))
    real, imaginary = literal[: max(cut, 0)], literal[max(cut, 0) : -1]
    return complex(_float(real) if real else 0.0, _float(imaginary))


def read_int(text: str) -> int:
    """As strconv.Atoi with its error ignored: 0 for what is no number, the nearest bound for what does not fit."""
    if not _PLAIN_INTEGER.fullmatch(text):
        return 0
    if len(text.lstrip("+-0")) > _LONGEST_INTEGER:
        return MIN_INT if text.startswith("-") else MAX_INT
    return min(max(int(text), MIN_INT), MAX_INT)


def read_float(text: str) -> float | None:
    """As strconv.ParseFloat: None for what is no number, infinity for what does not fit."""
    if text.lower() == "nan":
        return math.nan
    infinite = _INFINITE.fullmatch(text)
    if infinite is not None:
        return -math.inf if infinite.group(1) == "-" else math.inf
    if _HEX_FLOAT.fullmatch(text):
        return _read_hex_float(text)
    if _DECIMAL_FLOAT.fullmatch(text):
        return float(text)
    return None


def _read_hex_float(text: str) -> float:
    try:
        return float.fromhex(text.replace("_", ""))
    except OverflowError:
        return -math.inf if text.startswith("-") else math.inf


def truncate(value: float) -> int:
    """Go's int(float64) on the machines the adapters run on: what does not fit becomes the smallest integer."""
    return int(value) if MIN_INT <= value < MAX_INT + 1 else MIN_INT
