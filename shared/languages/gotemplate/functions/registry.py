"""The functions a template may call: the built-ins of text/template and the twenty of the adapter framework.

A signature says what Go's types say: how many arguments, and which of them must be a string or a time. Arguments
stand in Go's order, not in sprig's: `{{ trimPrefix .name "x-" }}`, with the value first.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shared.languages.gotemplate.functions import casing, formatting, layouts, quoting
from shared.languages.gotemplate.functions.printf import write_formatted
from shared.languages.gotemplate.limits import MAX_TEXT
from shared.languages.gotemplate.parsing import literals
from shared.languages.gotemplate.runtime import comparison
from shared.languages.gotemplate.runtime.evaluation import Buffer
from shared.languages.gotemplate.runtime.failure import Failure, LimitReached
from shared.languages.gotemplate.runtime.values import (
    Byte,
    Int,
    Kind,
    describe,
    from_bytes,
    kind_of,
    to_bytes,
    truth,
    type_name,
)

# What Go's strings.TrimSpace removes; Python's strip() would also remove the separators U+001C to U+001F.
_SPACES = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
_MAX_SLICE_INDEXES = 3
_STRING, _TIME = Kind.STRING, Kind.TIME


@dataclass(frozen=True, slots=True)
class Signature:
    """`parameters` are the fixed ones, None where any value is welcome; a variadic function takes any more.

    One that `writes` puts its result into a buffer, which comes before the arguments and counts what that costs.
    """

    call: Callable[..., Any]
    parameters: tuple[Kind | None, ...] = (None,)
    variadic: bool = False
    writes: bool = False

    def accepts(self, count: int) -> bool:
        return count == len(self.parameters) or (self.variadic and count > len(self.parameters))

    @property
    def wanted(self) -> str:
        count = len(self.parameters)
        return f"{'at least ' if self.variadic else ''}{count} argument{'' if count == 1 else 's'}"

    def parameter(self, position: int) -> Kind | None:
        return self.parameters[position] if position < len(self.parameters) else None


def _special(*_: object) -> Any:
    raise AssertionError("the evaluator knows this one itself")


def _call(*values: object) -> Any:
    raise Failure("there is nothing that can be called", values[0])


def _length(value: Any) -> Int:
    match kind_of(value):
        case Kind.STRING:
            return Int(len(value) if value.isascii() else len(to_bytes(value)))
        case Kind.LIST | Kind.MAP:
            return Int(len(value))
    raise Failure(f"{describe(value)} has no length", value)


def _index(item: Any, *indexes: Any) -> Any:
    if item is None:
        raise Failure("index of nil", item)
    for index in indexes:
        kind = kind_of(item)
        if kind is Kind.MAP:
            if not isinstance(index, str):
                raise Failure(f"a key of a map is a string, not {describe(index)}", index)
            item = item.get(index)
        elif kind is Kind.LIST:
            item = item[_position(index, len(item) - 1)]
        elif kind is Kind.STRING:
            raw = to_bytes(item)
            item = Byte(raw[_position(index, len(raw) - 1)])
        else:
            raise Failure(f"{describe(item)} cannot be indexed", item)
    return item


def _position(index: Any, last: int) -> int:
    if kind_of(index) not in {Kind.INT, Kind.UINT}:
        raise Failure(f"an index is an integer, not {describe(index)}", index)
    if not 0 <= index <= last:
        raise Failure(f"index {describe(index)} is out of range; the last one is {last}", index)
    return int(index)


def _slice(item: Any, *indexes: Any) -> Any:
    kind = kind_of(item)
    if kind not in {Kind.LIST, Kind.STRING}:
        raise Failure(f"{describe(item)} cannot be sliced", item)
    if len(indexes) > (_MAX_SLICE_INDEXES if kind is Kind.LIST else _MAX_SLICE_INDEXES - 1):
        raise Failure("too many indexes for slice", item)
    whole = to_bytes(item) if kind is Kind.STRING else item
    bounds = [_position(index, len(whole)) for index in indexes]
    start, end, *capacity = [*bounds, *[0, len(whole)][len(bounds) :]]
    if start > end or any(end > bound for bound in capacity):
        raise Failure(f"the bounds of the slice are not in order: {bounds}", item)
    return from_bytes(whole[start:end]) if kind is Kind.STRING else whole[start:end]


def _replace(text: str, old: str, new: str) -> str:
    count = text.count(old)
    if len(text) + count * (len(new) - len(old)) > MAX_TEXT:
        raise LimitReached(f"the text grows beyond {MAX_TEXT} characters")
    return text.replace(old, new)


def _default(fallback: Any, value: Any) -> Any:
    return fallback if value is None or (isinstance(value, str) and not value) else value


def _whole(value: Any) -> int:
    """What has no number in it is 0."""
    if kind_of(value) is Kind.INT:
        return int(value)
    if isinstance(value, float):
        return literals.truncate(value)
    return literals.read_int(value) if isinstance(value, str) else 0


def _real(value: Any) -> float:
    if kind_of(value) in {Kind.INT, Kind.FLOAT}:
        try:
            return float(value)
        except OverflowError:
            raise Failure("the integer does not fit into a float64", value) from None
    read = literals.read_float(value) if isinstance(value, str) else None
    return 0.0 if read is None else read


def _escaper(escape: Callable[[str], str]) -> Signature:
    def write_escaped(buffer: Buffer, *values: object) -> None:
        formatting.write_all(buffer, *(formatting.NO_VALUE if value is None else value for value in values))
        buffer.write(escape(buffer.take()))

    return Signature(write_escaped, (), variadic=True, writes=True)


_BUILT_IN = {
    "and": Signature(_special, variadic=True),
    "or": Signature(_special, variadic=True),
    "not": Signature(lambda value: not truth(value)),
    "len": Signature(_length),
    "index": Signature(_index, variadic=True),
    "slice": Signature(_slice, variadic=True),
    "print": Signature(formatting.write_all, (), variadic=True, writes=True),
    "printf": Signature(write_formatted, (_STRING,), variadic=True, writes=True),
    "println": Signature(formatting.write_line, (), variadic=True, writes=True),
    "html": _escaper(quoting.escape_html),
    "js": _escaper(quoting.escape_js),
    "urlquery": _escaper(quoting.escape_query),
    "eq": Signature(comparison.equal, variadic=True),
    "ne": Signature(comparison.not_equal, (None, None)),
    "lt": Signature(comparison.less, (None, None)),
    "le": Signature(comparison.less_or_equal, (None, None)),
    "gt": Signature(comparison.greater, (None, None)),
    "ge": Signature(comparison.greater_or_equal, (None, None)),
    "call": Signature(_call, variadic=True),
}
_FRAMEWORK = {
    "now": Signature(_special, ()),
    "date": Signature(layouts.layout, (_STRING, _TIME)),
    "dateFormat": Signature(layouts.layout, (_STRING, _TIME)),
    "lower": Signature(casing.lower, (_STRING,)),
    "upper": Signature(casing.upper, (_STRING,)),
    "title": Signature(casing.title, (_STRING,)),
    "trim": Signature(lambda text: text.strip(_SPACES), (_STRING,)),
    "trimPrefix": Signature(lambda text, prefix: text.removeprefix(prefix), (_STRING, _STRING)),
    "trimSuffix": Signature(lambda text, suffix: text.removesuffix(suffix), (_STRING, _STRING)),
    "replace": Signature(_replace, (_STRING, _STRING, _STRING)),
    "contains": Signature(lambda text, part: part in text, (_STRING, _STRING)),
    "hasPrefix": Signature(lambda text, prefix: text.startswith(prefix), (_STRING, _STRING)),
    "hasSuffix": Signature(lambda text, suffix: text.endswith(suffix), (_STRING, _STRING)),
    "quote": Signature(quoting.quote, (_STRING,)),
    "default": Signature(_default, (None, None)),
    "int": Signature(lambda value: Int(_whole(value))),
    "int64": Signature(_whole),
    "float": Signature(_real),
    "float64": Signature(_real),
    "string": Signature(formatting.write_value, writes=True),
}
FUNCTIONS: Mapping[str, Signature] = {**_BUILT_IN, **_FRAMEWORK}


def require(value: object, kind: Kind, function: str) -> None:
    """An argument of a type that Go would not pass."""
    if kind_of(value) is not kind:
        wanted, hint = ("a string", "convert it with string") if kind is _STRING else ("a time", "times come from now")
        raise Failure(f"{function} needs {wanted}, got {type_name(value)}", value, hint=hint)
