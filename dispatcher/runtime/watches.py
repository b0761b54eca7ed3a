"""Which watches an adapter needs: one per kind on Kubernetes, one for all its works on Maestro."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dispatcher.config.compiled import Adapter, Resource
from dispatcher.engine.ports import Object
from dispatcher.engine.resources.stamping import MANAGED_BY, managed_by
from dispatcher.engine.runs import AwaitedDeletion, ObjectKey
from dispatcher.runtime.leading import Work
from dispatcher.runtime.watching.awaiting import AwaitedDeletions
from dispatcher.runtime.watching.expiring import Expiring
from dispatcher.runtime.watching.last_seen import LastSeen
from dispatcher.runtime.watching.objects import ObjectWatch, Wakes
from dispatcher.runtime.watching.owners import Owners
from dispatcher.runtime.watching.works import WorkWatch
from shared.kubernetes import KubernetesClient, Selection, Watch
from shared.maestro import MaestroClient


@dataclass(frozen=True, slots=True)
class WatchedKind:
    """`namespace` is "" where the objects may be in any."""

    api_version: str
    kind: str
    namespace: str
    owners: Owners


class Watches:
    def __init__(self, adapter: Adapter) -> None:
        self._label = (MANAGED_BY, managed_by(adapter.name))
        self.kinds = watched_kinds(adapter)
        maestro = [resource for resource in adapter.resources if resource.transport == "maestro"]
        self.works = Owners(maestro) if maestro else None
        self._last_seen = LastSeen(adapter.resources)

    def follows(self, deletion: AwaitedDeletion) -> bool:
        """Whether a watch would see it."""
        if deletion.consumer:
            return self.works is not None
        return any((kind.api_version, kind.kind) == (deletion.api_version, deletion.kind) for kind in self.kinds)

    def learn(self, discovered: Mapping[str, Object]) -> None:
        """What a run has found, for kinds that several resources share."""
        for owners in (*(kind.owners for kind in self.kinds), *([self.works] if self.works else ())):
            owners.learn(discovered)

    def last_seen(self, key: ObjectKey) -> Mapping[str, Object]:
        """How watched objects of this HyperFleet object were that are gone, by resource."""
        return self._last_seen.of(key)

    def start(
        self,
        wakes: Wakes,
        awaited: AwaitedDeletions,
        *,
        kubernetes: KubernetesClient | None,
        maestro: MaestroClient | None,
    ) -> Iterable[Work]:
        """What the leading process runs. Each call of a work begins to watch anew."""
        if kubernetes is not None:
            for kind in self.kinds:
                yield self._of_kind(kind, kubernetes, wakes, awaited)
        if maestro is not None and self.works is not None:
            yield self._of_works(self.works, maestro, wakes, awaited)

    def _of_kind(self, kind: WatchedKind, client: KubernetesClient, wakes: Wakes, awaited: AwaitedDeletions) -> Work:
        selection = Selection(
            api_version=kind.api_version, kind=kind.kind, namespace=kind.namespace, labels="=".join(self._label)
        )
        expiring = Expiring(kind.owners)

        async def work() -> None:
            watch = ObjectWatch(kind.owners, wakes, awaited, expiring, self._last_seen)
            await watch.run(Watch(client, selection))

        return work

    def _of_works(self, owners: Owners, client: MaestroClient, wakes: Wakes, awaited: AwaitedDeletions) -> Work:
        async def work() -> None:
            await WorkWatch(client, owners, wakes, awaited, label=self._label).run()

        return work


def watched_kinds(adapter: Adapter) -> tuple[WatchedKind, ...]:
    """Every kind of which a resource is watched, with all resources of that kind."""
    groups: dict[tuple[str, str], list[Resource]] = {}
    for resource in adapter.resources:
        if resource.transport == "kubernetes":
            groups.setdefault((resource.manifest.api_version, resource.manifest.kind), []).append(resource)
    return tuple(
        WatchedKind(api_version, kind, _namespace_of(resources), Owners(resources))
        for (api_version, kind), resources in groups.items()
        if any(resource.watch or resource.repoll for resource in resources)
    )


def _namespace_of(resources: Iterable[Resource]) -> str:
    """The namespace that all of them name in plain text; the right to list there is then enough."""
    plain = {_plain_namespace(resource) for resource in resources}
    return plain.pop() if len(plain) == 1 else ""


def _plain_namespace(resource: Resource) -> str:
    template = resource.discovery.namespace
    if template is None or template.compiled is not None or template.source == "*":
        return ""
    return template.source
