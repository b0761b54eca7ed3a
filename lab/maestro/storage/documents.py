"""Converts between CloudEvents on the wire and the JSON documents that Maestro stores.

A row stores whole events as JSON: attributes at the root, the work's metadata as an object (for searches) and the
payload under `data`. Numbers pass through float64; all times but the event's own become strings.
"""

import base64
import json
import re
from decimal import Decimal
from typing import Any, NamedTuple

from google.protobuf.timestamp_pb2 import Timestamp

from lab.maestro.storage.go_types import Misfit, Shape, fit, kind_of
from shared import times
from shared.maestro.wire.cloudevent_pb2 import CloudEvent, CloudEventAttributeValue
from shared.maestro.wire.codec import compact

Document = dict[str, Any]

_STRUCTURED = "application/cloudevents"
_JSON_TYPE = re.compile(r"(application|text)/(.+\+)?json|$")
_TYPE_PARTS = 5
_CONTEXT = ("specversion", "id", "source", "type")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INT32 = 2**31
_GO_TURNS_TO_EXPONENTS = 1e21
_NAME_RULE = (
    "bad key, CloudEvents attribute names MUST consist of lower-case letters ('a' to 'z'), "
    "upper-case letters ('A' to 'Z') or digits ('0' to '9') from the ASCII character set"
)


class NotAnEvent(ValueError):
    """Not a CloudEvent; the text is the server's."""


class Unreadable(ValueError):
    """An event without a required value; the text is the server's."""


class EventType(NamedTuple):
    data_type: str
    action: str


def document_of(event: CloudEvent) -> Document:
    """The event as one JSON document, with `data` as bytes. Raises NotAnEvent."""
    content_type = event.attributes["contenttype"].ce_string if "contenttype" in event.attributes else ""
    if content_type.startswith(_STRUCTURED):
        return _structured(event.binary_data)
    if not event.attributes or event.spec_version not in ("1.0", "0.3"):
        raise NotAnEvent("unknown Message encoding")
    document: Document = {"specversion": event.spec_version, "id": event.id, "source": event.source, "type": event.type}
    for name, attribute in event.attributes.items():
        value = _value(name, attribute)
        if name == "contenttype":
            document["datacontenttype"] = value
        elif name == "ce-time":
            document["time"] = _moment(value)
        elif name.startswith("ce-"):
            document[_extension_name(name)] = value
    if event.binary_data:
        document["data"] = event.binary_data
    return document


def stored(document: Document) -> Document:
    """The document as it is stored: payload and metadata decoded, numbers as float64. Raises Unreadable."""
    kept = dict(document)
    data = kept.get("data")
    if isinstance(data, bytes):
        kept["data"] = _payload(data, kept.get("datacontenttype") or "")
    if "metadata" in kept:
        kept["metadata"] = _metadata(kept["metadata"])
    return kept


def event_of(document: Document) -> CloudEvent:
    event = CloudEvent(
        id=document["id"],
        source=document["source"],
        type=document["type"],
        spec_version=document["specversion"],
    )
    for name, value in document.items():
        if name not in (*_CONTEXT, "data"):
            event.attributes[_attribute_name(name)].CopyFrom(_attribute(name, value))
    if "data" in document:
        event.binary_data = compact(document["data"]).encode()
    return event


def payload(document: Document, shape: Shape) -> Any:
    """The event's data as a Go type. Raises Misfit."""
    content_type = document.get("datacontenttype") or ""
    data = document.get("data")
    if data is None:
        return fit(None, shape)
    if content_type == "text/plain":
        raise Misfit(f"text.Decode out: want *string, got *{shape.go}")
    if not _JSON_TYPE.match(content_type):
        raise Misfit(f'[decode] unsupported content type: "{content_type}"')
    try:
        return fit(data, shape)
    except Misfit as error:
        raise Misfit(f'[json] found bytes "{compact(data)}", but failed to unmarshal: {error}') from None


def event_type(document: Document) -> EventType:
    """The parts of `<group>.<version>.<resource>.<spec|status>.<action>`. Raises Unreadable."""
    name = document["type"]
    *data_type, subresource, action = name.split(".") if name.count(".") >= _TYPE_PARTS - 1 else ("", "")
    if not data_type:
        raise Unreadable(f"failed to parse cloud event type {name}, unsupported cloudevents type format: {name}")
    if subresource not in ("spec", "status"):
        raise Unreadable(f"failed to parse cloud event type {name}, unsupported subresource {subresource}")
    return EventType(".".join(data_type), action)


def text(document: Document, name: str) -> str:
    """A required string extension. Raises Unreadable."""
    value = document.get(name)
    if isinstance(value, str):
        return value
    problem = "invalid CloudEvents value: <nil>" if value is None else f"cannot convert {_go(value)} to string"
    raise Unreadable(f"failed to get {name} extension: {problem}")


