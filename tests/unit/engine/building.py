"""Compiled adapters written by hand, and a world of ports for them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from dispatcher.config.compiled import (
    ABSENT,
    Adapter,
    ApiCall,
    Capture,
    Condition,
    Constant,
    Discovery,
    EventSource,
    ListNode,
    MapNode,
    NestedDiscovery,
    Operator,
    Param,
    ParamSource,
    Payload,
    PayloadNode,
    Place,
    PostAction,
    Precondition,
    Resource,
    TextNode,
    ValueNode,
)
from dispatcher.dryrun.transport import InMemoryTransport, TransportRecord, World
from dispatcher.engine.engine import Engine
from dispatcher.engine.ports import ApiRequest, ApiResponse, Object, Ports
from dispatcher.engine.runs import Cause, Delivered, Event, RunRequest, RunResult
from shared.errors import HyperFleetError, NotFound
from shared.languages.cel import compile_cel
from shared.languages.gotemplate import compile_structure, compile_template
from shared.languages.jsonpath import compile_jsonpath

PLACE = Place(file="task-config.yaml", line=1, column=1, path="somewhere")
T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
STATUSES = "/clusters/c1/statuses"

cel, template, path = compile_cel, compile_template, compile_jsonpath


def param(name: str, source: ParamSource, **more: Any) -> Param:
    return Param(name=name, source=source, written="its source", place=PLACE, **more)


def call(method: str, url: str, body: str | None = None) -> ApiCall:
    return ApiCall(method=method, url=template(url), body=None if body is None else template(body))


def capture(name: str, *, field: str | None = None, expression: str | None = None, default: Any = ABSENT) -> Capture:
    return Capture(
        name=name,
        field=path(field) if field else None,
        expression=cel(expression) if expression else None,
        default=default,
        place=PLACE,
    )


def condition(field: str, operator: str, value: Any = None) -> Condition:
    return Condition(field=path(field), operator=Operator(operator), value=value, place=PLACE)


def precondition(name: str, *, get: str = "", expression: str = "", **more: Any) -> Precondition:
    return Precondition(
        name=name,
        api_call=call("GET", get) if get else None,
        expression=cel(expression) if expression else None,
        place=PLACE,
        **more,
    )


@dataclass
class MapManifest:
    api_version: str
    kind: str
    document: Any

    def render(self, variables: Mapping[str, Any], *, clock: Any) -> dict[str, Any]:
        rendered: dict[str, Any] = compile_structure(self.document).render(variables, clock=clock)
        return rendered


def manifest(
    kind: str, name: str, *, api_version: str = "v1", generation: str = "{{ .generation }}", **more: Any
) -> MapManifest:
    metadata: dict[str, Any] = {"name": name, **more.pop("metadata", {})}
    if generation:
        metadata["annotations"] = {"hyperfleet.io/generation": generation, **metadata.get("annotations", {})}
    return MapManifest(api_version, kind, {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more})


def resource(
    name: str,
    what: MapManifest,
    *,
    by_name: str | None = None,
    labels: Mapping[str, str] | None = None,
    namespace: str | None = None,
    create_when: str = "",
    delete_when: str = "",
    **more: Any,
) -> Resource:
    by_name = what.document["metadata"]["name"] if by_name is None and labels is None else by_name
    return Resource(
        name=name,
        manifest=what,
        discovery=Discovery(
            namespace=None if namespace is None else template(namespace),
            by_name=None if by_name is None else template(by_name),
            by_labels=tuple((template(key), template(value)) for key, value in (labels or {}).items()),
        ),
        watch=more.pop("watch", what.kind == "Job"),
        create_when=cel(create_when) if create_when else None,
        delete_when=cel(delete_when) if delete_when else None,
        place=PLACE,
        **more,
    )


def nested(name: str, *, by_name: str | None = None, labels: Mapping[str, str] | None = None) -> NestedDiscovery:
    discovery = Discovery(
        by_name=None if by_name is None else template(by_name),
        by_labels=tuple((template(key), template(value)) for key, value in (labels or {}).items()),
    )
    return NestedDiscovery(name=name, discovery=discovery, place=PLACE)


def build(document: Any) -> PayloadNode:
    """A payload as an author writes it."""
    match document:
        case {"field": str(field), **rest}:
            return ValueNode(field=path(field), default=rest.get("default", ABSENT), place=PLACE)
        case {"expression": str(source), **rest}:
            return ValueNode(expression=cel(source), default=rest.get("default", ABSENT), place=PLACE)
        case dict():
            return MapNode(tuple((template(key), build(value)) for key, value in document.items()))
        case list():
            return ListNode(tuple(build(each) for each in document))
        case str():
            return TextNode(template(document))
    return Constant(document)


def payload(name: str, document: Any, *, when: str = "") -> Payload:
    return Payload(name=name, build=build(document), when=cel(when) if when else None, place=PLACE)


def status(available: str, **more: Any) -> dict[str, Any]:
    """A status whose Available is an expression."""
    return {
        "adapter": "{{ .adapter.name }}",
        "conditions": [
            {"type": "Applied", "status": "True"},
            {"type": "Available", "status": {"expression": available}},
            {"type": "Health", "status": {"expression": 'adapter.executionStatus == "success" ? "True" : "False"'}},
        ],
        "observed_generation": {"expression": "generation"},
        "observed_time": "whatever the author wrote",
        **more,
    }


def action(
    name: str, what: ApiCall | None = None, *, when: str = "", payloads: tuple[str, ...] = (), **more: Any
) -> PostAction:
    return PostAction(
        name=name, api_call=what, when=cel(when) if when else None, payloads=frozenset(payloads), place=PLACE, **more
    )


def reporting(document: Any = None) -> dict[str, Any]:
    """The post phase most adapters have: one status, sent to the API."""
    return {
        "payloads": (payload("report", document or status('"True"')),),
        "post_actions": (action("send", call("PUT", STATUSES, "{{ .report }}"), payloads=("report",)),),
    }


def adapter(**parts: Any) -> Adapter:
    return Adapter(name="tests", version="1.0", config={"k": {"n": 1}}, redacted_config={"k": {"n": 1}}, **parts)


class ScriptedApi:
    """Answers by method and URL, in order; the last answer repeats. What is not scripted is 404."""

    def __init__(self, **answers: Any) -> None:
        self.answers: dict[str, list[Any]] = {}
        self.sent: list[ApiRequest] = []

    def on(self, what: str, *answers: Any) -> "ScriptedApi":
        """`what` is `GET /url`; an answer is a document, a status code, (code, document), or an error to raise."""
        self.answers[what] = list(answers)
        return self

    async def send(self, request: ApiRequest) -> ApiResponse:
        self.sent.append(request)
        answers = self.answers.get(f"{request.method} {request.url}", [(404, {"code": "HYPERFLEET-NTF-001"})])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, HyperFleetError):
            raise answer
        code, document = (
            answer if isinstance(answer, tuple) else (answer, {}) if isinstance(answer, int) else (200, answer)
        )
        return ApiResponse(status=code, body=b"" if code == 204 else json.dumps(document).encode(), url=request.url)

    def bodies(self, what: str = f"PUT {STATUSES}") -> list[Any]:
        return [json.loads(each.body or "null") for each in self.sent if f"{each.method} {each.url}" == what]

    def calls(self) -> list[str]:
        return [f"{each.method} {each.url}" for each in self.sent]


class TickingClock:
    """A microsecond passes at every look."""

    def __init__(self) -> None:
        self.at = T0

    def now(self) -> datetime:
        self.at += timedelta(microseconds=1)
        return self.at

    def monotonic(self) -> float:
        return 0.0


class KnownSecrets:
    def __init__(self, values: Mapping[tuple[str, str, str, str], str]) -> None:
        self.values = values

    async def read(self, kind: str, namespace: str, name: str, key: str) -> str:
        if (kind, namespace, name, key) not in self.values:
            raise NotFound(f"no {kind} {namespace}/{name} {key}")
        return self.values[kind, namespace, name, key]


@dataclass
class Stage:
    """An adapter, its ports in memory, and a way to run it."""

    adapter: Adapter
    api: ScriptedApi = field(default_factory=ScriptedApi)
    clock: TickingClock = field(default_factory=TickingClock)
    records: list[TransportRecord] = field(default_factory=list)
    existing: dict[str, Object] = field(default_factory=dict)
    secrets: dict[tuple[str, str, str, str], str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    data: dict[str, Any] = field(
        default_factory=lambda: {"id": "c1", "kind": "Cluster", "href": "/clusters/c1", "generation": 5}
    )
    silence: float = 180.0

    def __post_init__(self) -> None:
        if f"PUT {STATUSES}" not in self.api.answers:
            self.api.on(f"PUT {STATUSES}", (201, {}))
        world = World(
            label="tests", annotation="{}", now=self.clock.now, is_deleting=lambda: True, records=self.records
        )
        self.kubernetes = InMemoryTransport(world, self.existing, asynchronous=False)
        self.maestro = InMemoryTransport(world, self.existing, asynchronous=True)
        self.engine = Engine(self.adapter, self.ports, silence=self.silence)

    @property
    def ports(self) -> Ports:
        return Ports(
            api=self.api,
            transports={"kubernetes": self.kubernetes, "maestro": self.maestro},
            secrets=KnownSecrets(self.secrets),
            clock=self.clock,
            environment=self.environment,
        )

    async def run(
        self,
        *,
        cause: Cause = Cause.EVENT,
        delivered: tuple[Delivered, ...] = (),
        observe_only: bool = False,
        last_seen: Mapping[str, Object] | None = None,
        **data: Any,
    ) -> RunResult:
        event = Event(id="e1", type="t", source="s", data={**self.data, **data})
        request = RunRequest(
            event=event, cause=cause, delivered=delivered, observe_only=observe_only, last_seen=last_seen or {}
        )
        return await self.engine.run(request)

    def operations(self) -> list[str]:
        """What was written, in order."""
        return [
            f"{each.result} {each.name}" if each.operation == "apply" else f"delete {each.name}"
            for each in self.records
            if each.operation in ("apply", "delete")
        ]


def made(
    kind: str, name: str, *, generation: int, api_version: str = "v1", status: Any = None, **metadata: Any
) -> Object:
    """An object as an earlier run of generation `generation` left it."""
    found: Object = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": name,
            "labels": {"hyperfleet.io/managed-by": "tests", **metadata.pop("labels", {})},
            "annotations": {
                "hyperfleet.io/generation": str(generation),
                "hyperfleet.io/event": '{"id":"c1","kind":"Cluster"}',
                **metadata.pop("annotations", {}),
            },
            **metadata,
        },
    }
    return found if status is None else {**found, "status": status}


RESOURCE_PARAMS = (param("generation", EventSource(("generation",))), param("id", EventSource(("id",))))


def stage(*resources: Any, **more: Any) -> Stage:
    """A stage for resources that are named after the event's id and stamped with its generation."""
    return Stage(adapter(params=RESOURCE_PARAMS, resources=resources, **reporting()), **more)


def operations(result: RunResult) -> list[str]:
    return [each.operation.value if each.operation else "failed" for each in result.resources]


def replace_transports(play: Stage, **transports: Any) -> Ports:
    return replace(play.ports, transports=transports)
