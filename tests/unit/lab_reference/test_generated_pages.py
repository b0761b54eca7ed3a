"""The generated pages of docs/ are those that the code makes, and they have what a reader looks for."""

from pathlib import Path

import pytest

from controlplane_adapter.hostedcluster.render_settings import RenderSettings
from controlplane_adapter.hostedcluster.rendering import render
from lab.reference.pages import DOCS, pages
from shared.model.snapshot import ClusterSnapshot

PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_current(name: str) -> None:
    """Otherwise run `make reference`."""
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name]


@pytest.mark.parametrize(
    "entry",
    [
        "| `MANAGEMENT_CLUSTER_CONSUMER` |",
        "| `HYPERFLEET_HEALTH_PORT` |",
        "| `--grpc-endpoint` |",
        "| `3` | permanent failure",
        "| `hyperfleet_adapter_runs_total` | counter |",
        "| `hyperfleet_adapter_queue_oldest_wake_seconds` | gauge |",
        "| `dpu_bridge_phase` | gauge |",
        "`ImmutableFieldChanged`",
        "`AdapterOOMKilled`",
        "`DependenciesNotReady`",
        "`DPUClusterMissing`",
        "`EncryptionKeyLost`",
        "| `validate` | 0 no errors",
    ],
)
def test_the_reference_has_each_kind_of_entry(entry: str) -> None:
    assert entry in PAGES["reference.md"]


def test_the_mapping_is_what_is_rendered() -> None:
    """Each value of a rendered HostedCluster that comes from the cluster is in a row with its source."""
    content = (Path(__file__).parents[3] / "jobs" / "controlplane" / "cluster.json").read_bytes()
    origins = render(ClusterSnapshot.parse(content), RenderSettings(), infra_id=None).origins
    rows = [line for line in PAGES["field-mapping.md"].splitlines() if line.startswith("| `")]
    rendered = {path: origin for path, origin in origins.items() if origin.startswith("spec.") and "[" not in path}
    assert len(rendered) > 15
    missing = [
        (path, origin)
        for path, origin in rendered.items()
        if not any(f"`{path}`" in row and f"`{origin}`" in row for row in rows)
    ]
    assert missing == []