def number(document: Document, name: str) -> int:
    """A required integer, or a string of digits. Raises Unreadable."""
    match document.get(name):
        case bool(value):
            problem = f"cannot convert {_go(value)} to int32"
        case int(value):
            return value
        case str(value) if _DECIMAL.fullmatch(value) and abs(float(value)) < _INT32:
            return int(float(value))
        case str(value) if _DECIMAL.fullmatch(value):
            problem = f'cannot convert "{value}" to int32: out of range'
        case str(value):
            problem = f'strconv.ParseFloat: parsing "{value}": invalid syntax'
        case _:
            problem = "invalid CloudEvents value: <nil>"
    raise Unreadable(f"failed to get {name} extension: {problem}")


def load(content: str | bytes) -> Any:
    """JSON with Go's numbers. Raises ValueError with a text close to Go's."""
    decoded = content.decode(errors="replace") if isinstance(content, bytes) else content
    try:
        return json.loads(decoded, parse_int=_number, parse_float=_number, parse_constant=_constant)
    except RecursionError:
        raise ValueError("invalid character '[' exceeded max depth") from None
    except json.JSONDecodeError as error:
        if error.pos >= len(error.doc):
            raise ValueError("unexpected end of JSON input") from None
        raise ValueError(f"invalid character '{error.doc[error.pos]}' looking for beginning of value") from None


def holds_nul(value: Any) -> bool:
    """Whether a document has a NUL character, which PostgreSQL cannot store in text."""
    match value:
        case str():
            return "\0" in value
        case dict():
            return any(holds_nul(key) or holds_nul(each) for key, each in value.items())
        case list():
            return any(holds_nul(each) for each in value)
        case _:
            return False


def _number(literal: str) -> int | float:
    """A number converted to float64, as Go prints it: 1.0 is 1, and 2**53 + 1 is 2**53."""
    value = float(literal)
    if abs(value) == float("inf"):
        raise ValueError(f"json: cannot unmarshal number {literal} into Go value of type float64")
    if value.is_integer() and abs(value) < _GO_TURNS_TO_EXPONENTS:
        return int(Decimal(repr(value)))
    return value


def _constant(name: str) -> Any:
    raise ValueError(f"invalid character '{name[0]}' looking for beginning of value")


def _structured(content: bytes) -> Document:
    try:
        document = load(content)
    except ValueError as error:
        raise NotAnEvent(str(error)) from None
    if not isinstance(document, dict) or "specversion" not in document:
        raise NotAnEvent("specversion: no specversion\n")
    if "data" in document:
        document["data"] = compact(document["data"]).encode()
    return {**dict.fromkeys(_CONTEXT, ""), **document}


def _payload(data: bytes, content_type: str) -> Any:
    if not _JSON_TYPE.match(content_type):
        return data.decode(errors="replace")
    doing = "failed to marshal cloudevent to JSONMAP: json: error calling MarshalJSON for type *event.Event: "
    try:
        return load(data)
    except ValueError as error:
        if "float64" in str(error):
            doing = "failed to unmarshal cloudevent JSON to JSONMAP: "
        raise Unreadable(f"failed to convert cloudevent to resource payload: {doing}{error}") from None


def _metadata(value: Any) -> dict[str, Any] | None:
    doing = "failed to convert cloudevent to resource payload: failed to unmarshal metadata extension to object"
    try:
        metadata = load(value if isinstance(value, str) else _go(value))
    except ValueError as error:
        raise Unreadable(f"{doing}: {error}") from None
    if not isinstance(metadata, dict | None):
        kind = kind_of(metadata)
        raise Unreadable(f"{doing}: json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}")
    return metadata


def _value(name: str, attribute: CloudEventAttributeValue) -> Any:
    kind = attribute.WhichOneof("attr")
    if kind is None:
        raise NotAnEvent(f"failed to convert attribute {name}: unsupported attribute type: <nil>")
    value = getattr(attribute, kind)
    if isinstance(value, Timestamp):
        return value.ToJsonString()
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _moment(value: Any) -> str:
    try:
        times.parse(str(value))
    except ValueError:
        raise NotAnEvent(f'invalid value for time: "{value}"') from None
    return str(value)


def _extension_name(attribute: str) -> str:
    name = attribute.removeprefix("ce-").lower()
    if not re.fullmatch(r"[a-z0-9]+", name):
        raise NotAnEvent(_NAME_RULE)
    return name


def _attribute_name(name: str) -> str:
    return "contenttype" if name == "datacontenttype" else f"ce-{name}"


def _attribute(name: str, value: Any) -> CloudEventAttributeValue:
    if name == "time":
        moment = Timestamp()
        moment.FromJsonString(value)
        return CloudEventAttributeValue(ce_timestamp=moment)
    match value:
        case Timestamp():
            return CloudEventAttributeValue(ce_timestamp=value)
        case bool():
            return CloudEventAttributeValue(ce_boolean=value)
        case int() | float():
            return CloudEventAttributeValue(ce_integer=int(value))
        case str():
            return CloudEventAttributeValue(ce_string=value)
        case _:
            return CloudEventAttributeValue(ce_string=compact(value))


def _go(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
