"""What one generation of a cluster asks for: pure, from the snapshot, the settings and the stored work."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from controlplane_adapter.hostedcluster.model import Json, value_at
from controlplane_adapter.hostedcluster.rendering import render
from controlplane_adapter.hostedcluster.validation.cluster import cluster_problems
from controlplane_adapter.reconcile.request import Request
from controlplane_adapter.work.manifestwork import hosted_cluster_in
from shared.errors import Problem
from shared.model.manifestwork import ManifestWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Desired:
    """`hosted_cluster` is None for an invalid spec or a deletion; `origins` has the source of each of its paths."""

    cluster_id: str
    generation: int
    deleting: bool
    node_pools: int | None
    hosted_cluster: Json | None
    problems: tuple[Problem, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)


def desire(request: Request, stored: ManifestWork | None) -> Desired:
    """The desired state. It depends on the stored work, because its infraID can never change."""
    snapshot = request.snapshot
    deleting = snapshot.deleted_time is not None
    hosted_cluster: Json | None = None
    problems: tuple[Problem, ...] = ()
    origins: Mapping[str, str] = {}
    if not deleting:
        rendered = render(snapshot, request.render, infra_id=_infra_id(stored), overlay=request.overlay)
        problems = tuple(cluster_problems(snapshot, rendered, request.render))
        hosted_cluster, origins = None if problems else rendered.manifest, rendered.origins
    return Desired(
        cluster_id=snapshot.cluster_id,
        generation=snapshot.generation,
        deleting=deleting,
        node_pools=snapshot.node_pools,
        hosted_cluster=hosted_cluster,
        problems=problems,
        origins=origins,
    )


def _infra_id(stored: ManifestWork | None) -> str | None:
    infra_id = value_at(hosted_cluster_in(stored), "spec.infraID") if stored else None
    return infra_id if isinstance(infra_id, str) else None
