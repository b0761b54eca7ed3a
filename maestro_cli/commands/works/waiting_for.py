"""`wait`, and the waiting of `apply`, `build` and `delete`.

It is woken by the status stream, and looks again every few seconds. The stream has only works of this source; another
source's work is looked at every two seconds.
"""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from maestro_cli.commands.session import Session, require_consumer
from maestro_cli.exits import FailedCondition, TimedOut, UsageError
from maestro_cli.output.printing import print_answer, print_note
from maestro_cli.output.states import view
from maestro_cli.waiting import Expression, met, parse, unmet
from shared.errors import DeadlineExceeded, NotFound
from shared.maestro import MaestroClient, Works
from shared.model.manifestwork import ManifestWork

_DELETED: Final = frozenset({"delete", "deleted"})
# As kubectl users write it: --for=condition=Available.
_KUBECTL_PREFIX: Final = "condition="
_POLL_SECONDS: Final = 2.0


async def run(session: Session) -> None:
    arguments = session.arguments
    gone = arguments.wait.lower() in _DELETED
    awaited = Awaited.parse("Applied" if gone else arguments.wait, arguments.fail_on)
    names = session.names
    if not names:
        raise UsageError("no work is named", remedy="such as: wait NAME --consumer CONSUMER")
    form = session.form("name")
    async with session.client() as client:
        works = await require_consumer(client, session.consumer)
        for name in names:
            session.results.name = name
            if gone:
                await wait_gone(client, works, name, session)
                session.results.write_deletion(name, gone=True)
                print_answer(f"work {name} on {works.consumer} is gone")
                continue
            work = await wait_for(client, works, name, awaited, session)
            session.results.write_success(work, f"{awaited.expression} is met")
            met_now = f"{work.name}: {awaited.expression} is met"
            print_answer(met_now if form.name == "name" else form.compile()(view(work, ours=client.is_ours(work))))


@dataclass(frozen=True, slots=True)
class Awaited:
    """What is waited for, and what must not come meanwhile."""

    expression: Expression
    failure: Expression | None = None

    @classmethod
    def parse(cls, expression: str, failure: str | None) -> "Awaited":
        """Raises InvalidExpression, before anything is sent."""
        return cls(parse(expression.removeprefix(_KUBECTL_PREFIX)), parse(failure) if failure else None)


async def find(client: MaestroClient, works: Works, name: str) -> ManifestWork | None:
    """Our work of that name; where we have none, another source's."""
    try:
        return await works.get(name)
    except NotFound:
        async for other in client.scan(consumer=works.consumer, name=name):
            return other
    return None


async def wait_gone(client: MaestroClient, works: Works, name: str, session: Session) -> None:
    """Return when nothing of that name is left. Raises TimedOut."""
    try:
        work = await find(client, works, name)
        if work is not None and client.is_ours(work):
            await works.wait_gone(name, timeout=session.wait_seconds)
        elif work is not None:
            await _poll_until(client, works, name, lambda found: found is None, session)
    except DeadlineExceeded as error:
        raise TimedOut(
            f"work {name!r} on {works.consumer} was not gone within {session.wait_seconds:g} s",
            why=error.why,
            remedy="is the agent of the management cluster running?",
        ) from error


async def wait_for(client: MaestroClient, works: Works, name: str, awaited: Awaited, session: Session) -> ManifestWork:
    """The work once the expression holds. Raises FailedCondition, or TimedOut with what was seen last."""
    progress = Progress(awaited)
    try:
        found = await find(client, works, name)
        if found is not None and not client.is_ours(found):
            work = await _poll_until(client, works, name, progress.reached, session)
        else:
            work = await works.wait_until(name, progress.reached, timeout=session.wait_seconds)
    except DeadlineExceeded as error:
        session.results.sent = progress.last
        raise TimedOut(
            f"{awaited.expression} was not met within {session.wait_seconds:g} s",
            why="; ".join(progress.missing) or error.why,
            remedy=f"see `maestro-cli describe {name} --consumer {works.consumer}`",
        ) from error
    session.results.sent = work
    if progress.failed is not None:
        raise FailedCondition(f"{awaited.failure} holds for work {name!r} on {works.consumer}", why=progress.failed)
    assert work is not None
    return work


async def _poll_until(
    client: MaestroClient,
    works: Works,
    name: str,
    reached: Callable[[ManifestWork | None], bool],
    session: Session,
) -> ManifestWork | None:
    try:
        async with asyncio.timeout(session.wait_seconds):
            while not reached(work := await find(client, works, name)):  # noqa: ASYNC110 - no event announces it
                await asyncio.sleep(_POLL_SECONDS)
            return work
    except TimeoutError:
        raise DeadlineExceeded(f"waited {session.wait_seconds:g} s for work {name!r} on {works.consumer}") from None


@dataclass(slots=True)
class Progress:
    """Looks at each state of the work, and shows on a terminal what is still missing."""

    awaited: Awaited
    missing: list[str] = field(default_factory=list)
    failed: str | None = None
    last: ManifestWork | None = None

    def reached(self, work: ManifestWork | None) -> bool:
        if work is None:
            self._show(["there is no such work"])
            return False
        self.last = work
        if met(self.awaited.expression, work):
            return True
        if self.awaited.failure is not None and met(self.awaited.failure, work):
            self.failed = "; ".join(unmet(self.awaited.expression, work)) or "the work failed"
            return True
        self._show(unmet(self.awaited.expression, work))
        return False

    def _show(self, missing: list[str]) -> None:
        if missing != self.missing and sys.stderr.isatty():
            print_note(f"waiting: {'; '.join(missing)}")
        self.missing = missing
