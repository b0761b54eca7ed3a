"""What happens in the lab, as lines of the timeline: events, Jobs, works, HostedClusters, conditions, statuses.

It only looks; nothing waits for it. A fact is shown once.
"""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import takewhile
from types import TracebackType
from typing import Any, Self, TypeVar

from lab.demo.timeline import Timeline
from lab.kubernetes.storage.store import Change
from lab.system import LabSystem
from lab.system.regional import NAMESPACE

_LOOK_SECONDS = 0.05
_OURS = ("Applied", "Available", "Health", "Finalized")

_Entry = TypeVar("_Entry")

Fact = tuple[str, str, str]
"""What it is about (a fact about the same thing replaces the one before), who did it, and what."""


class Observer:
    """Shows every new fact while it is open."""

    def __init__(self, system: LabSystem, timeline: Timeline) -> None:
        self._system, self._timeline = system, timeline
        self._known: dict[str, str] = {}
        # What happened before this scenario is not shown again.
        self._journal_end = _last(system.api.journal.entries)
        self._event_ends = [_last(each.events) for each in system.sentinels]

    async def __aenter__(self) -> Self:
        # Jobs and pods come and go quickly; their changes are listened to, the rest is looked at.
        self._system.kubernetes.store.listen(self._on_change)
        self._task = asyncio.create_task(self._run(), name="observer")
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        self._system.kubernetes.store.ignore(self._on_change)
        self.look()

    async def _run(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(_LOOK_SECONDS)

    def look(self) -> None:
        for fact in self._facts():
            self._show(fact)

    def _on_change(self, change: Change) -> None:
        facts = {"jobs": _job_facts, "pods": _pod_facts}.get(change.key.plural)
        if facts and change.key.namespace == NAMESPACE and change.after:
            for fact in facts(change.after):
                self._show(fact)

    def _show(self, fact: Fact) -> None:
        about, who, what = fact
        if self._known.get(about) != what:
            self._known[about] = what
            self._timeline.event(who, what)

    def _facts(self) -> Iterator[Fact]:
        yield from self._events()
        yield from self._works()
        yield from self._hosted_clusters()
        yield from self._statuses()

    def _events(self) -> Iterator[Fact]:
        for number, sentinel in enumerate(self._system.sentinels):
            fresh = entries_after(sentinel.events, self._event_ends[number])
            self._event_ends[number] = _last(sentinel.events)
            for event in fresh:
                data = json.loads(event.body)["data"]
                what = f"{data['kind']} {_short(data['id'])} at generation {data['generation']} wants attention"
                yield f"event/{data['id']}/{data['generation']}", "Sentinel", what

    def _works(self) -> Iterator[Fact]:
        for held in list(self._system.agent.held.values()):
            objects = [f"{each['kind']} {each['metadata']['name']}" for each in held.bundle.get("manifests") or ()]
            if not objects:
                continue
            state = "is being deleted" if held.deleting else f"is there, version {held.version}"
            yield f"work/{held.uid}", "Maestro", f"the work with {', '.join(objects)} {state}"

    def _hosted_clusters(self) -> Iterator[Fact]:
        for (_, name), cluster in list(self._system.hypershift.clusters.items()):
            conditions = {each["type"]: each for each in cluster["status"].get("conditions") or ()}
            available = conditions.get("Available")
            if available:
                reason = available.get("reason", "")
                yield f"hc/{name}", "HyperShift", f"HostedCluster {name}: Available={available['status']} {reason}"
            history = (cluster["status"].get("controlPlaneVersion") or {}).get("history") or []
            if history:
                yield (
                    f"hcv/{name}",
                    "HyperShift",
                    f"HostedCluster {name}: {history[0]['version']} {history[0]['state']}",
                )

    def _statuses(self) -> Iterator[Fact]:
        entries = self._system.api.journal.entries
        fresh, self._journal_end = entries_after(entries, self._journal_end), _last(entries)
        for seen in fresh:
            if seen.method != "PUT" or not seen.path.endswith("/statuses") or not seen.body:
                continue
            status: dict[str, Any] = seen.json
            if status["adapter"] not in {"controlplane", "nodepool"}:
                continue
            shown = " ".join(f"{each['type']}={each['status']}" for each in status["conditions"])
            available: dict[str, Any] = next((each for each in status["conditions"] if each["type"] == "Available"), {})
            what = (
                f"{status['adapter']} generation {status['observed_generation']}: {shown} ({available.get('reason')})"
            )
            yield f"status/{seen.path}", "HyperFleet API", what


def _last(entries: "deque[_Entry]") -> "_Entry | None":
    return entries[-1] if entries else None


def entries_after(entries: "deque[_Entry]", last: "_Entry | None") -> list[_Entry]:
    """What came after the entry that was last before; all where that one is no longer remembered."""
    fresh = list(takewhile(lambda each: each is not last, reversed(entries)))
    return fresh[::-1]


def _job_facts(job: Mapping[str, Any]) -> Iterator[Fact]:
    name, uid = job["metadata"]["name"], job["metadata"]["uid"]
    yield f"job/{uid}", "dispatcher", f"Job {_short_name(name)} is created"
    for condition in job.get("status", {}).get("conditions") or ():
        if condition["type"] in _OURS:
            text = f"{condition['type']}={condition['status']} {condition.get('reason', '')}"
            yield f"job/{name}/{condition['type']}", "status reporter", f"Job {_short_name(name)}: {text}"


def _pod_facts(pod: Mapping[str, Any]) -> Iterator[Fact]:
    """Containers that cannot start or failed, with the kubelet's reason."""
    name = pod["metadata"]["name"]
    for container in pod.get("status", {}).get("containerStatuses") or ():
        waiting, ended = container["state"].get("waiting", {}), container["state"].get("terminated", {})
        where, about = f"{container['name']} of {_short_name(name)}", f"pod/{name}/{container['name']}"
        if waiting.get("message"):
            yield f"{about}/{waiting['reason']}", "kubelet", f"{where}: {waiting['reason']} {waiting['message']}"
        elif ended.get("exitCode"):
            yield about, "kubelet", f"{where}: exit code {ended['exitCode']}, {ended['reason']}"


def _short(identifier: str) -> str:
    return f"…{identifier[-6:]}"


def _short_name(name: str) -> str:
    """Names with a UUID in them, short enough for a line."""
    parts = name.split("-")
    return name if len(name) < 40 else "-".join([parts[0], f"…{name[-11:]}"])  # noqa: PLR2004 - a line's width
