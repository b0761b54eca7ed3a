"""What a message says: a CloudEvent in structured JSON, and which object it is about. Pure.

The event's `data` is whatever Sentinel's configuration maps. Only the members that name the object are checked, as
strictly as the Go framework checks them; where `id` or `kind` is missing, `href` and the event's type say it.
"""

import json
from collections.abc import Mapping
from typing import Any

from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

from dispatcher.engine.runs import Event, ObjectKey
from shared.errors import Invalid, Problem
from shared.untrusted_json import whole_characters

_FORMAT = JSONFormat()
_ATTRIBUTES = frozenset({"specversion", "id", "source", "type", "datacontenttype", "dataschema", "subject", "time"})
_KIND_OF_PLURAL = {"clusters": "Cluster", "nodepools": "NodePool"}
_KIND_OF_TYPE = {"cluster": "Cluster", "nodepool": "NodePool"}
_MIN_TYPE_PARTS = 2


def parse(body: bytes) -> tuple[ObjectKey, Event]:
    """The object the message is about, and its event. Raises Invalid for a body that is no event about an object."""
    try:
        cloud_event = _FORMAT.read(CloudEvent, whole_characters(body.decode()))
    except Exception as error:  # noqa: BLE001 - the library raises whatever a hostile body provokes
        raise Invalid("the message is not a CloudEvent in JSON", why=_reason(error)) from None
    attributes = cloud_event.get_attributes()
    data = _object_in(cloud_event.get_data())
    problems = _problems(data)
    if problems:
        raise Invalid("the event's data is not as the framework needs it", problems)
    key = _key(data, attributes["type"])
    event = Event(
        id=attributes["id"],
        type=attributes["type"],
        source=attributes["source"],
        data={**data, "id": key.id, "kind": key.kind},
        extensions={name: value for name, value in attributes.items() if name not in _ATTRIBUTES},
    )
    return key, event


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]


def _object_in(data: Any) -> Mapping[str, Any]:
    if data is None:
        return {}
    if isinstance(data, bytes):
        try:
            data = json.loads(whole_characters(data.decode(json.detect_encoding(data))))
        except (ValueError, RecursionError):
            raise Invalid("the event's data is not JSON") from None
    if not isinstance(data, dict):
        raise Invalid(f"the event's data is not a JSON object but a {type(data).__name__}")
    return data


def _problems(data: Mapping[str, Any]) -> list[Problem]:
    found = _text_problems(data, "")
    generation = data.get("generation")
    if generation is not None and (not isinstance(generation, int) or isinstance(generation, bool)):
        found.append(Problem("generation", "must be an integer"))
    owner = data.get("owner_references")
    if isinstance(owner, dict):
        found += _text_problems(owner, "owner_references.")
    elif owner is not None:
        found.append(Problem("owner_references", "must be an object with id, kind and href"))
    return found


def _text_problems(data: Mapping[str, Any], prefix: str) -> list[Problem]:
    return [
        Problem(f"{prefix}{name}", "must be a string")
        for name in ("id", "kind", "href")
        if not isinstance(data.get(name), str | None)
    ]


def _key(data: Mapping[str, Any], event_type: str) -> ObjectKey:
    plural, _, id_from_href = (data.get("href") or "").rstrip("/").rpartition("/")
    id_ = data.get("id") or id_from_href
    if not id_:
        raise Invalid("the event does not say which object it is about", remedy="map `id` in Sentinel's message_data")
    kind = data.get("kind") or _KIND_OF_PLURAL.get(plural.rpartition("/")[2]) or _kind_of_type(event_type)
    if not kind:
        raise Invalid(
            f"the event does not say of which kind {id_!r:.80} is", remedy="map `kind` in Sentinel's message_data"
        )
    return ObjectKey(kind=kind, id=id_)


def _kind_of_type(event_type: str) -> str:
    """`com.redhat.hyperfleet.cluster.reconcile` is about a Cluster; old Sentinels wrote the kind itself."""
    parts = event_type.split(".")
    named = parts[-2] if len(parts) >= _MIN_TYPE_PARTS else ""
    return _KIND_OF_TYPE.get(named.lower(), named)
