"""What one run is asked to reconcile."""

from dataclasses import dataclass

from controlplane_adapter.hostedcluster.model import Json
from controlplane_adapter.hostedcluster.render_settings import RenderSettings
from controlplane_adapter.reconcile.placement import Placement
from shared.model.snapshot import ClusterSnapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`placement` is asked only for a new cluster; `confirmation` limits the wait for the agent after a write."""

    snapshot: ClusterSnapshot
    render: RenderSettings
    overlay: Json
    placement: Placement
    confirmation: float
