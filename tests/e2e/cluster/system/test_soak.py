"""Clusters are created, updated and deleted while every component in turn is killed: `make soak CLUSTERS=200`.
`SOAK_PICTURE` names a file for the picture, `SOAK_SEED` repeats how long the outages and the pauses between them last.
"""

import os
import time
from pathlib import Path

import pytest

from lab.hypershift.operator import Operator
from lab.real.cluster.maestro import ClusterMaestro
from tests.support.cluster import JobNamespace
from tests.support.installed import SOON, Clusters
from tests.support.outages import Component
from tests.support.soak import CHANGES, Soak
from tests.support.soak_result import picture, table

COUNT = int(os.environ.get("CLUSTERS", "12"))


@SOON
async def test_no_cluster_is_lost_or_made_twice_while_every_component_is_killed_in_turn(
    clusters: Clusters,
    operator: Operator,
    maestro: ClusterMaestro,
    components: dict[str, Component],
    jobs_namespace: JobNamespace,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    seed = int(os.environ.get("SOAK_SEED", time.time()))

    def show(*lines: str) -> None:
        with capsys.disabled():
            print("", *lines, sep="\n")  # noqa: T201 - progress and result, for who waits

    show(f"soak of {COUNT} clusters with SOAK_SEED={seed}")
    soak = Soak(clusters, components, COUNT, seed=seed, progress=show)
    await soak.run(operator, maestro)
    operator.check()
    record = soak.record
    names = {*record.changes, *record.lost}
    left_behind = {
        "works": sum(work["manifests"][0]["metadata"]["name"] in names for work in maestro.works()),
        "HostedClusters": sum(name in names for _, name in operator.clusters),
    }
    show(*table(record, left_behind))
    file = Path(os.environ.get("SOAK_PICTURE") or tmp_path / "soak.svg")
    file.write_text(picture(record))  # noqa: ASYNC240 - the soak is over
    assert record.lost == {}
    assert {outage.name for outage in record.outages} == set(components)
    assert names <= record.works.keys() & record.hosted_clusters.keys(), "each was looked at"
    assert record.duplicates == []
    assert left_behind == {"works": 0, "HostedClusters": 0}
    assert {tuple(span.name for span in spans) for spans in record.changes.values()} == {CHANGES}
    assert len(names) == COUNT
