"""A case of the corpus on servers: its state is set up there, its events run, and what controllers do is done by hand.

The HyperFleet API answers from the case's mocks. Each case has an id of its own, so that cases on one server do not meet.
An object of `discovery.json` that carries a generation is there from the start, with its status; its spec is that of the
manifest in the expected trace. Where no controller runs, the stage removes finalizers between events, and an agent of
the management cluster confirms deletions.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from dispatcher.config.compiled import Adapter
from dispatcher.config.loading import load
from dispatcher.dryrun.addresses import resolve_url
from dispatcher.dryrun.api import MockApi
from dispatcher.dryrun.cases import Case
from dispatcher.dryrun.merging import merged
from dispatcher.dryrun.reading import read_events, read_responses, read_secrets
from dispatcher.dryrun.rehearsing import StoppedClock
from dispatcher.dryrun.secrets import MockSecrets
from dispatcher.engine.engine import Engine
from dispatcher.engine.ports import ApiRequest, ApiResponse, Object, Ports
from dispatcher.engine.resources.stamping import event_annotation, generation_of, managed_by, name_of, stamp
from dispatcher.engine.runs import AwaitedDeletion, RunRequest, RunResult
from dispatcher.transports import KubernetesTransport, MaestroTransport
from dispatcher.transports.work_objects import work_of
from lab.maestro.agent import Agent
from lab.maestro.agent.agent_status import AgentStatus, Script
from shared import times
from shared.errors import AlreadyExists, NotFound, Transient
from shared.kubernetes import KubernetesClient, ObjectRef, PatchType, Selection
from shared.maestro import MaestroClient
from shared.model.conditions import readable
from tests.support.kubernetes import eventually, unique

IDS = ("abc123", "01a1e1b5-b1dd-7455-8ad4-45d9597dff66")
CONSUMERS = ("cluster1", "cluster2", "mc-1", "us-east-mgmt-01")
SOON = 240.0
_NEVER_APPLIES = Script(apply_after=3600.0)
_ANY_WORK: Object = {
    "spec": {
        "workload": {
            "manifests": [
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "any", "namespace": "default"}}
            ]
        }
    }
}
_DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "databases.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "databases", "singular": "database", "kind": "Database", "listKind": "DatabaseList"},
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        ],
    },
}


@dataclass(frozen=True)
class Played:
    """One event's run, and what it asked of the API."""

    result: RunResult
    requests: tuple[tuple[ApiRequest, ApiResponse], ...]


@dataclass(frozen=True)
class Servers:
    kubernetes: KubernetesClient
    maestro: MaestroClient
    agents_address: str


def document(case: Case, name: str, default: Any) -> Any:
    file = case.folder / f"{name}.json"
    return json.loads(file.read_text()) if file.is_file() else default


def expected(case: Case) -> list[dict[str, Any]]:
    traces = document(case, "expected", {})
    return traces if isinstance(traces, list) else [traces]


