"""The executor of a stored work: REST finds it but does not show it, the status stream shows it.

Maestro sends the status of a work again when it is asked with a hash that differs, and every status carries the whole
spec. A work that no agent has reported on has no status, and another source's status is not sent to us: there the
executor stays unknown.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from shared import times
from shared.errors import Invalid, Problem
from shared.maestro.config.settings import MaestroSettings
from shared.maestro.works.reading import WorkReader
from shared.model.manifestwork import ManifestWork

if TYPE_CHECKING:  # whoever only reads does not load gRPC
    from shared.maestro.grpc.connection import GrpcConnection

_NO_HASH: Final = "none"


@dataclass(frozen=True, slots=True)
class ExecutorReader:
    """`grpc` connects when it is first called."""

    settings: MaestroSettings
    reader: WorkReader
    grpc: "Callable[[], GrpcConnection]"

    async def to_keep(self, stored: ManifestWork) -> Mapping[str, Any] | None:
        """The executor that an update must repeat; None where there is none. Raises Invalid where it stays unknown."""
        if not await self.reader.has_executor(stored, {}):
            return None
        ours = stored.uid == self.reader.ownership.id_of(stored.name)
        shown = await self._shown(stored) if ours and stored.status.conditions else None
        if shown and await self.reader.has_executor(stored, shown):
            return shown
        raise Invalid(
            f"updating work {stored.name!r} on {stored.consumer} would take its executor away",
            [Problem("spec.executor", "it has one, which Maestro shows only after the agent has reported on the work")],
            remedy="wait for the agent, name the executor in the work, or drop it (drop_executor, --drop-executor)",
        )

    async def _shown(self, stored: ManifestWork) -> Mapping[str, Any] | None:
        """What a status that is sent again shows of it; None where none comes in time."""
        connection, asked = self.grpc(), False
        try:
            async with (
                asyncio.timeout(self.settings.timeout),
                connection.stream.feed(lambda work: work.uid == stored.uid) as feed,
            ):
                while True:
                    batch = await feed.next(None)
                    for work in batch.updates:
                        if work.executor:
                            return work.executor
                    if batch.relist and not asked:
                        asked = True
                        await self._ask_again(stored)
        except TimeoutError:
            return None

    async def _ask_again(self, stored: ManifestWork) -> None:
        from shared.maestro.wire.codec import status_resync_request  # noqa: PLC0415 - as above

        what = f"ask for the status of work {stored.name!r} on {stored.consumer}"
        request = status_resync_request(source=self.settings.source_id, at=times.now(), hashes={stored.uid: _NO_HASH})
        await self.grpc().channel.publish(request, what)
