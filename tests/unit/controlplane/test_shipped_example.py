"""The snapshot that the Job's page tells to begin with is one that the adapter takes, with no settings of its own."""

from pathlib import Path

from controlplane_adapter.hostedcluster.rendering import RenderSettings, render
from controlplane_adapter.hostedcluster.validation.cluster import cluster_problems
from shared.model.snapshot import ClusterSnapshot

EXAMPLE = Path(__file__).parents[3] / "jobs" / "controlplane" / "cluster.json"


def test_the_example_has_no_problem() -> None:
    snapshot = ClusterSnapshot.parse(EXAMPLE.read_bytes())
    settings = RenderSettings()
    assert cluster_problems(snapshot, render(snapshot, settings, infra_id=None), settings) == []
