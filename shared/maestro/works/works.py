"""The works of one management cluster: read by REST, written by events, never another's work overwritten.

`Works` is a small handle; all state is in the client that made it. `ownership` says which works may be written,
`reading`, `publishing` and `waiting` do what their names say. What only writers and watchers need is imported by its
first use.
"""

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shared import times
from shared.errors import AlreadyExists, Conflict, NotFound, Permanent
from shared.maestro.config.settings import MaestroSettings
from shared.maestro.http.rest import Rest
from shared.maestro.wire.bundles import differences
from shared.maestro.works.outcomes import Action, Outcome
from shared.maestro.works.ownership import Ownership
from shared.maestro.works.reading import LabelSelector, WorkReader
from shared.model.manifestwork import ManifestWork

if TYPE_CHECKING:
    from shared.maestro.grpc.connection import GrpcConnection
    from shared.maestro.works.executors import ExecutorReader
    from shared.maestro.works.publishing import Publisher
    from shared.maestro.works.tracking import WorkEvent
    from shared.maestro.works.waiting import Watcher

MAX_REREADS = 5
# Maestro forgets a delete that no agent has taken up; newer servers publish it again when asked, once a minute.
RESEND_DELETE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Works:
    """What this source has on one consumer. All that is written gets `owner_labels`; what lacks them is not ours.

    `grpc` connects when it is first called.
    """

    consumer: str
    owner_labels: Mapping[str, str]
    settings: MaestroSettings
    rest: Rest
    grpc: "Callable[[], GrpcConnection]"

    @property
    def _ownership(self) -> Ownership:
        return Ownership(source_id=self.settings.source_id, consumer=self.consumer, labels=self.owner_labels)

    @property
    def _reader(self) -> WorkReader:
        return WorkReader(self.rest, self._ownership)

    @property
    def _executors(self) -> "ExecutorReader":
        from shared.maestro.works.executors import ExecutorReader  # noqa: PLC0415 - see the module

        return ExecutorReader(self.settings, self._reader, self.grpc)

    @property
    def _publisher(self) -> "Publisher":
        from shared.maestro.works.publishing import Publisher  # noqa: PLC0415 - see the module

        return Publisher(self.settings, self._reader, lambda: self.grpc().channel)

    @property
    def _watcher(self) -> "Watcher":
        from shared.maestro.works.waiting import Watcher  # noqa: PLC0415 - see the module

        return Watcher(self.settings, self._reader, lambda: self.grpc().stream)

    def id_of(self, name: str) -> str:
        return self._ownership.id_of(name)

    async def get(self, name: str) -> ManifestWork:
        """The work with its status. A work that is being deleted is still there, with `deleted_at`."""
        return await self._reader.get(name)

    async def executor_of(self, stored: ManifestWork) -> Mapping[str, Any] | None:
        """The executor that `apply` keeps; None where there is none. Raises Invalid where it stays unknown."""
        return await self._executors.to_keep(stored)

    async def list(self, selector: LabelSelector = None, *, limit: int | None = None) -> list[ManifestWork]:
        works: list[ManifestWork] = []
        async with aclosing(self.scan(selector)) as scanned:
            async for work in scanned:
                if limit is not None and len(works) >= limit:
                    break
                works.append(work)
        return works

    def scan(self, selector: LabelSelector = None) -> AsyncGenerator[ManifestWork, None]:
        """Every work, page by page: as many as there are, with the memory of one page."""
        return self._reader.scan(selector)

    async def create(self, work: ManifestWork, *, searched: bool = False) -> ManifestWork:
        """Send a new work. Raises AlreadyExists, Deleting, NotOwned, Invalid or UnknownConsumer where it cannot be.

        `searched` saves a read where the caller has just found no work of that name, whoever made it.
        """
        claimed = self._ownership.claim(work) if searched else await self.claim_new(work)
        return await self._publisher.create(claimed)

    async def claim_new(self, work: ManifestWork) -> ManifestWork:
        """The work as `create` sends it; raises what `create` raises before it sends."""
        claimed = self._ownership.claim(work)
        other = await self._reader.find_by_name(work.name)
        if other is not None:
            self._ownership.refuse_existing(other)
        return claimed

    async def update(self, stored: ManifestWork, work: ManifestWork) -> ManifestWork:
        """Replace the content of `stored`, which was read, by that of `work`.

        One write and no read: an executor that the stored work has and `work` lacks is removed. Raises Conflict where
        somebody else wrote since it was read, NotFound where it has gone, Deleting or NotOwned.
        """
        return await self._publisher.update(stored, self.claim_update(stored, work))

    def claim_update(self, stored: ManifestWork, work: ManifestWork) -> ManifestWork:
        """The work as `update` sends it; raises what `update` raises before it sends."""
        self._ownership.refuse_foreign(stored)
        self._ownership.refuse_deleting(stored)
        return replace(self._ownership.claim(work), generation=stored.generation)

    async def apply(self, work: ManifestWork, *, adopt: bool = False, drop_executor: bool = False) -> Outcome:
        """Make the work what is wanted: create it, update it, or leave it alone where nothing differs.

        A work that was read carries the generation it was read at: when another has written since, Conflict is raised,
        because the decision was made on an old state. A work without a generation is the whole wanted state: after a
        conflict it is compared and sent again, a bounded number of times.

        `adopt` takes over a work of that name that another source made, or that lacks the owner labels. The stored
        executor is kept where `work` names none, unless `drop_executor`.
        """
        wanted = self._ownership.claim(work)
        conflict: Permanent | None = None
        for _ in range(MAX_REREADS):
            stored = await self._stored(wanted, adopt=adopt)
            try:
                if stored is None:
                    return Outcome(action=Action.CREATED, work=await self._publisher.create(wanted))
                return await self._bring_up(stored, wanted, drop_executor=drop_executor)
            except (AlreadyExists, Conflict) as error:
                if work.generation:
                    raise
                conflict = error
        assert conflict is not None
        raise conflict

    async def delete(self, name: str, *, adopt: bool = False) -> bool:
        """Ask for the work and its objects to go; True if there was one. It is gone when `wait_gone` says so.

        `adopt` deletes a work of that name that another source made, or that lacks the owner labels.
        """
        stored = await self._reader.find(name) or (await self._reader.find_by_name(name) if adopt else None)
        if stored is None:
            return False
        if not adopt:
            self._ownership.refuse_foreign(stored)
        await self._publisher.delete(stored)
        return True

    async def request_deletion(self, stored: ManifestWork) -> bool:
        """Ask for a work that was read to go, unless that was asked less than a minute ago; True where it was sent."""
        self._ownership.refuse_foreign(stored)
        if stored.deleted_at and (times.now() - stored.deleted_at).total_seconds() < RESEND_DELETE_SECONDS:
            return False
        await self._publisher.delete(stored)
        return True

    def watch(self, selector: LabelSelector = None, *, name: str | None = None) -> "AsyncGenerator[WorkEvent, None]":
        """Every change of the selected works, beginning with all that are there as ADDED. It ends only by an error."""
        return self._watcher.watch(selector, name)

    async def wait_until(
        self, name: str, reached: Callable[[ManifestWork | None], bool], *, timeout: float
    ) -> ManifestWork | None:
        """The work once `reached` holds for it, None meaning that there is none. Raises DeadlineExceeded."""
        return await self._watcher.wait(name, reached, timeout)

    async def wait_gone(self, name: str, *, timeout: float) -> None:
        """Return when nothing is left of the work; the request to delete it is sent again once a minute meanwhile."""
        sent = time.monotonic()

        async def ask_again(work: ManifestWork | None) -> None:
            nonlocal sent
            if work is not None and work.deleting and time.monotonic() - sent >= RESEND_DELETE_SECONDS:
                sent = time.monotonic()
                await self._publisher.delete(work)

        await self._watcher.wait(name, lambda work: work is None, timeout, ask_again)

    async def _stored(self, wanted: ManifestWork, *, adopt: bool) -> ManifestWork | None:
        """The work to be updated, or None where it is to be created; raises where it must be left alone."""
        stored = await self._reader.find(wanted.name) or await self._reader.find_by_name(wanted.name)
        if stored is None and wanted.generation:
            raise NotFound(f"work {wanted.name!r} on {self.consumer} has gone since it was read")
        if stored is None:
            return None
        if not adopt:
            self._ownership.refuse_foreign(stored)
        self._ownership.refuse_deleting(stored)
        return stored

    async def _bring_up(self, stored: ManifestWork, wanted: ManifestWork, *, drop_executor: bool) -> Outcome:
        changed = differences(stored, wanted)
        if wanted.executor and not await self._reader.has_executor(stored, wanted.executor):
            changed.append("executor")
        if not changed and not drop_executor:
            return Outcome(action=Action.UNCHANGED, work=replace(stored, executor=wanted.executor))
        if not drop_executor and not wanted.executor:
            wanted = replace(wanted, executor=await self._executors.to_keep(stored))
        updated = await self._publisher.update(stored, wanted)
        return Outcome(action=Action.UPDATED, work=updated, changed=tuple(changed))
