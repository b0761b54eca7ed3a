"""The shipped node pool adapter has no mistake in its configuration."""

from pathlib import Path

from dispatcher.config.loading import load

FOLDER = Path(__file__).parents[3] / "jobs" / "nodepool"


def test_nothing_is_found_wrong() -> None:
    loaded = load(
        FOLDER / "nodepool-adapter-config.yaml",
        FOLDER / "nodepool-task-config.yaml",
        environment={"MANAGEMENT_CLUSTER_CONSUMER": "mgmt-01"},
        strict=True,
    )
    assert [str(each) for each in loaded.warnings] == []
    (work,) = loaded.adapter.resources
    assert (work.transport, work.manifest.kind, work.watch) == ("maestro", "ManifestWork", True)
