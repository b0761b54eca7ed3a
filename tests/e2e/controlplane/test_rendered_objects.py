"""The real API server with the real HostedCluster definition judges what we render, and what we refuse."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from controlplane_adapter.hostedcluster.model import DEFAULTS
from controlplane_adapter.hostedcluster.rendering import RenderSettings, render
from controlplane_adapter.hostedcluster.validation.cluster import cluster_problems
from lab.real.artifacts.crds import hypershift_crds
from shared.model.snapshot import ClusterSnapshot
from tests.support.cluster_specs import BAD_SPECS, BadSpec, doubtful_clusters, good_clusters
from tests.support.hosted_cluster_api import ApiServer, validating_api_server

EXAMPLES = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with validating_api_server(tmp_path_factory.mktemp("kubernetes")) as api_server:
        yield api_server


@EXAMPLES
@given(good_clusters())
def test_what_we_render_from_a_good_cluster_is_taken(
    api_server: ApiServer, case: tuple[ClusterSnapshot, RenderSettings]
) -> None:
    cluster, platform = case
    assert api_server.refusal(render(cluster, platform, infra_id=None).manifest) == ""


@EXAMPLES
@given(doubtful_clusters())
def test_whatever_passes_our_validation_is_taken(
    api_server: ApiServer, case: tuple[ClusterSnapshot, RenderSettings]
) -> None:
    cluster, platform = case
    rendered = render(cluster, platform, infra_id=None)
    if not cluster_problems(cluster, rendered, platform):
        assert api_server.refusal(rendered.manifest) == "", json.dumps(rendered.manifest)


@pytest.mark.parametrize("bad", BAD_SPECS, ids=lambda bad: bad.title)
def test_a_bad_spec_is_refused_by_us_and_by_the_server_where_it_can_tell(api_server: ApiServer, bad: BadSpec) -> None:
    rendered = render(bad.snapshot, bad.settings, infra_id=None)
    assert bad.field in {each.path for each in cluster_problems(bad.snapshot, rendered, bad.settings)}
    refusal = api_server.refusal(rendered.manifest)
    assert bool(refusal) != bad.let_through, refusal


def test_our_table_of_defaults_is_the_servers() -> None:
    schema = hypershift_crds()[0]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]

    def default(path: str) -> Any:
        """The nearest default on the way to the path, and there what it holds for the rest of it."""
        node, names = schema, path.split(".")
        for depth, name in enumerate(names):
            node = node["properties"][name]
            if "default" in node:
                value = node["default"]
                for rest in names[depth + 1 :]:
                    value = value.get(rest) if isinstance(value, dict) else None
                if value is not None:
                    return value
        return None

    assert {path: default(path) for path in DEFAULTS} == dict(DEFAULTS)
