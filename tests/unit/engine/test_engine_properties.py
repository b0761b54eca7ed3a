"""Random valid configurations, events and answers: the engine never raises, and keeps its promises.

A normal run tries two thousand; `SOAK=1` many more.
"""

import json
import logging
import os
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import structlog
import yaml

from dispatcher.config.findings import Severity
from dispatcher.config.loading import inspect
from dispatcher.dryrun.api import MockApi
from dispatcher.dryrun.json_trace import json_trace
from dispatcher.dryrun.reading import MockEndpoint, MockResponse
from dispatcher.dryrun.rehearsing import Rehearsal, StoppedClock
from dispatcher.dryrun.secrets import MockSecrets
from dispatcher.dryrun.text_trace import text_trace
from dispatcher.dryrun.transport import InMemoryTransport, TransportRecord, World
from dispatcher.engine.engine import Engine
from dispatcher.engine.ports import Object, Ports
from dispatcher.engine.runs import Cause, Delivered, Event, Operation, RunRequest, Status

CONFIGURATIONS = 20_000 if os.environ.get("SOAK") else 2_000
PER_SEED = 100
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SECRET = "hush-hush-0815"

KNOWN: tuple[dict[str, Any], ...] = (
    {"name": "id", "source": "event.id"},
    {"name": "generation", "source": "event.generation"},
    {"name": "cluster", "source": {"api_call": {"method": "GET", "url": "/clusters/c1"}}, "default": {"name": "none"}},
    {"name": "region", "source": "env.REGION", "default": "eu"},
    {"name": "n", "source": "configmap.ns.c.k", "type": "int"},
    {"name": "flag", "source": {"expression": "generation > 3"}},
    {"name": "items", "source": {"expression": "[1, 2, 3]"}},
    {"name": "secret", "source": "secret.ns.s.k"},
    {"name": "nowhere", "source": "event.missing"},
)
VARIABLES = tuple(each["name"] for each in KNOWN)
GOOD_EXPRESSIONS = (
    "true",
    "generation > 3",
    "generation",
    'region == "eu"',
    'cluster.?spec.?x.orValue("d")',
    "has(cluster.name)",
    "!has(cluster.deleted_time)",
    "!resources.?three.hasValue()",
    "resources.?one.?status.?phase.orValue('none')",
    "adapter.executionStatus",
    "!adapter.resourcesSkipped",
    "adapter.?executionError.?message.orValue('none')",
    "items.map(i, i * 2)",
    "items.filter(i, i > 1).size() > 0",
    "n + 1",
    "toJson(cluster)",
    "now()",
    "env.HOME",
    "{'a': [1, 2.5, null]}",
    "timestamp(now()) > timestamp('2020-01-01T00:00:00Z')",
    "conditionStatus(cluster.?status.?conditions.orValue([]), 'Ready')",
)
BAD_EXPRESSIONS = (
    "false",
    "null",
    "cluster.spec.nothing",
    "has(cluster.deleted_time)",
    "resources.?one.hasValue()",
    "resources.one.status.phase",
    "nowhere.at.all",
    "1 / 0",
    "[1, 2][7]",
)
GOOD_TEMPLATES = (
    "plain",
    "{{ .id }}",
    "{{ .generation }}",
    "{{ .region | upper }}",
    "{{ .adapter.name }}-{{ .event.id }}",
    '{{ now | date "2006-01-02" }}',
    "{{ if .flag }}yes{{ else }}no{{ end }}",
    "{{ range .items }}{{ . }},{{ end }}",
    "{{ .secret }}",
    "{{ .env.HOME }}",
    '{{ printf "%d" .n }}',
)
BAD_TEMPLATES = ("{{ .nowhere }}", "{{ .cluster.missing }}", "{{ index .items 9 }}")
FIELDS = (
    "cluster.name",
    "cluster.spec.x",
    "{.items[0]}",
    "adapter.skipReason",
    "resources.one.metadata.name",
    "nowhere",
    "items[*]",
    "{.cluster.status.conditions[?(@.type=='Ready')].status}",
)
OPERATORS = (
    "equals",
    "notEquals",
    "in",
    "notIn",
    "contains",
    "greaterThan",
    "lessThan",
    "exists",
    "notExists",
    "greaterThanOrEqual",
    "lessThanOrEqual",
)
VALUES: tuple[Any, ...] = (None, "", "eu", 0, 5, 2.5, True, [], [1, 2], {}, {"a": 1}, "5")
CLUSTER = {
    "id": "c1",
    "name": "one",
    "generation": 5,
    "spec": {"x": 1},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}