class Stage:
    def __init__(self, case: Case, servers: Servers) -> None:
        self._case = case
        self._kubernetes, self._maestro, self._agents = servers.kubernetes, servers.maestro, servers.agents_address
        self._id = unique("corpus")
        self._age = timedelta()
        """How old the oldest object of the case is when its event comes."""

    async def play(self) -> list[Played]:
        environment = document(self._case, "environment", {})
        adapter = load(self._case.adapter_config, self._case.task_config, environment=environment).adapter
        events = read_events(self._own("event", {}))
        await self._set_up(adapter, event_annotation(events[0].event.data))
        clock = StoppedClock(times.now() + self._age)
        api = MockApi(
            read_responses(self._own("api-responses", {"responses": []})),
            lambda url: resolve_url(url, adapter.config),
        )
        engine = Engine(adapter, self._ports(adapter, api, clock, environment))
        played: list[Played] = []
        for timed in events:
            if played:
                await self._let_go(played[-1].result.awaited_deletions)
            if timed.at is not None and not self._age:
                clock.at = timed.at
            result = await engine.run(RunRequest(event=timed.event))
            played.append(Played(result, tuple(api.requests)))
            api.requests.clear()
        return played

    def _ports(self, adapter: Adapter, api: MockApi, clock: StoppedClock, environment: dict[str, str]) -> Ports:
        return Ports(
            api=api,
            transports={
                "kubernetes": KubernetesTransport(self._kubernetes, manager=adapter.name),
                "maestro": MaestroTransport(self._maestro),
            },
            secrets=MockSecrets(read_secrets(document(self._case, "secrets", {}))),
            clock=clock,
            environment=environment,
        )

    def _own(self, name: str, default: Any) -> Any:
        text = json.dumps(document(self._case, name, default))
        for each in IDS:
            text = text.replace(each, self._id)
        return json.loads(text)

    async def _set_up(self, adapter: Adapter, annotation: str) -> None:
        steps = list(self._steps())
        if any(step["kind"] == "Database" for step in steps):
            await self._define()
        for namespace in sorted(set(self._namespaces(steps))):
            await self._create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        for consumer in CONSUMERS:
            await self._maestro.consumers.ensure(consumer)
        for name, override in self._own("discovery", {}).items():
            if not generation_of(override) and not any(step["operation"] == "delete" for step in steps):
                continue
            found = merged(self._manifest(override, steps), merged(override, {"metadata": {"name": name}}))
            stamp(found, label=managed_by(adapter.name), annotation=annotation)
            await (self._set_up_work(found) if found["kind"] == "ManifestWork" else self._set_up_object(found))

    def _steps(self) -> Iterator[dict[str, Any]]:
        traces = self._own("expected", [])
        for trace in traces if isinstance(traces, list) else [traces]:
            yield from trace.get("resources", ())

    def _manifest(self, override: Object, steps: Iterable[dict[str, Any]]) -> Object:
        """The spec that an adapter has given to an object of this kind; of the rest, what the override says counts."""
        alike = [step["manifest"] for step in steps if step["kind"] == override["kind"] and "manifest" in step]
        named = [each for each in alike if name_of(each) == name_of(override)]
        found = (named or alike or [_ANY_WORK if override["kind"] == "ManifestWork" else {}])[0]
        namespace = found.get("metadata", {}).get("namespace")
        metadata = {"metadata": {"namespace": namespace}} if namespace else {}
        return {key: value for key, value in found.items() if key not in ("metadata", "status")} | metadata

    def _namespaces(self, steps: list[dict[str, Any]]) -> Iterator[str]:
        """Those that the case takes for granted."""
        overrides = self._own("discovery", {}).values()
        made = {step.get("resourceName") for step in steps if step["kind"] == "Namespace"}
        asked = {step.get("namespace") for step in steps if step["kind"] != "ManifestWork"}
        there = {each.get("metadata", {}).get("namespace") for each in overrides if each["kind"] != "ManifestWork"}
        there -= {name for name, each in self._own("discovery", {}).items() if each["kind"] == "Namespace"}
        yield from filter(None, (asked - made) | there)

    async def _define(self) -> None:
        await self._create(_DEFINITION)

        async def served() -> bool:
            with suppress(NotFound, Transient):  # 429 while its storage is made ready
                await self._kubernetes.list(Selection(api_version="example.com/v1alpha1", kind="Database"))
                return True
            return False

        await eventually(served)

    async def _create(self, found: Object) -> Object:
        with suppress(AlreadyExists):
            return await self._kubernetes.create(found)
        return await self._kubernetes.get(ObjectRef.of(found))

    async def _set_up_object(self, found: Object) -> None:
        made_at = found["metadata"].pop("creationTimestamp", None)
        if made_at is not None:
            first = read_events(self._own("event", {}))[0].at
            assert first is not None, "a case whose objects have an age has events with a time"
            self._age = max(self._age, first - times.parse(made_at))
        status = found.pop("status", None)
        await self._create(found)
        if status and found["kind"] != "Namespace":
            body = {"status": _complete(found["kind"], status)}
            await self._kubernetes.patch(ObjectRef.of(found), body, type_=PatchType.MERGE, subresource="status")

    async def _set_up_work(self, found: Object) -> None:
        consumer, status = found["metadata"].get("namespace") or CONSUMERS[0], found.pop("status", None)
        for manifest in found["spec"]["workload"]["manifests"]:
            annotations = manifest["metadata"].setdefault("annotations", {})
            annotations.setdefault("hyperfleet.io/generation", "1")
        work = work_of(merged({"metadata": {"annotations": {"hyperfleet.io/generation": "1"}}}, found), consumer)
        works = self._maestro.works(consumer)
        await works.create(work)
        if status:
            async with Agent(self._agents, consumer, _NEVER_APPLIES) as agent:
                uid = works.id_of(work.name)
                while uid not in agent.held:
                    agent.works_changed.clear()
                    await agent.works_changed.wait()
                dated = [{"lastTransitionTime": "2026-01-01T00:00:00Z", **each} for each in status["conditions"]]
                conditions = readable(dated)
                manifests = tuple(status.get("resourceStatus", {}).get("manifests", ()))
                await agent.report(uid, AgentStatus(conditions=conditions, manifests=manifests))
                await works.wait_until(
                    work.name, lambda each: each is not None and bool(each.status.conditions), timeout=SOON
                )

    async def _let_go(self, deletions: Iterable[AwaitedDeletion]) -> None:
        """The part of controllers and agents: what was asked to go is gone."""
        for each in deletions:
            if each.consumer:
                async with Agent(self._agents, each.consumer):
                    await self._maestro.works(each.consumer).wait_gone(each.name, timeout=SOON)
                continue
            ref = ObjectRef(api_version=each.api_version, kind=each.kind, namespace=each.namespace, name=each.name)
            with suppress(NotFound):
                await self._kubernetes.patch(ref, {"metadata": {"finalizers": None}}, type_=PatchType.MERGE)
                if each.kind == "Namespace":
                    left = await self._kubernetes.get(ref)
                    await self._kubernetes.replace({**left, "spec": {"finalizers": []}}, subresource="finalize")


def _complete(kind: str, status: Object) -> Object:
    """A finished Job's status has more than its condition, or the API server refuses it."""
    if kind != "Job":
        return status
    times_ = {"startTime": "2026-01-01T00:00:00Z"}
    conditions = [{"lastTransitionTime": "2026-01-01T00:00:01Z", **each} for each in status.get("conditions", ())]
    before = {"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}
    for each in list(conditions):
        if each["type"] in before:
            conditions.insert(0, {**each, "type": before[each["type"]]})
        if each["type"] == "Complete":
            times_["completionTime"] = "2026-01-01T00:00:01Z"
    return {**times_, **status, **({"conditions": conditions} if conditions else {})}
