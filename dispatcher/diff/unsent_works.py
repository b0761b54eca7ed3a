"""Works of Maestro, read only: each write is checked and compared here, and answered with what would be stored."""

from dataclasses import replace
from typing import Literal

from dispatcher.engine.ports import Object
from dispatcher.transports.maestro import MaestroTransport
from dispatcher.transports.work_objects import desired_update, object_of, work_of
from shared import times
from shared.maestro import MaestroClient
from shared.model.manifestwork import ManifestWork


class UnsentWorks(MaestroTransport):
    def __init__(self, client: MaestroClient) -> None:
        super().__init__(client)
        self._consumers: set[str] = set()

    async def create(self, manifest: Object, *, consumer: str = "") -> Object:
        work = work_of(manifest, consumer)
        if consumer not in self._consumers:
            await self._client.consumers.get(consumer)
            self._consumers.add(consumer)
        return object_of(await self._client.works(consumer).claim_new(work))

    async def update(self, manifest: Object, observed: Object, *, consumer: str = "") -> Object:
        stored = ManifestWork.from_kubernetes(observed)
        claimed = self._client.works(consumer).claim_update(stored, desired_update(stored, work_of(manifest, consumer)))
        return object_of(replace(claimed, uid=stored.uid, created_at=stored.created_at, status=stored.status))

    async def delete(
        self,
        observed: Object,
        *,
        policy: Literal["Background", "Foreground", "Orphan"],  # noqa: ARG002 - the work's deleteOption says it
        consumer: str = "",  # noqa: ARG002 - the port's
    ) -> Object | None:
        """The work with a deletion time: its agent has to confirm."""
        leaving = {**observed["metadata"], "deletionTimestamp": times.to_seconds(times.now())}
        return {**observed, "metadata": leaving}
