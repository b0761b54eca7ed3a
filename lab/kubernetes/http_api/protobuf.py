"""Request bodies in Kubernetes' protobuf encoding, which kubectl's own `create` commands send.

A message is a table from field numbers to names; the numbers are the API's. Only what these commands send is listed.
"""

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from lab.kubernetes.api.documents import Object

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"


class NotReadable(ValueError):
    """Not Kubernetes' protobuf."""


class UnknownKind(NotReadable):
    """A kind that is not in the table."""


class Scalar(Enum):
    TEXT = auto()
    NUMBER = auto()
    SWITCH = auto()
    BYTES = auto()
    NESTED = auto()


@dataclass(frozen=True, slots=True)
class Many:
    """A repeated field."""

    of: "Type"


@dataclass(frozen=True, slots=True)
class Table:
    """A map from strings; on the wire its entries are messages of key and value."""

    of: "Type"


Message = Mapping[int, tuple[str, "Type"]]
Type = Scalar | Many | Table | Message

_TEXT, _NUMBER, _SWITCH = Scalar.TEXT, Scalar.NUMBER, Scalar.SWITCH
_TEXTS = Many(_TEXT)
_TYPE_META: Message = {1: ("apiVersion", _TEXT), 2: ("kind", _TEXT)}
_UNKNOWN: Message = {1: ("typeMeta", _TYPE_META), 2: ("raw", Scalar.NESTED)}
_METADATA: Message = {
    1: ("name", _TEXT),
    2: ("generateName", _TEXT),
    3: ("namespace", _TEXT),
    11: ("labels", Table(_TEXT)),
    12: ("annotations", Table(_TEXT)),
    14: ("finalizers", _TEXTS),
}
_CONTAINER: Message = {1: ("name", _TEXT), 2: ("image", _TEXT), 3: ("command", _TEXTS), 4: ("args", _TEXTS)}
_POD_SPEC: Message = {2: ("containers", Many(_CONTAINER)), 3: ("restartPolicy", _TEXT)}
_POD_TEMPLATE: Message = {1: ("metadata", _METADATA), 2: ("spec", _POD_SPEC)}
_JOB_SPEC: Message = {6: ("template", _POD_TEMPLATE)}
_RULE: Message = {
    1: ("verbs", _TEXTS),
    2: ("apiGroups", _TEXTS),
    3: ("resources", _TEXTS),
    4: ("resourceNames", _TEXTS),
    5: ("nonResourceURLs", _TEXTS),
}
_SUBJECT: Message = {1: ("kind", _TEXT), 2: ("apiGroup", _TEXT), 3: ("name", _TEXT), 4: ("namespace", _TEXT)}
_ROLE_REFERENCE: Message = {1: ("apiGroup", _TEXT), 2: ("kind", _TEXT), 3: ("name", _TEXT)}
_ATTRIBUTES: Message = {
    1: ("namespace", _TEXT),
    2: ("verb", _TEXT),
    3: ("group", _TEXT),
    4: ("version", _TEXT),
    5: ("resource", _TEXT),
    6: ("subresource", _TEXT),
    7: ("name", _TEXT),
}


def _kind(**fields: tuple[int, Type]) -> Message:
    return {1: ("metadata", _METADATA), **{number: (name, type_) for name, (number, type_) in fields.items()}}


_KINDS: Mapping[str, Message] = {
    "ClusterRole": _kind(rules=(2, Many(_RULE))),
    "ClusterRoleBinding": _kind(subjects=(2, Many(_SUBJECT)), roleRef=(3, _ROLE_REFERENCE)),
    "ConfigMap": _kind(data=(2, Table(_TEXT)), binaryData=(3, Table(Scalar.BYTES))),
    "Job": _kind(spec=(2, _JOB_SPEC)),
    "Namespace": _kind(),
    "Role": _kind(rules=(2, Many(_RULE))),
    "RoleBinding": _kind(subjects=(2, Many(_SUBJECT)), roleRef=(3, _ROLE_REFERENCE)),
    "Secret": _kind(data=(2, Table(Scalar.BYTES)), type=(3, _TEXT)),
    "SelfSubjectAccessReview": _kind(spec=(2, {1: ("resourceAttributes", _ATTRIBUTES)})),
    "ServiceAccount": _kind(automountServiceAccountToken=(4, _SWITCH)),
    "TokenRequest": _kind(spec=(2, {1: ("audiences", _TEXTS), 4: ("expirationSeconds", _NUMBER)})),
}


def decode(content: bytes) -> Object:
    """The object as JSON has it. Raises NotReadable."""
    if not content.startswith(_MAGIC):
        raise NotReadable("the body does not begin with the prefix of Kubernetes' protobuf")
    envelope = _message(content[len(_MAGIC) :], _UNKNOWN)
    header = envelope.get("typeMeta") or {}
    if header.get("kind") not in _KINDS:
        raise UnknownKind(str(header.get("kind")))
    return {**header, **_message(envelope.get("raw", b""), _KINDS[header["kind"]])}


def _message(content: bytes, message: Message) -> Object:
    document: Object = {}
    for number, value in _fields(content):
        if number not in message:
            continue
        name, type_ = message[number]
        match type_:
            case Many(of):
                document.setdefault(name, []).append(_value(value, of))
            case Table(of):
                entry = _value(value, {1: ("key", _TEXT), 2: ("value", of)})
                document.setdefault(name, {})[entry.get("key", "")] = entry.get("value", "")
            case _:
                document[name] = _value(value, type_)
    return {name: value for name, value in document.items() if value not in ("", {})}


def _value(value: int | bytes, type_: Type) -> Any:
    match type_, value:
        case Scalar.TEXT, bytes():
            return _text(value)
        case Scalar.BYTES, bytes():
            return base64.b64encode(value).decode()
        case Scalar.NESTED, bytes():
            return value
        case Scalar.NUMBER, int():
            return value
        case Scalar.SWITCH, int():
            return bool(value)
        case Mapping(), bytes():
            return _message(value, type_)
    raise NotReadable("a field has another type than the API's")


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise NotReadable(str(error)) from None


def _fields(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers with their raw values: integers, or bytes."""
    position = 0
    while position < len(content):
        tag, position = _varint(content, position)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == 0:
            value, position = _varint(content, position)
            yield number, value
        elif wire_type == 2:  # noqa: PLR2004 - length-delimited
            length, position = _varint(content, position)
            yield number, content[position : position + length]
            position += length
        else:
            raise NotReadable(f"wire type {wire_type} is not used by the API")


def _varint(content: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(content):
            raise NotReadable("the body is cut off")
        byte = content[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:  # noqa: PLR2004 - the last byte has no continuation bit
            return value, position
