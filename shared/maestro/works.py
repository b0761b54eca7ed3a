"""The works of one management cluster: read by REST, written by events, never another's work overwritten.

`Works` is a small immutable handle; all state is in the client that made it.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from enum import StrEnum

from shared import times
from shared.errors import (
    AlreadyExists,
    Conflict,
    DeadlineExceeded,
    Deleting,
    Invalid,
    NotFound,
    NotOwned,
    Permanent,
    Problem,
    Transient,
)
from shared.maestro.bundles import differences, work_of_bundle
from shared.maestro.codec import compact, spec_request
from shared.maestro.identity import work_id
from shared.maestro.link import Link
from shared.maestro.paging import pages
from shared.maestro.rest import Rest
from shared.maestro.selectors import Selector
from shared.maestro.settings import MaestroSettings
from shared.maestro.stream import StatusStream
from shared.maestro.tracking import Tracker, WorkEvent
from shared.manifestwork import ManifestWork
from shared.work_rules import validate

BUNDLES = "/resource-bundles"
MAX_REREADS = 5
# Maestro parses at most ten `and`s of such a search; what is not searched for there is selected here.
MAX_SEARCHED_LABELS = 6
# Maestro forgets a delete that no agent has taken up; newer servers publish it again when asked, once a minute.
RESEND_DELETE_SECONDS = 60.0
# The stream is a hint; a state is looked at again at least this often while it is waited for.
LOOK_AGAIN_SECONDS = 5.0
_EXECUTOR = "payload->'data'->'executer'"

LabelSelector = str | Mapping[str, str] | Selector | None


class Action(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What `apply` did, the work as it now is, and which parts of it had to be changed."""

    action: Action
    work: ManifestWork
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Works:
    """What this source has on one consumer. All that is written gets `owner_labels`; what lacks them is not ours."""

    consumer: str
    owner_labels: Mapping[str, str]
    settings: MaestroSettings
    rest: Rest
    link: Link
    stream: StatusStream

    def id_of(self, name: str) -> str:
        return work_id(self.settings.source_id, self.consumer, name)

    async def get(self, name: str) -> ManifestWork:
        """The work with its status. A work that is being deleted is still there, with `deleted_at`."""
        return work_of_bundle(await self.rest.get(self._about("get", name), f"{BUNDLES}/{self.id_of(name)}"))

    async def list(self, selector: LabelSelector = None, *, limit: int | None = None) -> list[ManifestWork]:
        works: list[ManifestWork] = []
        async with aclosing(self.scan(selector)) as scanned:
            async for work in scanned:
                if limit is not None and len(works) >= limit:
                    break
                works.append(work)
        return works

    async def scan(self, selector: LabelSelector = None) -> AsyncGenerator[ManifestWork, None]:
        """Every work, page by page: as many as there are, with the memory of one page."""
        chosen = Selector.of(selector)
        labels = chosen.search_terms()[:MAX_SEARCHED_LABELS]
        terms = [f"source='{self.settings.source_id}'", f"consumer_name='{self.consumer}'", *labels]
        async with aclosing(pages(self.rest, f"list works on {self.consumer}", BUNDLES, terms)) as found:
            async for bundle in found:
                work = work_of_bundle(bundle)
                if chosen.matches(work.labels):
                    yield work

    async def create(self, work: ManifestWork) -> ManifestWork:
        """Send a new work. Raises AlreadyExists, Deleting, NotOwned, Invalid or UnknownConsumer where it cannot be."""
        wanted = self._prepared(work)
        other = await self._of_that_name(work.name)
        if other is not None:
            self._refuse_create(wanted, other)
        return await self._send_new(wanted)

    async def apply(self, work: ManifestWork, *, adopt: bool = False, drop_executor: bool = False) -> Outcome:
        """Make the work what is wanted: create it, update it, or leave it alone where nothing differs.

        A work that was read carries the generation it was read at: when another has written since, Conflict is raised,
        because the decision was made on what no longer is. A work without a generation is the whole wanted state: after
        a conflict it is compared and sent again, a bounded number of times.

        `adopt` takes over a work of that name that another source made, or that lacks the owner labels.
        """
        wanted = self._prepared(work)
        conflict: Permanent | None = None
        for _ in range(MAX_REREADS):
            stored = await self._stored(wanted, adopt=adopt)
            try:
                if stored is None:
                    return Outcome(action=Action.CREATED, work=await self._send_new(wanted))
                return await self._bring_up(stored, wanted, drop_executor=drop_executor)
            except (AlreadyExists, Conflict) as error:
                if work.generation:
                    raise
                conflict = error
        assert conflict is not None
        raise conflict

    async def delete(self, name: str) -> bool:
        """Ask for the work and its objects to go; True if there was one. It is gone when `wait_gone` says so."""
        try:
            stored = await self.get(name)
        except NotFound:
            return False
        self._refuse_foreign(stored)
        await self._publish("delete", replace(stored, deleted_at=stored.deleted_at or times.now()))
        return True

    async def watch(
        self, selector: LabelSelector = None, *, name: str | None = None
    ) -> AsyncGenerator[WorkEvent, None]:
        """Every change of the selected works, beginning with all that are there as ADDED. It ends only by an error."""
        chosen = Selector.of(selector)
        uid = self.id_of(name) if name else None

        def wants(work: ManifestWork) -> bool:
            return work.uid == uid if uid else work.consumer == self.consumer

        tracker = Tracker(lambda work: chosen.matches(work.labels))
        clock = asyncio.get_running_loop().time
        async with self.stream.feed(wants) as feed:
            relist, due = False, clock() + self.settings.relist_interval
            while True:
                batch = await feed.next(self.settings.timeout if relist else max(0.0, due - clock()))
                relist = relist or batch.relist or clock() >= due
                if relist:
                    try:
                        listed = await self._present(name, chosen)
                    except Transient:
                        continue  # told by the stream's own reconnection; the list is tried again
                    relist, due = False, clock() + self.settings.relist_interval
                    for event in tracker.replace(listed):
                        yield event
                for update in batch.updates:
                    for event in tracker.update(update):
                        yield event

    async def wait_until(
        self, name: str, reached: Callable[[ManifestWork | None], bool], *, patience: float
    ) -> ManifestWork | None:
        """The work once `reached` holds for it, None meaning that there is none. Raises DeadlineExceeded."""

        async def nothing(_: ManifestWork | None) -> None:
            return

        return await self._wait(name, reached, patience, nothing)

    async def wait_gone(self, name: str, *, patience: float) -> None:
        """Return when nothing is left of the work; the request to delete it is sent again once a minute meanwhile."""
        sent = time.monotonic()

        async def ask_again(work: ManifestWork | None) -> None:
            nonlocal sent
            if work is not None and work.deleting and time.monotonic() - sent >= RESEND_DELETE_SECONDS:
                sent = time.monotonic()
                await self._publish("delete", work)

        await self._wait(name, lambda work: work is None, patience, ask_again)

    async def _wait(
        self,
        name: str,
        reached: Callable[[ManifestWork | None], bool],
        patience: float,
        meanwhile: Callable[[ManifestWork | None], Awaitable[None]],
    ) -> ManifestWork | None:
        uid = self.id_of(name)
        work: ManifestWork | None = None
        try:
            async with asyncio.timeout(patience), self.stream.feed(lambda each: each.uid == uid) as feed:
                while True:
                    work = await self._find(name)
                    if reached(work):
                        return work
                    await meanwhile(work)
                    await feed.next(LOOK_AGAIN_SECONDS)
        except TimeoutError:
            what = f"waited {patience:g} s for work {name!r} on {self.consumer}"
            raise DeadlineExceeded(what, why=_last_words(work)) from None

    async def _find(self, name: str) -> ManifestWork | None:
        try:
            return await self.get(name)
        except NotFound:
            return None

    async def _present(self, name: str | None, chosen: Selector) -> Sequence[ManifestWork]:
        if name is None:
            return await self.list(chosen)
        work = await self._find(name)
        return [] if work is None else [work]

    async def _stored(self, wanted: ManifestWork, *, adopt: bool) -> ManifestWork | None:
        """The work to be updated, or None where it is to be created; raises where it must be left alone."""
        stored = await self._find(wanted.name) or await self._of_that_name(wanted.name)
        if stored is None and wanted.generation:
            raise NotFound(f"work {wanted.name!r} on {self.consumer} has gone since it was read")
        if stored is None:
            return None
        if not adopt:
            self._refuse_foreign(stored)
        if stored.deleting:
            raise Deleting(
                f"work {wanted.name!r} on {self.consumer} is being deleted",
                remedy="wait until it is gone (`wait_gone`) before applying it again",
            )
        return stored

    async def _of_that_name(self, name: str) -> ManifestWork | None:
        """A work of that name on this consumer, whoever made it: another source's work has another id."""
        search = f"consumer_name='{self.consumer}' and payload->'metadata'->>'name'='{name}'"
        found = await self.rest.get(self._about("look for", name), BUNDLES, {"search": search, "orderBy": "id"})
        works = [work_of_bundle(bundle) for bundle in found.get("items") or ()]
        ours = [work for work in works if work.uid == self.id_of(name)]
        return next(iter(ours or works), None)

    async def _bring_up(self, stored: ManifestWork, wanted: ManifestWork, *, drop_executor: bool) -> Outcome:
        changed = differences(stored, wanted)
        if wanted.executor and not await self._has_executor(stored, wanted.executor):
            changed.append("executor")
        if not changed and not drop_executor:
            return Outcome(action=Action.UNCHANGED, work=replace(stored, executor=wanted.executor))
        if not wanted.executor and not drop_executor and await self._has_executor(stored, {}):
            raise Invalid(
                f"updating work {wanted.name!r} on {self.consumer} would take its executor away",
                [Problem("spec.executor", "Maestro keeps one that it does not show")],
                remedy="give the executor with the work, or say drop_executor",
            )
        update = replace(
            wanted,
            uid=stored.uid,
            generation=wanted.generation or stored.generation,
            created_at=stored.created_at,
            other_metadata={**stored.other_metadata, **wanted.other_metadata},
        )
        await self._publish("update", update)
        updated = replace(update, generation=update.generation + 1, status=stored.status)
        return Outcome(action=Action.UPDATED, work=updated, changed=tuple(changed))

    async def _has_executor(self, stored: ManifestWork, executor: Mapping[str, object]) -> bool:
        """Whether the stored work has an executor with these members; REST does not show it, but finds it."""
        search = f"id='{stored.uid}' and {_EXECUTOR}@>'{compact(executor)}'"
        what = self._about("look for the executor of", stored.name)
        found = await self.rest.get(what, BUNDLES, {"search": search, "size": "1"})
        return bool(found.get("items"))

    def _prepared(self, work: ManifestWork) -> ManifestWork:
        """The work as it is sent, with identity and owner labels; raises where Maestro or the agent would refuse it."""
        if work.consumer and work.consumer != self.consumer:
            problem = Problem("metadata.namespace", f"is {work.consumer!r}, but the work is sent to {self.consumer!r}")
            raise Invalid(f"ManifestWork {work.name!r} is for another management cluster", [problem])
        wanted = replace(
            work,
            consumer=self.consumer,
            uid=self.id_of(work.name),
            labels={**work.labels, **self.owner_labels},
            deleted_at=None,
        )
        validate(wanted)
        return wanted

    def _refuse_create(self, wanted: ManifestWork, other: ManifestWork) -> None:
        self._refuse_foreign(other)
        if other.deleting:
            raise Deleting(
                f"work {wanted.name!r} on {self.consumer} is still being deleted",
                remedy="wait until it is gone (`wait_gone`) before creating it again",
            )
        raise AlreadyExists(f"work {wanted.name!r} on {self.consumer} exists already", remedy="use apply to change it")

    def _refuse_foreign(self, stored: ManifestWork) -> None:
        where = f"work {stored.name!r} on {self.consumer}"
        remedy = "use another name, or adopt it if it is really yours"
        if stored.uid != self.id_of(stored.name):
            raise NotOwned(f"{where} was made by another source", why=f"its id is {stored.uid}", remedy=remedy)
        if not stored.has_labels(self.owner_labels):
            expected = ",".join(f"{key}={value}" for key, value in self.owner_labels.items())
            raise NotOwned(f"{where} is not ours", why=f"it lacks the labels {expected}", remedy=remedy)

    async def _send_new(self, wanted: ManifestWork) -> ManifestWork:
        await self._publish("create", replace(wanted, generation=0, created_at=None))
        return replace(wanted, generation=1, created_at=times.now())

    async def _publish(self, action: str, work: ManifestWork) -> None:
        """Send, and know one's own write again: after a lost answer, a refusal may mean that it had worked before."""
        what = self._about(action, work.name)
        envelope = spec_request(action, work, source=self.settings.source_id, at=times.now())
        unanswered = False

        async def once() -> None:
            nonlocal unanswered
            try:
                await self.link.publish(envelope, what)
            except (AlreadyExists, Conflict):
                if not unanswered or not await self._is_stored(work):
                    raise
            except Transient:
                unanswered = True
                raise

        await self.settings.retry.run(what, once)

    async def _is_stored(self, sent: ManifestWork) -> bool:
        stored = await self._find(sent.name)
        return stored is not None and stored.generation == sent.generation + 1 and not differences(stored, sent)

    def _about(self, doing: str, name: str) -> str:
        return f"{doing} work {name!r} on {self.consumer}"


def _last_words(work: ManifestWork | None) -> str:
    if work is None:
        return "there is no such work"
    told = [f"{each.type}={each.status} {each.message}".strip() for each in work.status.conditions]
    state = f"being deleted since {times.to_seconds(work.deleted_at)}" if work.deleted_at else "still there"
    return f"it is {state}; the agent last said: {', '.join(told) or 'nothing'}"
