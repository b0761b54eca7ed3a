"""Carry out a plan: at most one write per work, then a short wait for the agent's confirmation."""

import asyncio
import contextlib
from dataclasses import dataclass

from controlplane_adapter.reconcile import refusals
from controlplane_adapter.reconcile.desire import Desired
from controlplane_adapter.reconcile.observe import Observed, observe
from controlplane_adapter.reconcile.plan import Create, Delete, Plan, Refuse, Update, decide
from controlplane_adapter.reconcile.request import Request
from controlplane_adapter.work.manifestwork import owner_labels, work_for
from shared import logs
from shared.errors import DeadlineExceeded, UnknownConsumer
from shared.maestro import ApplyState, MaestroClient, Works, apply_result
from shared.model.manifestwork import ManifestWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The plan that was carried out, the work as it is afterwards, and as it was before an update."""

    plan: Plan
    work: ManifestWork | None
    previous: ManifestWork | None = None


async def carry_out(
    plan: Plan, request: Request, client: MaestroClient, desired: Desired, observed: Observed
) -> Result:
    match plan:
        case Create(hosted_cluster=_):
            return await _create(plan, request, client)
        case Update(stored=stored, work=work):
            works = _works(client, stored.consumer, request)
            sent = await works.update(stored, work)
            confirmed = await _await_confirmation(works, sent, request.confirmation)
            return Result(plan=plan, work=confirmed, previous=stored)
        case Delete():
            return await _delete(request, client, desired, observed)
        case _:
            return Result(plan=plan, work=observed.reported)


async def _create(plan: Create, request: Request, client: MaestroClient) -> Result:
    """Place and create. Maestro itself refuses a management cluster that is not registered."""
    snapshot = request.snapshot
    consumer = await request.placement.choose(str(snapshot.spec.get("gcp_region")))
    logs.bind(consumer=consumer)
    works = _works(client, consumer, request)
    work = work_for(
        plan.hosted_cluster, cluster_id=snapshot.cluster_id, consumer=consumer, generation=snapshot.generation
    )
    try:
        sent = await works.create(work, searched=True)
    except UnknownConsumer:
        return Result(plan=Refuse("UnknownManagementCluster", *refusals.unknown_consumer(consumer)), work=None)
    return Result(plan=plan, work=await _await_confirmation(works, sent, request.confirmation))


async def _await_confirmation(works: Works, sent: ManifestWork, timeout: float) -> ManifestWork | None:
    """The work once the agent reported on this version of it; as it was sent where it did not in time."""

    def confirmed(work: ManifestWork | None) -> bool:
        return work is not None and (
            work.generation > sent.generation or apply_result(work).state is not ApplyState.NOT_YET
        )

    if timeout <= 0:
        return sent
    try:
        return await works.wait_until(sent.name, confirmed, timeout=timeout)
    except DeadlineExceeded:
        return sent


async def _delete(request: Request, client: MaestroClient, desired: Desired, observed: Observed) -> Result:
    """Request the deletion of every work, wait for their end, and decide on what is left."""
    for work in observed.works:
        await _works(client, work.consumer, request).request_deletion(work)
    clock = asyncio.get_running_loop().time
    deadline = clock() + request.confirmation
    with contextlib.suppress(DeadlineExceeded):
        for work in observed.works if request.confirmation > 0 else ():
            works = _works(client, work.consumer, request)
            await works.wait_gone(work.name, timeout=max(0.0, deadline - clock()))
    left = await observe(client, request.snapshot.cluster_id)
    return Result(plan=decide(desired, left), work=left.reported)


def _works(client: MaestroClient, consumer: str, request: Request) -> Works:
    return client.works(consumer, owner_labels=owner_labels(request.snapshot.cluster_id))
