"""Where a resource is looked for, and which of several objects is the one."""

from collections.abc import Iterable
from dataclasses import dataclass

from dispatcher.config.compiled import Discovery, Resource
from dispatcher.engine.ports import Object, Query, Transport
from dispatcher.engine.resources.stamping import generation_of, kin_labels, name_of, namespace_of, stamped_event
from dispatcher.engine.running import Run
from shared.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class Target:
    """Where one resource lives in this run: its transport, its consumer (for Maestro) and how it is found."""

    transport: Transport
    consumer: str
    query: Query


@dataclass(frozen=True, slots=True)
class Selection:
    """A rendered discovery. `namespace` is None where the author named none."""

    namespace: str | None
    name: str
    labels: dict[str, str]


def select(run: Run, discovery: Discovery) -> Selection:
    return Selection(
        namespace=None if discovery.namespace is None else run.render(discovery.namespace),
        name="" if discovery.by_name is None else run.render(discovery.by_name),
        labels={run.render(key): run.render(value) for key, value in discovery.by_labels},
    )


def locate(run: Run, resource: Resource, manifest: Object | None) -> Target:
    """`manifest`, where it is known, names the namespace that the discovery leaves out."""
    transport = run.ports.transports.get(resource.transport)
    if transport is None:
        raise Misconfigured(
            f"there is no {resource.transport} transport",
            remedy=f"configure clients.{resource.transport}, or correct the resource's transport.client",
        )
    consumer = "" if resource.target_cluster is None else run.render(resource.target_cluster)
    selection = select(run, resource.discovery)
    namespace = selection.namespace
    if namespace is None:
        namespace = namespace_of(manifest) if manifest is not None and not consumer else ""
    return Target(
        transport,
        consumer,
        Query(
            api_version=resource.manifest.api_version,
            kind=resource.manifest.kind,
            consumer=consumer,
            namespace=namespace,
            name=selection.name,
            labels=selection.labels,
        ),
    )


async def find(target: Target) -> Object | None:
    found = await target.transport.find(target.query)
    return found[0] if len(found) == 1 else newest(found)


def newest(found: Iterable[Object]) -> Object | None:
    """Of several the highest generation, and of these the first by name."""
    return min(found, key=lambda each: (-generation_of(each), name_of(each)), default=None)


async def find_kin(run: Run, target: Target, manifest: Object) -> tuple[Object, ...]:
    """All generations of the manifest's object. Objects of another HyperFleet object are never among them."""
    labels = kin_labels(manifest)
    query = Query(
        api_version=target.query.api_version,
        kind=target.query.kind,
        consumer=target.consumer,
        namespace=target.query.namespace if target.consumer else namespace_of(manifest),
        labels=labels,
    )
    identity = run.request.event.data.get("id")
    return tuple(each for each in await target.transport.find(query) if _belongs(each, identity))


def _belongs(found: Object, identity: object) -> bool:
    event = stamped_event(found)
    return event["id"] == identity if event else identity in kin_labels(found).values()
