"""Writing a work by gRPC: each write once, also where the response to it was lost."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shared import times
from shared.errors import AlreadyExists, Conflict, Transient
from shared.maestro.config.settings import MaestroSettings
from shared.maestro.wire.bundles import differences
from shared.maestro.works.reading import WorkReader
from shared.model.manifestwork import ManifestWork

if TYPE_CHECKING:  # whoever only reads does not load gRPC
    from collections.abc import Callable

    from shared.maestro.grpc.channel import GrpcChannel


@dataclass(frozen=True, slots=True)
class Publisher:
    """`channel` opens the gRPC channel when it is first called."""

    settings: MaestroSettings
    reader: WorkReader
    channel: "Callable[[], GrpcChannel]"

    async def create(self, work: ManifestWork) -> ManifestWork:
        await self._publish("create", replace(work, generation=0, created_at=None))
        return replace(work, generation=1, created_at=times.now())

    async def update(self, stored: ManifestWork, wanted: ManifestWork) -> ManifestWork:
        """Replace the stored work's content. Raises Conflict where somebody else wrote since it was read."""
        update = replace(
            wanted,
            uid=stored.uid,
            generation=wanted.generation or stored.generation,
            created_at=stored.created_at,
            other_metadata={**stored.other_metadata, **wanted.other_metadata},
        )
        await self._publish("update", update)
        return replace(update, generation=update.generation + 1, status=stored.status)

    async def delete(self, stored: ManifestWork) -> None:
        await self._publish("delete", replace(stored, deleted_at=stored.deleted_at or times.now()))

    async def _publish(self, action: str, work: ManifestWork) -> None:
        """Send, and recognise an own write: after a lost response, a refusal may mean that the write had succeeded."""
        from shared.maestro.wire.codec import spec_request  # noqa: PLC0415 - as above

        what = f"{action} work {work.name!r} on {work.consumer}"
        envelope = spec_request(action, work, source=self.settings.source_id, at=times.now())
        unanswered = False

        async def once() -> None:
            nonlocal unanswered
            try:
                await self.channel().publish(envelope, what)
            except (AlreadyExists, Conflict):
                if not unanswered or not await self._is_stored(work):
                    raise
            except Transient:
                unanswered = True
                raise

        await self.settings.retry.run(what, once)

    async def _is_stored(self, sent: ManifestWork) -> bool:
        stored = await self.reader.find(sent.name)
        return stored is not None and stored.generation == sent.generation + 1 and not differences(stored, sent)
