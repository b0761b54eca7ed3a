"""The table of what can never change, held against the real API server, which applies objects as the agent does."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from controlplane_adapter.hostedcluster.immutability import FIELD_MUTABILITY, immutable_changes
from controlplane_adapter.hostedcluster.model import ABSENT, place, value_at
from controlplane_adapter.hostedcluster.rendering import RenderSettings, render
from controlplane_adapter.hostedcluster.validation.cluster import manifest_problems
from shared.model.snapshot import ClusterSnapshot
from tests.support.cluster_specs import FULL_ADAPTERS, FULL_SETTINGS, FULL_SPEC, changed_clusters, snapshot
from tests.support.hosted_cluster_api import ApiServer, Document, validating_api_server

EXAMPLES = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


@pytest.fixture(scope="module")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with validating_api_server(tmp_path_factory.mktemp("kubernetes")) as api_server:
        yield api_server


def full_object() -> Document:
    return render(snapshot(FULL_SPEC, adapters=FULL_ADAPTERS), FULL_SETTINGS, infra_id="demo-x7k2p").manifest


def changed(path: str, value: Any) -> Document:
    """The full object with another value, or nothing, at `path`."""
    document = full_object()
    if value is not ABSENT:
        place(document, path, value)
        return document
    parent, _, name = path.rpartition(".")
    value_at(document, parent).pop(name, None)
    return document


ROUTES = full_object()["spec"]["services"]
IDENTITY = full_object()["spec"]["platform"]["gcp"]["workloadIdentity"]
OTHER_VALUES: dict[str, Any] = {
    "spec.platform.type": "None",
    "spec.platform.gcp.project": "other-project",
    "spec.platform.gcp.region": "us-east1",
    "spec.platform.gcp.networkConfig.network": {"name": "other-vpc"},
    "spec.platform.gcp.networkConfig.privateServiceConnectSubnet": {"name": "other-subnet"},
    "spec.platform.gcp.workloadIdentity": {**IDENTITY, "poolID": "other-pool"},
    "spec.clusterID": str(uuid.UUID(int=1)),
    "spec.infraID": "other",
    "spec.networking.clusterNetwork": [{"cidr": "10.132.0.0/14", "hostPrefix": 24}],
    "spec.networking.serviceNetwork": [{"cidr": "172.30.0.0/16"}],
    "spec.networking.machineNetwork": [{"cidr": "10.1.0.0/16"}],
    "spec.services": [ROUTES[1], ROUTES[0], *ROUTES[2:]],
    "spec.dns.baseDomain": "other.example.com",
    "spec.dns.publicZoneID": "other-zone",
    "spec.issuerURL": "https://oidc.example.com/other",
    "spec.controllerAvailabilityPolicy": "SingleReplica",
    "spec.olmCatalogPlacement": "guest",
    "spec.capabilities": {"disabled": ["Insights"]},
    "spec.etcd.managementType": "Unmanaged",
    "spec.etcd.managed.storage.persistentVolume.size": "16Gi",
    "spec.etcd.managed.storage.persistentVolume.storageClassName": "other",
    "spec.etcd.managed.storage.restoreSnapshotURL": ["https://example.com/snapshot"],
    "spec.secretEncryption": ABSENT,
    "spec.configuration.featureGate.featureSet": "CustomNoUpgrade",
}
# Changes that HyperShift calls impossible and its server takes all the same.
HOLES: dict[str, Any] = {
    "spec.platform.gcp": ABSENT,
    "spec.networking.networkType": "Calico",
    "spec.networking.machineNetwork": ABSENT,
    "spec.dns": ABSENT,
    "spec.dns.publicZoneID": ABSENT,
    "spec.dns.privateZoneID": "added-zone",
    "spec.dns.baseDomainPrefix": "added",
    "spec.fips": True,
    "spec.configuration": ABSENT,
}
FREE: dict[str, Any] = {
    "spec.release.image": "quay.io/openshift-release-dev/ocp-release:4.22.1-multi",
    "spec.channel": "fast-4.22",
    "spec.pullSecret.name": "other",
    "spec.sshKey.name": "other",
    "spec.serviceAccountSigningKey.name": "other",
    "spec.secretEncryption.aescbc.activeKey.name": "other",
    "spec.platform.gcp.endpointAccess": "Private",
    "spec.platform.gcp.resourceLabels": [{"key": "team", "value": "payments"}],
    "spec.infrastructureAvailabilityPolicy": "SingleReplica",
    "spec.networking.allocateNodeCIDRs": "Disabled",
    "spec.olmCatalogPlacement": ABSENT,
}


def rows(table: dict[str, Any]) -> list[Any]:
    return [pytest.param(path, value, id=path) for path, value in table.items()]


@pytest.mark.parametrize(("path", "value"), rows(OTHER_VALUES))
def test_a_held_field_is_refused_by_us_and_by_the_server(api_server: ApiServer, path: str, value: Any) -> None:
    new = changed(path, value)
    assert {each.path.startswith(path) for each in immutable_changes(full_object(), new)} == {True}
    assert api_server.refusal_of_change(full_object(), new)


@pytest.mark.parametrize(("path", "value"), rows(HOLES))
def test_the_servers_holes_are_closed_by_us(api_server: ApiServer, path: str, value: Any) -> None:
    new = changed(path, value)
    assert {each.path.startswith(path) for each in immutable_changes(full_object(), new)} == {True}
    assert api_server.refusal_of_change(full_object(), new) == ""


@pytest.mark.parametrize(("path", "value"), rows(FREE))
def test_a_free_field_is_changed(api_server: ApiServer, path: str, value: Any) -> None:
    new = changed(path, value)
    assert immutable_changes(full_object(), new) == []
    assert api_server.refusal_of_change(full_object(), new) == ""


def test_every_rendered_held_field_is_tried() -> None:
    tried = {*OTHER_VALUES, *HOLES}
    rendered = {path for path in FIELD_MUTABILITY if value_at(full_object(), path) is not ABSENT}
    assert rendered - tried == {"metadata.name", "metadata.namespace"}


@EXAMPLES
@given(changed_clusters())
def test_a_change_that_we_let_through_is_taken(
    api_server: ApiServer, case: tuple[ClusterSnapshot, ClusterSnapshot, RenderSettings]
) -> None:
    before, after, platform = case
    old = render(before, platform, infra_id=None).manifest
    new = render(after, platform, infra_id=old["spec"]["infraID"]).manifest
    assume(not manifest_problems(new) and not immutable_changes(old, new))
    assert old != new
    assert api_server.refusal_of_change(old, new) == ""
