"""Resources on management clusters: the ManifestWorks of Maestro's consumers.

Deletions take effect when the agent of the management cluster confirms them; until then the work is there, with a
deletion time. The deletion policy is the work's own (`spec.deleteOption`). The Maestro client tries again what is
transient, within its own budget.
"""

from contextlib import aclosing
from typing import Literal

from dispatcher.engine.ports import Object, Query
from dispatcher.engine.resources.nested import find_nested
from dispatcher.engine.resources.observing import Selection
from dispatcher.transports.work_objects import desired_update, object_of, work_of
from shared.errors import DeadlineExceeded, NotFound
from shared.maestro import MaestroClient, differences
from shared.model.manifestwork import API_VERSION, KIND, ManifestWork

_ANY_NAMESPACE = ("", "*")


class MaestroTransport:
    def __init__(self, client: MaestroClient) -> None:
        self._client = client

    async def find(self, query: Query) -> list[Object]:
        """Works by name or labels; objects of other kinds are searched for inside all works of the consumer."""
        if (query.api_version.partition("/")[0], query.kind) != (API_VERSION.partition("/")[0], KIND):
            return await self._find_inside(query)
        if query.namespace not in (*_ANY_NAMESPACE, query.consumer):
            return []
        works = self._client.works(query.consumer)
        if not query.name:
            return [object_of(work) for work in await works.list(query.labels)]
        try:
            return [object_of(await works.get(query.name))]
        except NotFound:
            return []

    async def create(self, manifest: Object, *, consumer: str = "") -> Object:
        """Raises AlreadyExists, Deleting, NotOwned, UnknownConsumer, or Invalid where a generation is missing."""
        return object_of(await self._client.works(consumer).create(work_of(manifest, consumer)))

    async def update(self, manifest: Object, observed: Object, *, consumer: str = "") -> Object:
        stored = ManifestWork.from_kubernetes(observed)
        wanted = desired_update(stored, work_of(manifest, consumer))
        return object_of(await self._client.works(consumer).update(stored, wanted))

    async def delete(
        self,
        observed: Object,
        *,
        policy: Literal["Background", "Foreground", "Orphan"],  # noqa: ARG002 - the work's deleteOption says it
        consumer: str = "",
    ) -> Object | None:
        """The work with its deletion time, until the agent has confirmed that its objects are gone."""
        works, stored = self._client.works(consumer), ManifestWork.from_kubernetes(observed)
        try:
            await works.request_deletion(stored)
            return object_of(await works.get(stored.name))
        except NotFound:
            return None

    async def wait_gone(self, observed: Object, *, timeout: float, consumer: str = "") -> bool:
        try:
            await self._client.works(consumer).wait_gone(ManifestWork.from_kubernetes(observed).name, timeout=timeout)
        except DeadlineExceeded:
            return False
        return True

    async def differs(self, manifest: Object, observed: Object, *, consumer: str = "") -> bool:
        """The executor is not compared, because Maestro does not show it."""
        stored = ManifestWork.from_kubernetes(observed)
        return bool(differences(stored, desired_update(stored, work_of(manifest, consumer))))

    async def _find_inside(self, query: Query) -> list[Object]:
        selection = Selection(namespace=query.namespace, name=query.name, labels=dict(query.labels))
        found: list[Object] = []
        async with aclosing(self._client.works(query.consumer).scan()) as works:
            async for work in works:
                document = object_of(work)
                for manifest in document["spec"]["workload"]["manifests"]:
                    if _group_kind(manifest) == _group_kind({"apiVersion": query.api_version, "kind": query.kind}):
                        alone = {**document, "spec": {"workload": {"manifests": [manifest]}}}
                        nested = find_nested(alone, selection)
                        found += [] if nested is None else [nested]
        return found


def _group_kind(document: Object) -> tuple[str, str]:
    group, _, _ = str(document.get("apiVersion") or "").rpartition("/")
    return group, str(document.get("kind") or "")
