"""The protocol of the embedded broker, which the lab serves and the dispatcher speaks. Pure: text in, frames out.

A frame is one JSON object on a line of its own, at most `MAX_LINE` bytes with its newline; `frame` names its kind and
`body` is base64. A connection publishes, consumes one subscription, or both.

    client                                          broker
    publish    number, topic, body           ─▶
                                             ◀─     published  number
    subscribe  topic, subscription, prefetch ─▶
                                             ◀─     subscribed
                                             ◀─     deliver    tag, body, redelivered
    ack        tag                           ─▶
    nack       tag, requeue                  ─▶
    cancel                                   ─▶
                                             ◀─     cancelled
                                             ◀─     refused    reason, and the connection is closed

- A topic gives each of its subscriptions a copy. A subscription exists from its first `subscribe` on, consumers or not;
  what was published before it existed is not in it.
- Connections with the same subscription compete: each message goes to one of them, the one that has waited longest.
- `prefetch` is how many unacknowledged messages a connection holds at most; 0 sets no limit.
- `nack` with `requeue` puts the message at the front again; without it the message is dropped.
- Unacknowledged messages of a connection that ends are put at the front in their order, and delivered as `redelivered`.
- After `cancelled` nothing more is delivered, while messages already delivered can still be acknowledged.
- An unknown tag in `ack` or `nack`, a second `subscribe`, or a line that is no frame is refused.
"""

import base64
import binascii
import json
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from shared.errors import Invalid

MAX_LINE = 2 * 1024 * 1024
_MAX_QUOTED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Publish:
    """`number` is the publisher's own, and comes back in `Published`."""

    kind: ClassVar[str] = "publish"
    number: int
    topic: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """Every subscription of the topic has the message."""

    kind: ClassVar[str] = "published"
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribe:
    kind: ClassVar[str] = "subscribe"
    topic: str
    subscription: str
    prefetch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribed:
    kind: ClassVar[str] = "subscribed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliver:
    """`tag` names the delivery on this connection, not the message."""

    kind: ClassVar[str] = "deliver"
    tag: int
    body: bytes
    redelivered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ack:
    kind: ClassVar[str] = "ack"
    tag: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Nack:
    kind: ClassVar[str] = "nack"
    tag: int
    requeue: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    kind: ClassVar[str] = "cancel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    kind: ClassVar[str] = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The last frame of a connection on which the client broke the protocol."""

    kind: ClassVar[str] = "refused"
    reason: str


ClientFrame = Publish | Subscribe | Ack | Nack | Cancel
BrokerFrame = Published | Subscribed | Deliver | Cancelled | Refused
Frame = ClientFrame | BrokerFrame

_KINDS: dict[str, type[Frame]] = {
    each.kind: each
    for each in (Publish, Published, Subscribe, Subscribed, Deliver, Ack, Nack, Cancel, Cancelled, Refused)
}


def encode(frame: Frame) -> bytes:
    """The frame as a line, with its newline. Raises Invalid for a body that does not fit."""
    values = {field.name: getattr(frame, field.name) for field in fields(frame)}
    if "body" in values:
        values["body"] = base64.b64encode(values["body"]).decode()
    line = json.dumps({"frame": frame.kind, **values}, separators=(",", ":")).encode() + b"\n"
    if len(line) > MAX_LINE:
        raise Invalid("the message is too large for the embedded broker", why=f"more than {MAX_LINE} bytes as a frame")
    return line


def decode(line: bytes) -> Frame:
    """The frame on this line. Raises Invalid for anything else."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _not_a_frame(line, "it is not JSON") from error
    if not isinstance(document, dict):
        raise _not_a_frame(line, "it is not a JSON object")
    name = document.pop("frame", None)
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise _not_a_frame(line, f"its kind {name!r} is not known")
    return kind(**{field.name: _value(document.pop(field.name, None), field, line) for field in fields(kind)})


def _value(value: Any, field: Any, line: bytes) -> Any:
    if field.type is bytes:
        try:
            return base64.b64decode(value, validate=True)
        except (TypeError, ValueError, binascii.Error) as error:
            raise _not_a_frame(line, f"{field.name!r} is not base64") from error
    if type(value) is not field.type:
        raise _not_a_frame(line, f"{field.name!r} must be of type {field.type.__name__}")
    if field.type is int and value < 0:
        raise _not_a_frame(line, f"{field.name!r} must not be negative")
    return value


def _not_a_frame(line: bytes, why: str) -> Invalid:
    shown = line[:_MAX_QUOTED].decode(errors="replace").rstrip("\n")
    return Invalid(f"not a frame of the embedded broker: {shown}", why=why)
