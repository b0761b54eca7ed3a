"""One HyperFleet object under the task config: a run of the engine, and what it would have written.

The engine leaves an object alone whose generation is current, unless the resource repairs drift. What the config would
make of such an object at its next generation is part of the answer, and says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dispatcher.config.compiled import Adapter, Resource
from dispatcher.diff.documents import fields_of
from dispatcher.diff.preview import Action, Change, PreviewTransport
from dispatcher.diff.statuses import StatusChange, status_change
from dispatcher.diff.unsent_calls import UnsentCalls
from dispatcher.engine.engine import Engine
from dispatcher.engine.ports import ApiRequest, Object, Ports
from dispatcher.engine.post.statuses import status_in
from dispatcher.engine.resources.stamping import generation_of, keep_stamp, namespace_of
from dispatcher.engine.runs import Event, Operation, ResourceRecord, RunRequest, RunResult, Status
from shared.errors import Permanent

NEXT_GENERATION = "at its next generation"
AFTER_DELETION = "once the former one is gone"

_IDENTIFYING = ("id", "kind", "href", "generation", "owner_references")


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectDiff:
    """`document` is the object as the API has it; `calls` would be sent beside statuses."""

    document: Mapping[str, Any]
    result: RunResult
    changes: tuple[Change, ...]
    statuses: tuple[StatusChange, ...]
    calls: tuple[ApiRequest, ...]

    @property
    def failed(self) -> bool:
        return self.result.status is Status.FAILED

    @property
    def differs(self) -> bool:
        return bool(self.changes or self.statuses or self.calls)


def event_of(document: Mapping[str, Any]) -> Event:
    """The event that Sentinel would publish about the object."""
    data = {name: document[name] for name in _IDENTIFYING if document.get(name) is not None}
    return Event(id=f"diff-{document['id']}", type="hyperfleet.diff", source="hyperfleet-adapter diff", data=data)


async def diff_object(adapter: Adapter, ports: Ports, document: Mapping[str, Any]) -> ObjectDiff:
    """`ports` read live and answer writes with what would be stored."""
    api = UnsentCalls(ports.api)
    transports = {name: PreviewTransport(transport) for name, transport in ports.transports.items()}
    engine = Engine(adapter, replace(ports, api=api, transports=transports))
    result = await engine.run(RunRequest(event=event_of(document)))
    changes = [change for transport in transports.values() for change in transport.changes]
    changes += await _later_changes(adapter, transports, result)
    statuses, calls = [], []
    for request in api.requests:
        body = status_in(request, {})
        if body is None:
            calls.append(request)
        elif (change := await status_change(api, body)) is not None:
            statuses.append(change)
    return ObjectDiff(
        document=document, result=result, changes=tuple(changes), statuses=tuple(statuses), calls=tuple(calls)
    )


async def _later_changes(
    adapter: Adapter, transports: Mapping[str, PreviewTransport], result: RunResult
) -> list[Change]:
    resources = {resource.name: resource for resource in adapter.resources}
    changes = []
    for record in result.resources:
        resource, found = resources[record.name], result.discovered.get(record.name)
        if record.manifest is None:
            continue
        if record.operation is Operation.WAIT:
            changes.append(_creation(record, resource))
        elif record.operation is Operation.SKIP and found is not None:
            change = await _change_at_next_generation(record.manifest, found, transports[resource.transport], resource)
            changes += [change] if change is not None else []
    return changes


def _creation(record: ResourceRecord, resource: Resource) -> Change:
    manifest = record.manifest
    assert manifest is not None
    consumer = record.namespace if resource.target_cluster is not None else ""
    return Change(action=Action.CREATE, consumer=consumer, before=None, after=manifest, later=AFTER_DELETION)


async def _change_at_next_generation(
    manifest: Object, found: Object, transport: PreviewTransport, resource: Resource
) -> Change | None:
    """A server may refuse the change, of a Job's template for example: then the fields of the manifest are compared."""
    if generation_of(manifest) != generation_of(found):
        return None
    consumer = namespace_of(found) if resource.target_cluster is not None else ""
    keep_stamp(manifest, found)
    try:
        if not await transport.differs(manifest, found, consumer=consumer):
            return None
        before, after = found, await transport.update(manifest, found, consumer=consumer)
    except Permanent:
        before, after = fields_of(found, manifest), manifest
    return Change(action=Action.CHANGE, consumer=consumer, before=before, after=after, later=NEXT_GENERATION)
