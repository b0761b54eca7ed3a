"""The values literals stand for: numbers with their ranges, strings and bytes with their escapes."""

import math
import re
from typing import Final

from shared.languages.cel.runtime.values import INT_MAX, INT_MIN, UINT_MAX, UInt, utf8

# What may follow a backslash in a string.
ESCAPE: Final = r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7]{2}|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"

_ESCAPE = re.compile(r"\\(?:([0-3][0-7]{2})|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.ASCII)
_SIMPLE: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_SURROGATES: Final = range(0xD800, 0xE000)
_LAST_CHARACTER: Final = 0x10FFFF
_LONGEST_NUMBER: Final = 40
_TRIPLE: Final = ('"""', "'''")


class LiteralError(Exception):
    """A literal that means nothing; the text says why."""


def int_value(text: str, *, negative: bool = False) -> int:
    value = -_whole(text) if negative else _whole(text)
    if INT_MIN <= value <= INT_MAX:
        return value
    raise LiteralError("an int has 64 bits; this one needs more")


def uint_value(text: str) -> UInt:
    value = _whole(text[:-1])
    if value <= UINT_MAX:
        return UInt(value)
    raise LiteralError("a uint has 64 bits; this one needs more")


def _whole(text: str) -> int:
    digits = text.lstrip("0") if not text.startswith("0x") else text[2:].lstrip("0")
    if len(digits) > _LONGEST_NUMBER:
        raise LiteralError("a number has 64 bits; this one needs more")
    return int(digits or "0", 16 if text.startswith("0x") else 10)


def double_value(text: str, *, negative: bool = False) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise LiteralError("this double is too large")
    return -value if negative else value


def string_value(text: str) -> str:
    body, raw = _body(text)
    return body if raw or "\\" not in body else _ESCAPE.sub(_character, body)


def bytes_value(text: str) -> bytes:
    body, raw = _body(text[1:])
    if raw or "\\" not in body:
        return utf8(body)
    # Escapes mean single bytes here, other characters their UTF-8: both are carried as Latin-1 on the way.
    carried = utf8(body).decode("latin-1")
    return _ESCAPE.sub(_byte, carried).encode("latin-1")


def _body(text: str) -> tuple[str, bool]:
    """What is between the quotes, with one kind of line end, and whether it is raw."""
    raw = text[0] in "rR"
    quoted = (text[1:] if raw else text).replace("\r\n", "\n").replace("\r", "\n")
    width = 3 if quoted.startswith(_TRIPLE) else 1
    return quoted[width:-width], raw


def _character(found: re.Match[str]) -> str:
    octal, *hexadecimal, simple = found.groups()
    if simple:
        return _SIMPLE.get(simple, simple)
    code = int(octal, 8) if octal else int(next(filter(None, hexadecimal)), 16)
    if code in _SURROGATES or code > _LAST_CHARACTER:
        raise LiteralError(f"{found[0]} is not a character")
    return chr(code)


def _byte(found: re.Match[str]) -> str:
    if found[3] or found[4]:
        raise LiteralError(f"{found[0]} is a character, not a byte: write \\x.. in bytes")
    return _character(found)
