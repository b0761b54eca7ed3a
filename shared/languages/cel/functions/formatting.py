"""`"...".format([...])`: cel-go's clauses `%s %d %f %e %b %x %X %o`, a precision for `%f` and `%e`, and `%%`."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from shared.languages.cel.functions.overloads import Function, Overload
from shared.languages.cel.functions.times import show_duration, show_timestamp
from shared.languages.cel.limits import VISITING
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import Failure
from shared.languages.cel.runtime.numbers import show_decimal, show_int, show_special
from shared.languages.cel.runtime.values import Kind, kind_of, utf8

_CLAUSE = re.compile(r"%(?:(?P<percent>%)|(?:\.(?P<precision>\d+))?(?P<verb>[sdfebxXo]))", re.ASCII)
_DEFAULT_PRECISION, _MOST_PRECISION = 6, 100
_WHOLE: Final = frozenset({Kind.INT, Kind.UINT})
_NUMBERS: Final = _WHOLE | {Kind.DOUBLE}

Shower = Callable[[Any, int], str]


def _format(evaluation: Evaluation, template: str, arguments: Any) -> str:
    evaluation.spend(template.count("%") * VISITING)
    parts: list[str] = []
    position, used = 0, 0
    while (percent := template.find("%", position)) >= 0:
        parts.append(template[position:percent])
        clause = _CLAUSE.match(template, percent)
        if clause is None:
            raise Failure("format() does not know the clause here", met=template[percent:], hint=_KNOWN)
        if clause["percent"]:
            parts.append("%")
        else:
            parts.append(_filled(evaluation, clause, arguments, used))
            used += 1
        position = clause.end()
    parts.append(template[position:])
    evaluation.grow_text(sum(map(len, parts)))
    return "".join(parts)


_KNOWN = "the clauses are %s %d %f %e %b %x %X %o, a precision as in %.2f, and %% for a percent sign"


def _filled(evaluation: Evaluation, clause: re.Match[str], arguments: Any, index: int) -> str:
    if index >= len(arguments):
        raise Failure(f"format() has {len(arguments)} arguments and needs more", met=arguments)
    digits = clause["precision"]
    precision = int(digits.lstrip("0")[:4] or 0) if digits else _DEFAULT_PRECISION
    if precision > _MOST_PRECISION:
        raise Failure(f"format() writes at most {_MOST_PRECISION} digits", met=clause[0])
    verb = clause["verb"]
    if verb == "s":
        return _text(evaluation, arguments[index])
    kinds, show = _VERBS[verb]
    if kind_of(arguments[index]) not in kinds:
        raise Failure(f"%{verb} cannot write {kind_of(arguments[index]).described}", met=arguments[index])
    return show(arguments[index], precision)


def _text(evaluation: Evaluation, value: Any) -> str:
    """Any value as a person would write it; what is in a list or map is not quoted."""
    match kind_of(value):
        case Kind.LIST:
            evaluation.spend(len(value) * VISITING)
            return _grown(evaluation, "[", [_text(evaluation, item) for item in value], "]")
        case Kind.MAP:
            evaluation.spend(len(value) * VISITING)
            entries = sorted((_text(evaluation, key), _text(evaluation, value[key])) for key in value)
            return _grown(evaluation, "{", [f"{key}: {shown}" for key, shown in entries], "}")
        case Kind.OPTIONAL:
            raise Failure("%s cannot write an optional", met=value, hint="take its value out with .orValue(...)")
        case kind:
            return _SCALARS[kind](value)


def _grown(evaluation: Evaluation, opening: str, parts: list[str], closing: str) -> str:
    evaluation.grow_text(sum(map(len, parts)) + 2 * len(parts))
    return opening + ", ".join(parts) + closing


def _decimal(value: Any, _: int) -> str:
    if type(value) is not float:
        return show_int(int(value))
    return show_decimal(value) if math.isfinite(value) else show_special(value, infinity="Infinity")


def _floating(style: str) -> Shower:
    def show(value: Any, precision: int) -> str:
        try:
            number = float(value)
        except OverflowError:
            raise Failure("a number is too large to be written") from None
        if not math.isfinite(number):
            return show_special(number, infinity="Infinity")
        return f"{number:.{precision}{style}}"

    return show


def _hexadecimal(style: str) -> Shower:
    def show(value: Any, _: int) -> str:
        if isinstance(value, int):
            return f"{int(value):{style}}"
        digits = (utf8(value) if isinstance(value, str) else value).hex()
        return str(digits.upper() if style == "X" else digits)

    return show


_SCALARS: Final[Mapping[Kind, Callable[[Any], str]]] = {
    Kind.STRING: str,
    Kind.NULL: lambda _: "null",
    Kind.BOOL: lambda value: "true" if value else "false",
    Kind.BYTES: lambda value: str(value, errors="replace"),
    Kind.TIMESTAMP: lambda value: show_timestamp(value, utc=True),
    Kind.DURATION: show_duration,
    Kind.TYPE: lambda value: str(value.name),
    **dict.fromkeys(_NUMBERS, lambda value: _decimal(value, 0)),
}
_VERBS: Final[Mapping[str, tuple[frozenset[Kind], Shower]]] = {
    "d": (_NUMBERS, _decimal),
    "f": (_NUMBERS, _floating("f")),
    "e": (_NUMBERS, _floating("e")),
    "b": (_WHOLE | {Kind.BOOL}, lambda value, _: f"{int(value):b}"),
    "o": (_WHOLE, lambda value, _: f"{int(value):o}"),
    "x": (_WHOLE | {Kind.STRING, Kind.BYTES}, _hexadecimal("x")),
    "X": (_WHOLE | {Kind.STRING, Kind.BYTES}, _hexadecimal("X")),
}

FUNCTIONS: Final = (Function("format", (Overload((Kind.STRING, Kind.LIST), _format),), weight=50),)
