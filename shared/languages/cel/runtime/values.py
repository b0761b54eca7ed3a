"""CEL's kinds of value, and how Python holds each.

JSON's kinds are held as they come (`None bool int float str list dict`), so a variable is neither copied nor walked.
What only CEL has is held by a type of its own. What an expression makes differs from what it was given by its
type: a list it makes is a `tuple`, a map it makes is a `BuiltMap`; only those can contain CEL's own kinds.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from shared.languages.cel.runtime.failure import Failure

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
UINT_MAX = 2**64 - 1


class Kind(StrEnum):
    """The kinds, by the name `type()` gives them."""

    NULL = "null_type"
    BOOL = "bool"
    INT = "int"
    UINT = "uint"
    DOUBLE = "double"
    STRING = "string"
    BYTES = "bytes"
    LIST = "list"
    MAP = "map"
    TIMESTAMP = "google.protobuf.Timestamp"
    DURATION = "google.protobuf.Duration"
    OPTIONAL = "optional_type"
    TYPE = "type"

    @property
    def shown(self) -> str:
        """The name in a message, without what only protobuf needs."""
        return self.value.removesuffix("_type").rpartition(".")[2].lower()

    @property
    def described(self) -> str:
        """The name with its article."""
        if self is Kind.NULL:
            return "null"
        return f"{'an' if self.shown[0] in 'aeio' else 'a'} {self.shown}"


class UInt(int):
    """An unsigned 64-bit number; equal to, and hashed as, the same int."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Timestamp:
    """Nanoseconds since 1970 and the offset from UTC, in seconds, it was written with; the offset is only shown."""

    nanos: int
    offset: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Duration:
    nanos: int


@dataclass(frozen=True, slots=True)
class TypeName:
    """What `type(x)` gives and what `int`, `string`, ... stand for."""

    name: str


ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Optional:
    value: Any = ABSENT

    @property
    def present(self) -> bool:
        return self.value is not ABSENT


NONE: Final = Optional()

_Key = str | tuple[type, Any]


class BuiltMap(Mapping[Any, Any]):
    """A map made by the expression. Its keys keep their kind: `1`, `1u`, `1.0` and `true` are four keys, as in Go.

    A later entry replaces an earlier one; an ABSENT one removes it.
    """

    __slots__ = ("_entries",)

    def __init__(self, entries: Iterable[tuple[Any, Any]]) -> None:
        latest = {_internal(key): value for key, value in entries}
        self._entries: dict[_Key, Any] = {key: value for key, value in latest.items() if value is not ABSENT}

    def __getitem__(self, key: Any) -> Any:
        value = self.find(key)
        if value is ABSENT:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[Any]:
        return (key if isinstance(key, str) else key[1] for key in self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: Any) -> Any:
        """The value of a key, or ABSENT; a number also finds the same number of another kind."""
        if type(key) is str:
            return self._entries.get(key, ABSENT)
        for candidate in _spellings(key):
            value = self._entries.get((type(candidate), candidate), ABSENT)
            if value is not ABSENT:
                return value
        return ABSENT


def _internal(key: Any) -> _Key:
    if type(key) is str:
        return key
    if kind_of(key) in {Kind.LIST, Kind.MAP, Kind.BYTES, Kind.OPTIONAL}:
        raise Failure(f"{kind_of(key).described} cannot be the key of a map", met=key)
    return type(key), key


def _spellings(key: Any) -> Iterator[Any]:
    """A key and the equal numbers of the other kinds that an entry may have been written with."""
    match key:
        case None | bool() | Timestamp() | Duration() | TypeName():
            yield key
        case UInt():
            yield from (key, int(key))
        case int():
            yield from (key, UInt(key))
        case float() if key.is_integer():
            yield from (key, int(key), UInt(int(key)))
        case float():
            yield key


PYTHON_TYPES: Final[Mapping[Kind, tuple[type, ...]]] = {
    Kind.NULL: (type(None),),
    Kind.BOOL: (bool,),
    Kind.INT: (int,),
    Kind.UINT: (UInt,),
    Kind.DOUBLE: (float,),
    Kind.STRING: (str,),
    Kind.BYTES: (bytes,),
    Kind.LIST: (list, tuple),
    Kind.MAP: (dict, BuiltMap),
    Kind.TIMESTAMP: (Timestamp,),
    Kind.DURATION: (Duration,),
    Kind.OPTIONAL: (Optional,),
    Kind.TYPE: (TypeName,),
}
_KINDS: Final = {python: kind for kind, pythons in PYTHON_TYPES.items() for python in pythons}

TYPE_NAMES: Final = {kind.value: TypeName(kind.value) for kind in Kind}


def kind_of(value: Any) -> Kind:
    """The kind of a value; any other mapping than a dict is a map, and no other Python object is a value."""
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, Mapping):
        return Kind.MAP
    for python, kind in _KINDS.items():
        if isinstance(value, python):
            return kind
    raise Failure("a variable holds something that is not a JSON value", met=value)


def undecided(value: Any) -> Failure:
    """A condition came out as something that is neither true nor false."""
    return Failure(f"a condition is a bool, not {kind_of(value).described}", met=value)


def is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def is_map(value: Any) -> bool:
    return isinstance(value, Mapping)


def utf8(text: str) -> bytes:
    """JSON can smuggle in halves of characters, which UTF-8 cannot hold; Go replaces them, and so do we."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
