"""Observing a cluster's work, doing at most one thing about it, and waiting a little for the agent's word.

What is decided is decided in `deciding`. When somebody else has written since the observation, everything is looked at
and decided again, a bounded number of times.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from controlplane_adapter.deciding import Create, Delete, Gone, Observed, Plan, Update, Wanted, decide
from shared import times
from shared.errors import AlreadyExists, Conflict, DeadlineExceeded, NotFound, UnknownConsumer
from shared.maestro import MaestroClient, Works
from shared.maestro.freshness import Application, applied
from shared.maestro.works import RESEND_DELETE_SECONDS
from shared.manifestwork import ManifestWork

MAX_ROUNDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What was done and what is true after it. `confirmed` is that the agent has spoken about what was sent."""

    plan: Plan
    work: ManifestWork | None
    confirmed: bool = True


Wish = Callable[[ManifestWork | None], Wanted]


async def act(client: MaestroClient, works: Works, wish: Wish, *, name: str, patience: float) -> Result:
    """Bring the work of that name to what is wanted; `patience` is how long the agent's word is waited for.

    What is wanted depends on what is there, because some of it can never change once it was chosen.
    """
    last: Exception | None = None
    for _ in range(MAX_ROUNDS):
        work = await _find(works, name)
        wanted = wish(work)
        observed = Observed(work=work, consumer_known=await _knows(client, works.consumer, wanted, work))
        plan = decide(wanted, observed)
        try:
            return await _carry_out(works, plan, observed, name, patience)
        except (Conflict, AlreadyExists, NotFound) as error:
            if isinstance(error, UnknownConsumer):
                raise
            last = error
    assert last is not None
    raise last


async def _knows(client: MaestroClient, consumer: str, wanted: Wanted, work: ManifestWork | None) -> bool:
    """Whether Maestro knows the management cluster; asked only where it matters."""
    if work is not None or wanted.work is None:
        return True
    try:
        await client.consumers.get(consumer)
    except UnknownConsumer:
        return False
    return True


async def _carry_out(works: Works, plan: Plan, observed: Observed, name: str, patience: float) -> Result:
    match plan:
        case Create(work=work) | Update(work=work):
            sent = (await works.apply(work)).work
            spoken = await _await_word(works, sent, patience)
            return Result(plan=plan, work=spoken or sent, confirmed=spoken is not None)
        case Delete():
            return await _delete(works, plan, observed, name, patience)
        case _:
            return Result(plan=plan, work=observed.work)


async def _await_word(works: Works, sent: ManifestWork, patience: float) -> ManifestWork | None:
    """The work once the agent has spoken about this version of it, None where it did not in time."""

    def spoken(work: ManifestWork | None) -> bool:
        return work is not None and (
            work.generation > sent.generation or applied(work).state is not Application.NOT_YET
        )

    try:
        return await works.wait_until(sent.name, spoken, patience=patience)
    except DeadlineExceeded:
        return None


async def _delete(works: Works, plan: Delete, observed: Observed, name: str, patience: float) -> Result:
    if _is_due(observed.work):
        await works.delete(name)
    try:
        await works.wait_gone(name, patience=patience)
    except DeadlineExceeded:
        return Result(plan=plan, work=await _find(works, name), confirmed=False)
    return Result(plan=Gone(), work=None)


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
