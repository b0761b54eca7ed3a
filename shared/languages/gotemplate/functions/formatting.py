"""How Go writes a value: `%v` of an action's result, and any other verb with its flags.

A verb reaches through lists and maps to their elements. What a verb cannot write is written as Go's complaint,
`%!d(string=x)`: a template that prints is never stopped by its format.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from shared.languages.gotemplate.functions import layouts, numerals
from shared.languages.gotemplate.functions.numerals import PLAIN, Flags, pad
from shared.languages.gotemplate.functions.quoting import can_backquote, quote
from shared.languages.gotemplate.limits import MAX_DEPTH, MAX_TEXT
from shared.languages.gotemplate.runtime.evaluation import Buffer
from shared.languages.gotemplate.runtime.failure import LimitReached
from shared.languages.gotemplate.runtime.values import Kind, kind_of, sorted_items, to_bytes, type_name

NO_VALUE = "<no value>"
_NIL = "<nil>"


def write_value(buffer: Buffer, value: object) -> None:
    """The value under %v."""
    write_argument(buffer, value, "v", PLAIN)


def write_all(buffer: Buffer, *values: object) -> None:
    """fmt.Sprint: a space between two neighbours that are both no strings."""
    after_string = True
    for value in values:
        string = isinstance(value, str)
        if not string and not after_string:
            buffer.write(" ")
        write_value(buffer, value)
        after_string = string


def write_line(buffer: Buffer, *values: object) -> None:
    """fmt.Sprintln: a space between all, a new line at the end."""
    for i, value in enumerate(values):
        buffer.write(" " if i else "")
        write_value(buffer, value)
    buffer.write("\n")


def write_argument(buffer: Buffer, value: object, verb: str, flags: Flags) -> None:
    """One argument of printf; %T and nil are special here and nowhere deeper."""
    if (flags.width or 0) + (flags.precision or 0) > MAX_TEXT:
        raise LimitReached("the width is too large")
    if value is None:
        buffer.write(pad(_NIL, flags) if verb in "Tv" else f"%!{verb}({_NIL})")
    elif verb == "T":
        buffer.write(_string(type_name(value), "s", flags) or "")
    elif verb in "pw":
        _complain(buffer, value, verb, flags, 0)
    else:
        _write(buffer, value, verb, flags, 0)


def _write(buffer: Buffer, value: Any, verb: str, flags: Flags, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise LimitReached(f"the value is nested deeper than {MAX_DEPTH} levels")
    kind = kind_of(value)
    if kind is Kind.MAP:
        _map(buffer, value, verb, flags, depth)
    elif kind is Kind.LIST:
        _list(buffer, value, verb, flags, depth)
    elif kind is Kind.NIL:
        buffer.write("interface {}(nil)" if flags.go_syntax else _NIL)
    else:
        text = _scalar(kind, value, verb, flags)
        if text is None:
            _complain(buffer, value, verb, flags, depth)
        else:
            buffer.write(text)


def _complain(buffer: Buffer, value: object, verb: str, flags: Flags, depth: int) -> None:
    buffer.write(f"%!{verb}({type_name(value)}=")
    _write(buffer, value, "v", flags, depth)
    buffer.write(")")


def _map(buffer: Buffer, value: Mapping[str, Any], verb: str, flags: Flags, depth: int) -> None:
    opening, separator, closing = ("map[string]interface {}{", ", ", "}") if flags.go_syntax else ("map[", " ", "]")
    buffer.write(opening)
    for i, (key, element) in enumerate(sorted_items(value)):
        buffer.write(separator if i else "")
        _write(buffer, key, verb, flags, depth + 1)
        buffer.write(":")
        _write(buffer, element, verb, flags, depth + 1)
    buffer.write(closing)


def _list(buffer: Buffer, value: Sequence[Any], verb: str, flags: Flags, depth: int) -> None:
    opening, separator, closing = ("[]interface {}{", ", ", "}") if flags.go_syntax else ("[", " ", "]")
    buffer.write(opening)
    for i, element in enumerate(value):
        buffer.write(separator if i else "")
        _write(buffer, element, verb, flags, depth + 1)
    buffer.write(closing)


def _scalar(kind: Kind, value: Any, verb: str, flags: Flags) -> str | None:
    """None if the kind has no such verb."""
    match kind:
        case Kind.STRING:
            return _string(value, verb, flags)
        case Kind.BOOL:
            return pad("true" if value else "false", flags) if verb in "tv" else None
        case Kind.INT | Kind.UINT:
            return numerals.integer(value, verb, flags, unsigned=kind is Kind.UINT)
        case Kind.FLOAT:
            return numerals.floating(value, verb, flags)
        case Kind.COMPLEX:
            return numerals.complex_number(value, verb, flags)
    return _time(value, verb, flags)


def _time(value: datetime, verb: str, flags: Flags) -> str | None:
    if verb not in "vsxXq":
        return None
    if flags.go_syntax:
        return _string(layouts.go_syntax(value), "s", flags)
    return _string(layouts.text(value), verb, flags)


def _string(value: str, verb: str, flags: Flags) -> str | None:
    match verb:
        case "v" if flags.go_syntax:
            return _quoted(value, flags)
        case "v" | "s":
            return pad(value[: flags.precision], flags)
        case "q":
            return _quoted(value, flags)
        case "x":
            return _hex(value, flags)
        case "X":
            return _hex(value, flags).upper()
    return None


def _quoted(value: str, flags: Flags) -> str:
    value = value[: flags.precision]
    if flags.sharp and can_backquote(value):
        return pad(f"`{value}`", flags)
    return pad(quote(value, ascii_only=flags.plus), flags)


def _hex(value: str, flags: Flags) -> str:
    raw = to_bytes(value)[: flags.precision]
    prefix = "0x" if flags.sharp and raw else ""
    if flags.space:
        return pad(" ".join(prefix + format(byte, "02x") for byte in raw), flags)
    return pad(prefix + raw.hex(), flags)
