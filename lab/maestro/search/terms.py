"""The terms of a search, with the semantics of SQL: NULL is neither true nor false."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from lab.maestro.storage.documents import load
from lab.maestro.storage.refusals import Code, Refusal

Record = Mapping[str, Any]
Value = Callable[[Record], Any]
Term = Callable[[Record], bool | None]

_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Kind(StrEnum):
    """The type of a column, as the database calls it."""

    TEXT = "text"
    INTEGER = "bigint"
    TIME = "timestamp with time zone"
    JSON = "jsonb"


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    model: str
    columns: Mapping[str, Kind]


@dataclass(frozen=True, slots=True)
class Operand:
    """The left side of a comparison: how to read it from a record, and its type."""

    read: Value
    kind: Kind


def failed(error: str, state: str) -> Refusal:
    """The database's error, as for an unknown column."""
    return Refusal(Code.GENERAL, f"Unable to list resources: ERROR: {error} (SQLSTATE {state})")


def column(table: Table, name: str, *, shown_as: str) -> Operand:
    try:
        kind = table.columns[name]
    except KeyError:
        raise failed(f"column {shown_as} does not exist", "42703") from None
    return Operand(lambda record: record[name], kind)


def member(parent: Operand, key: str, *, as_text: bool) -> Operand:
    """`->` and `->>`: a missing member is NULL."""
    if parent.kind is not Kind.JSON:
        raise failed(f"operator does not exist: {parent.kind} {'->>' if as_text else '->'} unknown", "42883")

    def read(record: Record) -> Any:
        value = parent.read(record)
        found = value.get(key, _ABSENT) if isinstance(value, Mapping) else _ABSENT
        return _json_text(found) if as_text else found

    return Operand(read, Kind.TEXT if as_text else Kind.JSON)


def compare(left: Operand, symbol: str, literal: str | float) -> Term:
    right, test = _literal(left.kind, literal), _OPERATORS[symbol]

    def term(record: Record) -> bool | None:
        value = left.read(record)
        return None if value is None else test(value, right)

    return term


def among(left: Operand, literals: Sequence[str | float]) -> Term:
    allowed = [_literal(left.kind, each) for each in literals]

    def term(record: Record) -> bool | None:
        value = left.read(record)
        if not allowed:
            return False
        return None if value is None else value in allowed

    return term


def like(left: Operand, pattern: str, *, ignore_case: bool) -> Term:
    if left.kind is not Kind.TEXT:
        raise failed(f"operator does not exist: {left.kind} ~~ unknown", "42883")
    expression = re.compile(_like_expression(pattern), re.DOTALL | (re.IGNORECASE if ignore_case else 0))

    def term(record: Record) -> bool | None:
        value = left.read(record)
        return None if value is None else expression.fullmatch(value) is not None

    return term


def is_null(left: Operand) -> Term:
    return lambda record: left.read(record) is None


def contains(left: Operand, content: str) -> Term:
    """`@>`: the value contains the given JSON at the same paths."""
    wanted = _json(content)

    def term(record: Record) -> bool | None:
        value = left.read(record)
        return None if value is _ABSENT else _contains(value, wanted)

    return term


def both(left: Term, right: Term) -> Term:
    def term(record: Record) -> bool | None:
        answers = (left(record), right(record))
        return False if False in answers else None if None in answers else True

    return term


def either(left: Term, right: Term) -> Term:
    return negated(both(negated(left), negated(right)))


def negated(inner: Term) -> Term:
    def term(record: Record) -> bool | None:
        answer = inner(record)
        return None if answer is None else not answer

    return term


class _Absent:
    """The value of a missing path, which is not JSON's null."""


_ABSENT = _Absent()


def _json_text(value: Any) -> str | None:
    match value:
        case _Absent() | None:
            return None
        case str():
            return value
        case bool():
            return str(value).lower()
        case _:
            return str(value)


def _contains(value: Any, wanted: Any, *, top: bool = True) -> bool:
    match value, wanted:
        case dict(), dict():
            return all(key in value and _contains(value[key], each, top=False) for key, each in wanted.items())
        case list(), list():
            return all(any(_contains(held, each, top=False) for held in value) for each in wanted)
        case list(), dict():
            return False
        case list(), scalar if top:
            return any(_same(held, scalar) for held in value)
        case _:
            return _same(value, wanted)


def _same(left: Any, right: Any) -> bool:
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _literal(kind: Kind, literal: str | float) -> Any:
    match kind, literal:
        case Kind.TEXT, str():
            return literal
        case Kind.INTEGER, float():
            return int(literal)
        case Kind.INTEGER, str() if re.fullmatch(r"[+-]?[0-9]+", literal):
            return int(literal)
        case Kind.TIME, str():
            return _moment(literal)
        case Kind.JSON, str():
            return _json(literal)
        case _, str():
            raise failed(f'invalid input syntax for type {kind}: "{literal}"', "22P02")
        case _:
            raise Refusal(Code.GENERAL, f"Unable to list resources: unable to encode {literal:g} for {kind}")


def _json(literal: str) -> Any:
    try:
        return load(literal)
    except ValueError:
        raise failed("invalid input syntax for type json", "22P02") from None


def _moment(literal: str) -> datetime:
    try:
        moment = datetime.fromisoformat(literal)
    except ValueError:
        raise failed(f'invalid input syntax for type {Kind.TIME}: "{literal}"', "22007") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _like_expression(pattern: str) -> str:
    parts = re.findall(r"\\(.)|([%_])|(.)", pattern, re.DOTALL)
    wild = {"%": ".*", "_": "."}
    return "".join(wild[sign] if sign else re.escape(escaped or plain) for escaped, sign, plain in parts)
