"""What an unquoted YAML scalar means: the rules of the Go framework's parser (yaml.v3), not of YAML 1.1.

`yes` and `on` are texts; `0644`, `0o644`, `0x1A4` and `1_000` are numbers. Dates stay texts, because JSON has none.
"""

import math
import re
from typing import Any, Self

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE, _FALSE = frozenset({"true", "True", "TRUE"}), frozenset({"false", "False", "FALSE"})
_INFINITE = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_NOT_A_NUMBER = frozenset({".nan", ".NaN", ".NAN"})
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
_LONGEST_NUMBER = 400


class Scalar(str):
    """An unquoted scalar that is no text: `value` is what YAML makes of it, the text is as it was written.

    Fields that hold texts take the text (`version: 0.10` is "0.10"), all others the value.
    """

    __slots__ = ("value",)

    value: Any

    def __new__(cls, text: str, value: Any) -> Self:
        scalar = super().__new__(cls, text)
        scalar.value = value
        return scalar


def resolve(text: str) -> str | Scalar | None:
    """The meaning of an unquoted scalar."""
    if text in _NULLS:
        return None
    if text in _TRUE or text in _FALSE:
        return Scalar(text, text in _TRUE)
    if text[0] not in "+-.0123456789" or len(text) > _LONGEST_NUMBER:
        return text
    number = _number(text)
    return text if number is None else Scalar(text, number)


def _number(text: str) -> int | float | None:
    digits = text.replace("_", "")
    if found := _INTEGER.fullmatch(digits):
        sign, hexadecimal, binary, octal, decimal = found.groups()
        base = 16 if hexadecimal else 2 if binary else 8 if octal else 10
        whole = int(hexadecimal or binary or octal or decimal, base)
        return -whole if sign == "-" else whole
    if _FLOAT.fullmatch(digits):
        return float(digits)
    if found := _INFINITE.fullmatch(text):
        return -math.inf if found[1] == "-" else math.inf
    return math.nan if text in _NOT_A_NUMBER else None


def plain(data: Any) -> Any:
    """The same document with every scalar as its value."""
    match data:
        case Scalar():
            return data.value
        case dict():
            return {key: plain(value) for key, value in data.items()}
        case list():
            return [plain(element) for element in data]
    return data
