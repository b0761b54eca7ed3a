"""Observing a cluster's work, doing at most one thing about it, and waiting a little for the agent's word.

What is decided is decided in `deciding`. When somebody else has written since the observation, everything is looked at
and decided again, a bounded number of times.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from controlplane_adapter.deciding import Create, Delete, Observed, Plan, Update, Wanted, decide
from shared import times
from shared.errors import (
    AlreadyExists,
    Conflict,
    DeadlineExceeded,
    Deleting,
    NotFound,
    Permanent,
    Unavailable,
    UnknownConsumer,
)
from shared.maestro import MaestroClient, Works
from shared.maestro.freshness import Application, applied
from shared.maestro.works import RESEND_DELETE_SECONDS
from shared.manifestwork import ManifestWork

MAX_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What was done, and the work as it is after it."""

    plan: Plan
    work: ManifestWork | None


Wish = Callable[[ManifestWork | None], Wanted]


async def act(client: MaestroClient, works: Works, wish: Wish, *, name: str, patience: float) -> Result:
    """Bring the work of that name to what is wanted; `patience` is how long the agent's word is waited for.

    What is wanted depends on what is there, because some of it can never change once it was chosen.
    """
    last: Permanent | None = None
    for _ in range(MAX_ROUNDS):
        work = await _find(works, name)
        wanted = wish(work)
        observed = Observed(work=work, consumer_known=await _knows(client, works.consumer, wanted, work))
        try:
            return await _carry_out(works, wanted, observed, name, patience)
        except UnknownConsumer:
            raise
        except (AlreadyExists, Conflict, Deleting, NotFound) as error:
            last = error
    what = f"work {name!r} on {works.consumer} changes faster than it can be decided on"
    raise Unavailable(what, why=str(last), remedy="the next run tries again") from last


async def _knows(client: MaestroClient, consumer: str, wanted: Wanted, work: ManifestWork | None) -> bool:
    """Whether Maestro knows the management cluster; asked only where it matters."""
    if work is not None or wanted.work is None:
        return True
    try:
        await client.consumers.get(consumer)
    except UnknownConsumer:
        return False
    return True


async def _carry_out(works: Works, wanted: Wanted, observed: Observed, name: str, patience: float) -> Result:
    match plan := decide(wanted, observed):
        case Create(work=work):
            sent = await works.create(work)
            return Result(plan=plan, work=await _with_word(works, sent, patience))
        case Update(work=work):
            sent = (await works.apply(work)).work
            return Result(plan=plan, work=await _with_word(works, sent, patience))
        case Delete():
            left = await _delete(works, observed, name, patience)
            return Result(plan=plan if left else decide(wanted, Observed(work=None, consumer_known=True)), work=left)
        case _:
            return Result(plan=plan, work=observed.work)


async def _with_word(works: Works, sent: ManifestWork, patience: float) -> ManifestWork | None:
    """The work once the agent has spoken about this version of it; as it was sent where it did not in time."""

    def spoken(work: ManifestWork | None) -> bool:
        return work is not None and (
            work.generation > sent.generation or applied(work).state is not Application.NOT_YET
        )

    try:
        return await works.wait_until(sent.name, spoken, patience=patience)
    except DeadlineExceeded:
        return sent


async def _delete(works: Works, observed: Observed, name: str, patience: float) -> ManifestWork | None:
    """What is left of the work."""
    if _is_due(observed.work):
        await works.delete(name)
    try:
        await works.wait_gone(name, patience=patience)
    except DeadlineExceeded:
        return await _find(works, name)
    return None


def _is_due(work: ManifestWork | None) -> bool:
    """Whether to ask for the deletion (again): at most once a minute."""
    if work is None or work.deleted_at is None:
        return True
    return times.now() - work.deleted_at >= timedelta(seconds=RESEND_DELETE_SECONDS)


async def _find(works: Works, name: str) -> ManifestWork | None:
    try:
        return await works.get(name)
    except NotFound:
        return None
