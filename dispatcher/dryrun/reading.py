"""What a dry run is given, in the Go framework's file formats: events, API responses, discovery overrides, secrets.

Each is read whole and refused with everything that is wrong in it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dispatcher.engine.runs import Event
from shared import times
from shared.errors import Misconfigured, Problem

_REQUIRED = ("id", "source", "type", "specversion")
_ATTRIBUTES = frozenset({*_REQUIRED, "data", "time", "datacontenttype", "dataschema", "subject", "data_base64"})
_TYPES = {"id": str, "kind": str, "href": str, "generation": int, "owner_references": dict}
_NAMES = {str: "a text", int: "a whole number", dict: "an object"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedEvent:
    """An event and, where it has the attribute `time`, the instant at which its run takes place."""

    event: Event
    at: datetime | None = None


def read_events(document: Any) -> tuple[TimedEvent, ...]:
    """One CloudEvent, or a list of them, which run in order against the same state."""
    listed = document if isinstance(document, list) else [document]
    problems: list[Problem] = []
    events = []
    for number, each in enumerate(listed):
        path = f"[{number}]" if isinstance(document, list) else ""
        found = list(_problems(each, path))
        problems.extend(found)
        if not found:
            events.append(_event(each))
    if not listed:
        problems.append(Problem("", "the list is empty"))
    if problems:
        raise Misconfigured("the event file holds no CloudEvents", problems)
    return tuple(events)


def _event(each: Mapping[str, Any]) -> TimedEvent:
    at = times.parse(each["time"]) if "time" in each else None
    extensions = {name: value for name, value in each.items() if name not in _ATTRIBUTES}
    event = Event(
        id=each["id"], type=each["type"], source=each["source"], data=each.get("data") or {}, extensions=extensions
    )
    return TimedEvent(event=event, at=at)


def _problems(each: Any, path: str) -> Iterable[Problem]:
    if not isinstance(each, Mapping):
        yield Problem(path, "must be an object")
        return
    for name in _REQUIRED:
        if not isinstance(each.get(name), str) or not each[name]:
            yield Problem(_joined(path, name), "is required and must be a text")
    data = each.get("data")
    if data is not None and not isinstance(data, Mapping):
        yield Problem(_joined(path, "data"), "must be an object")
    elif data:
        yield from _data_problems(data, _joined(path, "data"))
    if "time" in each:
        try:
            times.parse(str(each["time"]))
        except ValueError as error:
            yield Problem(_joined(path, "time"), str(error))


def _data_problems(data: Mapping[str, Any], path: str) -> Iterable[Problem]:
    for name, type_ in _TYPES.items():
        value = data.get(name)
        if value is not None and (not isinstance(value, type_) or isinstance(value, bool)):
            yield Problem(_joined(path, name), f"must be {_NAMES[type_]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MockResponse:
    status: int = 200
    body: Any = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MockEndpoint:
    """`pattern` is a regular expression of Go, searched anywhere in the URL; `method` "*" is any."""

    method: str
    pattern: str
    responses: tuple[MockResponse, ...]


def read_responses(document: Any) -> tuple[MockEndpoint, ...]:
    listed = document.get("responses") if isinstance(document, Mapping) else None
    if not isinstance(listed, list):
        raise Misconfigured("the API responses are refused", [Problem("responses", "must be a list")])
    problems: list[Problem] = []
    endpoints = [_endpoint(each, f"responses[{number}]", problems) for number, each in enumerate(listed)]
    if problems:
        raise Misconfigured("the API responses are refused", problems)
    return tuple(endpoints)


def _endpoint(each: Any, path: str, problems: list[Problem]) -> MockEndpoint:
    each = each if isinstance(each, Mapping) else {}
    match = each.get("match") if isinstance(each.get("match"), Mapping) else {}
    pattern = match.get("urlPattern")
    if not isinstance(pattern, str) or not pattern:
        problems.append(Problem(f"{path}.match.urlPattern", "is required and must be a regular expression"))
        pattern = ""
    answers = each.get("responses")
    if not isinstance(answers, list) or not answers:
        problems.append(Problem(f"{path}.responses", "must be a list with at least one response"))
        answers = []
    return MockEndpoint(
        method=str(match.get("method") or "*").upper(),
        pattern=pattern,
        responses=tuple(_response(answer, f"{path}.responses[{n}]", problems) for n, answer in enumerate(answers)),
    )


def _response(answer: Any, path: str, problems: list[Problem]) -> MockResponse:
    status = answer.get("statusCode", 0) if isinstance(answer, Mapping) else None
    if not isinstance(status, int) or isinstance(status, bool):
        problems.append(Problem(f"{path}.statusCode", "must be a whole number"))
        return MockResponse()
    body = answer.get("body")
    return MockResponse(status=status or 200, body={} if body is None else body)


def read_overrides(document: Any) -> dict[str, dict[str, Any]]:
    """Objects by the rendered name of the manifest they complete."""
    if not isinstance(document, Mapping):
        raise Misconfigured("the discovery overrides are refused", [Problem("", "must be an object")])
    problems: list[Problem] = []
    overrides = {str(name): _override(found, str(name), problems) for name, found in document.items()}
    if problems:
        raise Misconfigured("the discovery overrides are refused", problems)
    return overrides


def _override(found: Any, path: str, problems: list[Problem]) -> dict[str, Any]:
    """Members of the metadata without a value are left out."""
    found = found if isinstance(found, Mapping) else {}
    problems += [
        Problem(f"{path}.{member}", "is required and must be a text")
        for member in ("apiVersion", "kind")
        if not isinstance(found.get(member), str) or not found[member]
    ]
    metadata = _object(found, "metadata", path, problems)
    for member in ("labels", "annotations"):
        _object(metadata, member, f"{path}.metadata", problems)
    return {**found, "metadata": {key: value for key, value in metadata.items() if value is not None}}


def _object(owner: Mapping[str, Any], member: str, path: str, problems: list[Problem]) -> Mapping[str, Any]:
    value = owner.get(member)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        problems.append(Problem(f"{path}.{member}", "must be an object"))
        return {}
    return value


def read_environment(document: Any) -> dict[str, str]:
    """Variables beside those of the process."""
    if not isinstance(document, Mapping):
        raise Misconfigured("the environment is refused", [Problem("", "must be an object of texts")])
    problems = [Problem(str(name), "must be a text") for name, value in document.items() if not isinstance(value, str)]
    if problems:
        raise Misconfigured("the environment is refused", problems)
    return dict(document)


_OBJECT_KINDS = {"secret": "Secret", "configmap": "ConfigMap"}
SecretKey = tuple[str, str, str, str]
"""Kind, namespace, name and key."""


def read_secrets(document: Any) -> dict[SecretKey, str]:
    """`{"secret": {namespace: {name: {key: value}}}, "configmap": {…}}`, the way the param sources are spelt."""
    values: dict[SecretKey, str] = {}
    top = document.keys() if isinstance(document, Mapping) else ()
    problems = [Problem(str(each), "must be secret|configmap") for each in top if each not in _OBJECT_KINDS]
    for kind, path, value in _leaves(document):
        known = _OBJECT_KINDS.get(kind)
        if known is None or len(path) != 3 or not isinstance(value, str):  # noqa: PLR2004 - namespace, name, key
            problems.append(Problem(".".join((kind, *path)), "must be secret|configmap.NAMESPACE.NAME.KEY with a text"))
        else:
            namespace, name, key = path
            values[known, namespace, name, key] = value
    if problems:
        raise Misconfigured("the secrets are refused", problems)
    return values


def _leaves(document: Any) -> Iterable[tuple[str, tuple[str, ...], Any]]:
    """Every value and the path to it, at most as deep as a key of a Secret."""
    if not isinstance(document, Mapping):
        yield "", (), document
        return
    for kind, namespaces in document.items():
        for path, value in _walk(namespaces, (), 3):
            yield str(kind), path, value


def _walk(value: Any, path: tuple[str, ...], depth: int) -> Iterable[tuple[tuple[str, ...], Any]]:
    if depth == 0 or not isinstance(value, Mapping):
        yield path, value
        return
    for key, each in value.items():
        yield from _walk(each, (*path, str(key)), depth - 1)


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
