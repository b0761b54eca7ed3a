"""What a value is in the eyes of a Go template: its kind, its Go type name, whether it counts as true.

Only plain JSON-like values exist, plus the instant that `now` gives. Everything else a caller might pass is refused
when it is touched, so no attribute or method of a Python object is ever within reach.

An integer of a document is an `int64`; Go's own `int` (literals, `len`) and `uint8` (a byte of a string) differ from
it only in the name that printf shows, so they are marked by two empty subclasses.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from enum import Enum, auto
from itertools import islice
from typing import Any

from shared.languages.gotemplate.runtime.failure import Failure

_SURROGATE = re.compile("[\ud800-\udfff]")
_LONE_SURROGATE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_SHOWN = 60


class Int(int):
    """Go's `int`."""

    __slots__ = ()


class Byte(int):
    """Go's `uint8`."""

    __slots__ = ()


class Kind(Enum):
    NIL = auto()
    BOOL = auto()
    INT = auto()
    UINT = auto()
    FLOAT = auto()
    COMPLEX = auto()
    STRING = auto()
    LIST = auto()
    MAP = auto()
    TIME = auto()


# The order matters for subclasses: bool before int, the marks before int.
_KINDS: Mapping[type, tuple[Kind, str]] = {
    type(None): (Kind.NIL, "nil"),
    str: (Kind.STRING, "string"),
    bool: (Kind.BOOL, "bool"),
    Int: (Kind.INT, "int"),
    Byte: (Kind.UINT, "uint8"),
    int: (Kind.INT, "int64"),
    float: (Kind.FLOAT, "float64"),
    complex: (Kind.COMPLEX, "complex128"),
    dict: (Kind.MAP, "map[string]interface {}"),
    list: (Kind.LIST, "[]interface {}"),
    tuple: (Kind.LIST, "[]interface {}"),
    datetime: (Kind.TIME, "time.Time"),
    Mapping: (Kind.MAP, "map[string]interface {}"),
}


def _known(value: object) -> tuple[Kind, str]:
    known = _KINDS.get(type(value))
    if known is not None:
        return known
    for type_, general in _KINDS.items():
        if isinstance(value, type_):
            return general
    raise Failure(f"a Python {type(value).__name__} is not a value of a template")


def kind_of(value: object) -> Kind:
    return _known(value)[0]


def type_name(value: object) -> str:
    """The Go type, as printf's %T and Go's error texts show it."""
    return _known(value)[1]


def truth(value: Any) -> bool:
    """Everything is true but nil, false, zero and what is empty."""
    return True if kind_of(value) is Kind.TIME else bool(value)


def sorted_items(mapping: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    """The entries in the order in which Go prints and ranges over them."""
    for key in mapping:
        if not isinstance(key, str):
            raise Failure("a map of a template has only strings as keys", key)
    return sorted(mapping.items(), key=lambda item: item[0])


def describe(value: object) -> str:
    """A value as an error message shows it: its Go type and its beginning."""
    try:
        kind = kind_of(value)
    except Failure:
        return f"a Python {type(value).__name__}"
    if kind is Kind.NIL:
        return "nil"
    if kind is Kind.MAP:
        assert isinstance(value, Mapping)
        return f"map with {_shorten(', '.join(str(key) for key in islice(value, _SHOWN))) or 'no keys'}"
    if kind is Kind.LIST:
        assert isinstance(value, list | tuple)
        return f"list of {len(value)}"
    if kind is Kind.STRING:
        return f"string {_shorten(str(value))!r}"
    if isinstance(value, int) and value.bit_length() > _SHOWN:
        return f"{type_name(value)} of {value.bit_length()} bits"
    return f"{type_name(value)} {value}"


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def to_bytes(text: str) -> bytes:
    """The bytes that Go sees; half a character, made by `slice`, travels as an escaped surrogate."""
    return without_halves(text).encode(errors="surrogateescape")


def without_halves(text: str) -> str:
    """U+FFFD for each half of a surrogate pair, which JSON can hold and Go replaces; our escaped bytes stay."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def from_bytes(raw: bytes) -> str:
    return raw.decode(errors="surrogateescape")


def printable(text: str) -> str:
    """A text fit to leave the template: halves that met are whole again, every other byte of a half is replaced."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return _SURROGATE.sub("\ufffd", from_bytes(to_bytes(text)))
