"""The snapshot that the Job's page tells to begin with is one that the adapter takes, with no settings of its own."""

from pathlib import Path

from controlplane_adapter.rendering import RenderSettings, hosted_cluster
from controlplane_adapter.validation import problems_of
from shared.snapshot import ClusterSnapshot

EXAMPLE = Path(__file__).parents[3] / "jobs" / "controlplane" / "cluster.json"


def test_the_example_has_no_problem() -> None:
    snapshot = ClusterSnapshot.parse(EXAMPLE.read_bytes())
    settings = RenderSettings()
    assert problems_of(snapshot, hosted_cluster(snapshot, settings, infra_id=None), settings) == []
