"""Bringing one generation of a cluster to the management cluster it is on, or is to be on."""

from controlplane_adapter.acting import Result, act
from controlplane_adapter.deciding import Gone, Observed, Wanted, decide
from controlplane_adapter.hostedcluster import value_at
from controlplane_adapter.overlay import overlaid
from controlplane_adapter.placement import Listed, Placement, Static, homes_of
from controlplane_adapter.rendering import hosted_cluster
from controlplane_adapter.settings import Settings
from controlplane_adapter.validation import problems_of
from controlplane_adapter.work import hosted_cluster_in, owner_labels, work_for, work_name
from shared.errors import Problem
from shared.maestro import MaestroClient
from shared.manifestwork import ManifestWork


async def deliver(settings: Settings, client: MaestroClient) -> Result:
    """What was done for the snapshot's generation. Only a cluster that can be created is given a place."""
    snapshot = settings.snapshot
    homes = await homes_of(client, work_name(snapshot.cluster_id))
    if not homes:
        wanted = wanted_of(settings, "", None)
        if wanted.work is None:
            return Result(plan=decide(wanted, Observed(work=None, consumer_known=True)), work=None)
        homes = [await _placement(settings).choose(str(snapshot.spec.get("gcp_region")))]
    for home in homes:
        result = await _deliver_to(home, settings, client)
        if not isinstance(result.plan, Gone):
            break
    return result


def wanted_of(settings: Settings, consumer: str, stored: ManifestWork | None) -> Wanted:
    """What the snapshot's generation asks for, given the work that is there."""
    snapshot = settings.snapshot
    deleting = snapshot.deleted_time is not None
    work: ManifestWork | None = None
    problems: tuple[Problem, ...] = ()
    if not deleting:
        infra_id = value_at(hosted_cluster_in(stored), "spec.infraID") if stored else None
        rendered = hosted_cluster(snapshot, settings.render, infra_id=infra_id if isinstance(infra_id, str) else None)
        manifest = overlaid(rendered, settings.overlay)
        problems = tuple(problems_of(snapshot, manifest, settings.render))
        if not problems:
            work = work_for(manifest, cluster_id=snapshot.cluster_id, consumer=consumer, generation=snapshot.generation)
    return Wanted(
        cluster_id=snapshot.cluster_id,
        generation=snapshot.generation,
        deleting=deleting,
        node_pools=snapshot.node_pools,
        work=work,
        problems=problems,
    )


async def _deliver_to(home: str, settings: Settings, client: MaestroClient) -> Result:
    cluster_id = settings.snapshot.cluster_id
    return await act(
        client,
        client.works(home, owner_labels=owner_labels(cluster_id)),
        lambda stored: wanted_of(settings, home, stored),
        name=work_name(cluster_id),
        patience=settings.confirmation,
    )


def _placement(settings: Settings) -> Placement:
    if settings.placement_url:
        return Listed(settings.placement_url, settings.maestro.timeout, settings.maestro.retry)
    return Static(settings.consumer)