BODIES: tuple[Any, ...] = (
    CLUSTER,
    {**CLUSTER, "deleted_time": "2026-01-01T00:00:00Z"},
    {**CLUSTER, "generation": 6},
    {},
    [],
    None,
    "text",
    {"items": [{"adapter": "random", "observed_generation": 5, "last_report_time": "2026-01-02T03:04:06Z"}]},
    {"code": "HYPERFLEET-NTF-000"},
    {"conditions": []},
)
STATUSES = (204, 400, 401, 404, 409, 429, 500, 503)


class Author:
    """Writes a task config at random."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def __call__(self) -> dict[str, Any]:
        task: dict[str, Any] = {"params": [*KNOWN, *self._some(self._param, 2)]}
        task["preconditions"] = self._some(self._precondition, 2)
        task["resources"] = [
            self._resource(name) for name in self._rng.sample(("one", "two", "three"), self._rng.randint(0, 3))
        ]
        payloads = self._some(self._payload, 2)
        task["post"] = {
            "payloads": payloads,
            "post_actions": self._some(lambda number: self._action(number, [each["name"] for each in payloads]), 3),
        }
        return task

    def _some(self, make: Callable[[int], Any], most: int) -> list[Any]:
        return [make(number) for number in range(self._rng.randint(0, most))]

    def _maybe(self, chance: float = 0.3) -> bool:
        return self._rng.random() < chance

    def _mostly(self, good: tuple[Any, ...], bad: tuple[Any, ...]) -> Any:
        """So that most runs get to their end."""
        return self._rng.choice(bad if self._maybe(0.06) else good)

    def _expression(self) -> str:
        return str(self._mostly(GOOD_EXPRESSIONS, BAD_EXPRESSIONS))

    def _template(self) -> str:
        return str(self._mostly(GOOD_TEMPLATES, BAD_TEMPLATES))

    def _call(self, method: str = "") -> dict[str, Any]:
        good = ("/clusters/{{ .id }}", "/clusters/c1", "clusters/c1/statuses", "https://elsewhere/x?y={{ .id }}")
        url = self._mostly(good, ("/{{ .nowhere }}",))
        return {"method": method or self._rng.choice(("GET", "POST", "PUT", "PATCH", "DELETE")), "url": url}

    def _param(self, number: int) -> dict[str, Any]:
        source = self._rng.choice(
            ("event.id", "event.generation", "event.missing", "env.HOME", "env.MISSING", "config.adapter.name", "cluster.name", "generation", "secret.ns.s.k", "configmap.ns.c.k", "secret.ns.none.k",
             {"api_call": self._call("GET")}, {"expression": self._expression()}, {"file": {"path": "/nonexistent/file"}})
        )  # fmt: skip
        param: dict[str, Any] = {"name": self._mostly((f"p{number}",), VARIABLES), "source": source}
        if self._maybe():
            param["type"] = self._rng.choice(("string", "int", "float", "bool", "nonsense"))
        if self._maybe(0.4):
            param["default"] = self._rng.choice(VALUES)
        if self._maybe(0.15) and source != "env.MISSING":
            param["required"] = True
        return param

    def _precondition(self, number: int) -> dict[str, Any]:
        block: dict[str, Any] = {"name": f"check{number}"}
        if self._maybe(0.6):
            block["api_call"] = self._call("GET")
            block["capture"] = [self._capture() for _ in range(self._rng.randint(0, 3))]
        if self._maybe():
            block["log"] = {"message": self._template(), "level": "debug"}
        if self._maybe(0.1):
            block["conditions"] = [self._condition() for _ in range(self._rng.randint(1, 3))]
        if self._maybe(0.4) or not block.keys() & {"api_call", "conditions"}:
            block["expression"] = self._expression()
        return block

    def _capture(self) -> dict[str, Any]:
        kind = self._rng.choice(("field", "expression"))
        capture = {
            "name": f"captured{self._rng.randint(0, 3)}",
            kind: self._expression() if kind == "expression" else self._rng.choice(FIELDS),
        }
        return capture | ({"default": self._rng.choice(VALUES)} if self._maybe() else {})

    def _condition(self) -> dict[str, Any]:
        operator = self._rng.choice(OPERATORS)
        condition: dict[str, Any] = {"field": self._rng.choice(FIELDS), "operator": operator}
        if operator in ("in", "notIn"):
            condition["values"] = [1, "eu"]
        elif operator not in ("exists", "notExists"):
            condition["value"] = self._rng.choice([each for each in VALUES if each is not None])
        return condition

    def _resource(self, name: str) -> dict[str, Any]:
        maestro = self._maybe()
        kind = "ManifestWork" if maestro else self._rng.choice(("ConfigMap", "Job", "Namespace"))
        version = {"ManifestWork": "work.open-cluster-management.io/v1", "Job": "batch/v1"}.get(kind, "v1")
        metadata: dict[str, Any] = {
            "name": self._mostly((name, f"{name}-{{{{ .generation }}}}", "{{ .id }}-x"), BAD_TEMPLATES)
        }
        if self._maybe(0.8):
            metadata["annotations"] = {
                "hyperfleet.io/generation": self._rng.choice(("{{ .generation }}", "5", "x", "7"))
            }
        if self._maybe():
            metadata["labels"] = {"hyperfleet.io/cluster-id": "{{ .id }}"}
        manifest: dict[str, Any] = {
            "apiVersion": version,
            "kind": kind,
            "metadata": metadata,
            "data": {"t": self._template()},
        }
        if maestro:
            manifest["spec"] = {
                "workload": {
                    "manifests": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "inner"}}, "odd"]
                }
            }
        block: dict[str, Any] = {
            "name": name,
            "manifest": yaml.safe_dump(manifest) if self._maybe(0.2) else manifest,
            "discovery": self._discovery(metadata["name"]),
        }
        if maestro:
            block["transport"] = {
                "client": "maestro",
                "maestro": {"target_cluster": self._rng.choice(("mc1", "{{ .region }}"))},
            }
            block["nested_discoveries"] = [
                {"name": self._rng.choice(("inner", "two")), "discovery": self._discovery("inner")}
            ]
        self._lifecycle(block)
        return block

    def _discovery(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = (
            {"by_name": name}
            if self._maybe(0.7)
            else {"by_selectors": {"label_selector": {"hyperfleet.io/cluster-id": "{{ .id }}"}}}
        )
        return found | ({"namespace": self._rng.choice(("*", "ns", "{{ .id }}"))} if self._maybe() else {})

    def _lifecycle(self, block: dict[str, Any]) -> None:
        lifecycle = {}
        if self._maybe():
            lifecycle["create"] = {"when": {"expression": self._expression()}}
        if self._maybe():
            lifecycle["delete"] = {"when": {"expression": self._expression()}}
        if lifecycle:
            block["lifecycle"] = lifecycle
        ours = {"recreate_on_change": True, "supersedes": "lower-generations", "drift": "repair", "watch": True}
        block.update({key: value for key, value in ours.items() if self._maybe(0.2)})

    def _payload(self, number: int) -> dict[str, Any]:
        build = {
            "adapter": "random",
            "conditions": [{"type": "Available", "status": self._value()}],
            "observed_generation": self._value(),
            "deep": {"x": [self._value()], "{{ .generation }}": 1},
        }
        payload: dict[str, Any] = {"name": f"payload{number}", "build": build}
        return payload | ({"when": {"expression": self._expression()}} if self._maybe() else {})

    def _value(self) -> Any:
        kind = self._rng.choice(("expression", "field", "template", "constant"))
        if kind == "template":
            return self._template()
        if kind == "constant":
            return self._rng.choice([each for each in VALUES if each != {}])
        value = {kind: self._expression() if kind == "expression" else self._rng.choice(FIELDS)}
        return value | ({"default": self._rng.choice(VALUES)} if self._maybe() else {})

    def _action(self, number: int, payloads: list[str]) -> dict[str, Any]:
        block: dict[str, Any] = {"name": f"action{number}"}
        if self._maybe(0.85):
            status = {"method": "PUT", "url": "/clusters/{{ .event.id }}/statuses"}
            block["api_call"] = (status if self._maybe(0.7) else self._call()) | {
                "body": f"{{{{ .{self._rng.choice(payloads)} }}}}" if payloads else "{}"
            }
        else:
            block["log"] = {"message": self._template()}
        return block | ({"when": {"expression": self._expression()}} if self._maybe() else {})


class Stage:
    """An engine over ports in memory, with answers at random."""

    def __init__(self, engine_adapter: Any, rng: random.Random) -> None:
        self._rng = rng
        self.api = MockApi([self._endpoint(pattern) for pattern in ("/statuses", "/clusters/", ".")], str)
        self.records: list[TransportRecord] = []
        self.clock = StoppedClock(NOW)
        world = World(
            label="random", annotation='{"id":"c1"}', now=self.clock.now, is_deleting=lambda: True, records=self.records
        )
        existing = {name: self._object(name) for name in ("one", "two", "one-5", "c1-x") if rng.random() < 0.3}
        transports = {
            name: InMemoryTransport(world, existing, asynchronous=name == "maestro")
            for name in ("kubernetes", "maestro")
        }
        self.transports = transports
        secrets = MockSecrets({("Secret", "ns", "s", "k"): SECRET, ("ConfigMap", "ns", "c", "k"): "5"})
        ports = Ports(
            api=self.api, transports=transports, secrets=secrets, clock=self.clock, environment={"HOME": "/home"}
        )
        self.engine = Engine(engine_adapter, ports)

    def _endpoint(self, pattern: str) -> MockEndpoint:
        good = (MockResponse(body=CLUSTER), MockResponse(status=201, body={}))
        responses = [
            self._rng.choice(good)
            if self._rng.random() < 0.8
            else MockResponse(status=self._rng.choice(STATUSES), body=self._rng.choice(BODIES))
            for _ in range(self._rng.randint(1, 3))
        ]
        return MockEndpoint(method="*", pattern=pattern, responses=tuple(responses))

    def _object(self, name: str) -> Object:
        kind, version = self._rng.choice(
            (("ConfigMap", "v1"), ("Job", "batch/v1"), ("ManifestWork", "work.open-cluster-management.io/v1"))
        )
        metadata: Object = {"name": name, "labels": {"hyperfleet.io/cluster-id": "c1"}}
        if self._rng.random() < 0.8:
            metadata["annotations"] = {"hyperfleet.io/generation": self._rng.choice(("4", "5", "6", "x"))}
        if self._rng.random() < 0.3:
            metadata["finalizers"] = ["x/y"]
        return {
            "apiVersion": version,
            "kind": kind,
            "metadata": metadata,
            "status": self._rng.choice(({}, {"conditions": [{"type": "Ready"}]}, {"phase": "Active"})),
        }

    async def run(self, resources: list[str]) -> tuple[RunRequest, Rehearsal]:
        data = {"id": "c1", "kind": "Cluster", "generation": self._rng.choice((4, 5, 5, 5, 6))}
        cause = self._rng.choice(list(Cause))
        delivered: tuple[Delivered, ...] = ()
        if cause is Cause.WATCH and resources and self._rng.random() < 0.7:
            delivered = (Delivered(resource=self._rng.choice(resources), object=self._object("one"), at=NOW),)
        event = Event(id="e", type="t", source="s", data=data)
        request = RunRequest(event=event, cause=cause, delivered=delivered)
        result = await self.engine.run(request)
        rehearsal = Rehearsal(
            event=event, result=result, requests=tuple(self.api.requests), operations=tuple(self.records), unmatched=()
        )
        self.api.requests.clear()
        self.records.clear()
        for transport in self.transports.values():
            transport.settle()
        return request, rehearsal


def keeps_its_promises(request: RunRequest, rehearsal: Rehearsal) -> None:
    result = rehearsal.result
    assert (result.status is Status.FAILED) == bool(result.errors)
    assert result.status is Status.FAILED or not result.transient
    written = {each.operation for each in rehearsal.operations} - {"get", "discover"}
    if request.delivered:
        assert not written
    if not written:
        operations = {each.operation for each in result.resources}
        assert not operations & {Operation.CREATE, Operation.UPDATE, Operation.RECREATE}
    errors = [each.error for each in result.preconditions] + [each.error for each in result.resources]
    assert not any(errors) or result.status is Status.FAILED


def shows_no_secret(rehearsal: Rehearsal) -> None:
    shown = text_trace((rehearsal,), verbose=True) + json.dumps(json_trace(rehearsal, verbose=True))
    assert SECRET not in shown


@pytest.fixture(autouse=True)
def _silence() -> Iterator[None]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.reset_defaults()


@pytest.mark.parametrize("seed", range(CONFIGURATIONS // PER_SEED))
async def test_no_valid_configuration_makes_the_engine_raise(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    adapter_file, task_file = tmp_path / "adapter.yaml", tmp_path / "task.yaml"
    adapter_file.write_text("adapter: {name: random}\n")
    for _ in range(PER_SEED):
        task = Author(rng)()
        task_file.write_text(json.dumps(task))
        inspection = inspect(adapter_file, task_file, environment={"HOME": "/home"}, semantic=False)
        refused = [finding for finding in inspection.findings if finding.severity is Severity.REFUSED]
        assert inspection.loaded is not None, [str(each) for each in refused]
        assert not refused, [str(each) for each in refused]
        stage = Stage(inspection.loaded.adapter, rng)
        resources = [each["name"] for each in task["resources"]]
        for number in range(3):
            request, rehearsal = await stage.run(resources)
            keeps_its_promises(request, rehearsal)
            if number == 0:
                shows_no_secret(rehearsal)
