"""`int(x)`, `string(x)`, `timestamp(x)` and their like, and `size(x)` and `type(x)`, which every kind answers."""

from typing import Any, Final

from shared.languages.cel.functions.overloads import ANY, Function, Implementation, Overload
from shared.languages.cel.functions.times import (
    NANOS,
    parse_duration,
    parse_timestamp,
    show_duration,
    show_timestamp,
    timestamp,
)
from shared.languages.cel.runtime.evaluation import Evaluation
from shared.languages.cel.runtime.failure import Failure
from shared.languages.cel.runtime.numbers import (
    parse_bool,
    parse_double,
    parse_int,
    parse_uint,
    show_double,
    show_int,
)
from shared.languages.cel.runtime.values import INT_MAX, TYPE_NAMES, UINT_MAX, Kind, UInt, kind_of, utf8


def _same(_: Evaluation, value: Any) -> Any:
    return value


def _double_to_int(_: Evaluation, value: float) -> int:
    if -(2.0**63) < value < 2.0**63:
        return int(value)
    raise Failure("the double does not fit into an int", met=value)


def _double_to_uint(_: Evaluation, value: float) -> UInt:
    if 0 <= value < 2.0**64:
        return UInt(value)
    raise Failure("the double does not fit into a uint", met=value)


def _uint_to_int(_: Evaluation, value: UInt) -> int:
    if value <= INT_MAX:
        return int(value)
    raise Failure("the uint does not fit into an int", met=int(value))


def _int_to_uint(_: Evaluation, value: int) -> UInt:
    if 0 <= value <= UINT_MAX:
        return UInt(value)
    raise Failure("the int does not fit into a uint", met=value)


def _to_double(_: Evaluation, value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise Failure("the number does not fit into a double") from None


def _bytes_to_text(evaluation: Evaluation, value: bytes) -> str:
    evaluation.grow_text(len(value))
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Failure("these bytes are not UTF-8 text", met=value) from None


def _text_to_bytes(evaluation: Evaluation, value: str) -> bytes:
    evaluation.grow_text(len(value))
    return utf8(value)


def _size(_: Evaluation, value: Any) -> int:
    return len(value)


def _type(_: Evaluation, value: Any) -> Any:
    return TYPE_NAMES[kind_of(value)]


def _conversion(name: str, weight: int = 10, **by_kind: Implementation) -> Function:
    return Function(name, tuple(Overload((Kind[kind],), run) for kind, run in by_kind.items()), weight=weight)


FUNCTIONS: Final = (
    _conversion("size", 1, STRING=_size, BYTES=_size, LIST=_size, MAP=_size),
    Function("type", (Overload((ANY,), _type),)),
    Function("dyn", (Overload((ANY,), _same),)),
    _conversion("bool", BOOL=_same, STRING=lambda _, value: parse_bool(value)),
    _conversion(
        "int",
        INT=_same,
        UINT=_uint_to_int,
        DOUBLE=_double_to_int,
        STRING=lambda _, value: parse_int(value),
        TIMESTAMP=lambda _, value: value.nanos // NANOS,
        DURATION=lambda _, value: value.nanos,
    ),
    _conversion(
        "uint", UINT=_same, INT=_int_to_uint, DOUBLE=_double_to_uint, STRING=lambda _, value: parse_uint(value)
    ),
    _conversion("double", DOUBLE=_same, INT=_to_double, UINT=_to_double, STRING=lambda _, value: parse_double(value)),
    _conversion(
        "string",
        40,
        STRING=_same,
        BOOL=lambda _, value: "true" if value else "false",
        INT=lambda _, value: show_int(value),
        UINT=lambda _, value: show_int(int(value)),
        DOUBLE=lambda _, value: show_double(value),
        BYTES=_bytes_to_text,
        TIMESTAMP=lambda _, value: show_timestamp(value),
        DURATION=lambda _, value: show_duration(value),
    ),
    _conversion("bytes", BYTES=_same, STRING=_text_to_bytes),
    _conversion(
        "timestamp",
        30,
        TIMESTAMP=_same,
        STRING=lambda _, value: parse_timestamp(value),
        INT=lambda _, value: timestamp(value * NANOS),
    ),
    _conversion("duration", 30, DURATION=_same, STRING=lambda _, value: parse_duration(value)),
)
