"""The loop: observe → desire → decide → carry out.

When somebody else wrote between the observation and our write, Maestro refuses the write, and the loop starts again, a
limited number of times.
"""

from controlplane_adapter.reconcile.carry_out import Result, carry_out
from controlplane_adapter.reconcile.desire import desire
from controlplane_adapter.reconcile.observe import Progress, observe
from controlplane_adapter.reconcile.plan import decide
from controlplane_adapter.reconcile.request import Request
from shared import logs
from shared.errors import AlreadyExists, Conflict, Deleting, NotFound, Permanent, Unavailable
from shared.maestro import MaestroClient

MAX_ROUNDS = 4


async def reconcile(request: Request, client: MaestroClient, progress: Progress) -> Result:
    """Bring the snapshot's generation to the management cluster that has it, or that is chosen for it."""
    cluster_id = request.snapshot.cluster_id
    last: Permanent | None = None
    for _ in range(MAX_ROUNDS):
        observed = await observe(client, cluster_id)
        progress.record(observed)
        logs.bind(consumer=progress.consumer)
        desired = desire(request, observed.work)
        plan = decide(desired, observed)
        try:
            return await carry_out(plan, request, client, desired, observed)
        except (AlreadyExists, Conflict, Deleting, NotFound) as error:
            last = error
    what = f"the work of cluster {cluster_id} changed at each of {MAX_ROUNDS} attempts to update it"
    raise Unavailable(what, why=str(last), remedy="the next run tries again") from last
