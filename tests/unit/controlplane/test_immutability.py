"""What can never change in a HostedCluster: each held field, absence, order, and what is free."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings

from controlplane_adapter.hostedcluster.immutability import FIELD_MUTABILITY, Change, Mutability, immutable_changes
from controlplane_adapter.hostedcluster.model import ABSENT, place, value_at
from controlplane_adapter.hostedcluster.rendering import RenderSettings, render
from shared.model.snapshot import ClusterSnapshot
from tests.support.cluster_specs import FULL_ADAPTERS, FULL_SETTINGS, FULL_SPEC, good_clusters, snapshot

FULL = render(snapshot(FULL_SPEC, adapters=FULL_ADAPTERS), FULL_SETTINGS, infra_id="demo-x7k2p").manifest
OVN = "spec.operatorConfiguration.clusterNetworkOperator.ovnKubernetesConfig"


def changed(path: str, value: Any) -> dict[str, Any]:
    """The full object with another value, or nothing, at `path`."""
    document = copy.deepcopy(FULL)
    place(document, path, value)
    if value is ABSENT:
        parent, _, name = path.rpartition(".")
        del value_at(document, parent)[name]
    return document


@pytest.mark.parametrize(
    "path", [path for path, hold in FIELD_MUTABILITY.items() if hold is not Mutability.NOT_REMOVABLE]
)
def test_a_held_field_that_is_set_cannot_become_another(path: str) -> None:
    old, new = changed(path, "what it was"), changed(path, "what it shall be")
    assert immutable_changes(old, new) == [Change(path=path, old="what it was", new="what it shall be")]


@pytest.mark.parametrize("path", FIELD_MUTABILITY)
def test_a_held_field_that_is_set_cannot_be_removed(path: str) -> None:
    changes = immutable_changes(changed(path, "what it was"), changed(path, ABSENT))
    assert [(each.path, each.old) for each in changes] == [(path, "what it was")]


@pytest.mark.parametrize(
    ("path", "free"), [(path, hold is not Mutability.IMMUTABLE) for path, hold in FIELD_MUTABILITY.items()]
)
def test_what_was_left_out_may_be_added_only_where_it_is_not_fixed(path: str, free: bool) -> None:  # noqa: FBT001
    changes = immutable_changes(changed(path, ABSENT), changed(path, "added"))
    assert changes == [] if free else {each.path for each in changes} == {path}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.release.image", "quay.io/openshift-release-dev/ocp-release:4.22.1-multi"),
        ("spec.channel", "fast-4.22"),
        ("spec.channel", ABSENT),
        ("spec.pullSecret.name", "other"),
        ("spec.sshKey.name", "other"),
        ("spec.sshKey", ABSENT),
        ("spec.serviceAccountSigningKey.name", "other"),
        ("spec.secretEncryption.aescbc.activeKey.name", "rotated"),
        ("spec.platform.gcp.endpointAccess", "Private"),
        ("spec.platform.gcp.resourceLabels", []),
        ("spec.infrastructureAvailabilityPolicy", "SingleReplica"),
        ("metadata.labels", {}),
        ("metadata.annotations", {}),
        ("spec.autoscaling", {"scaling": "ScaleUpOnly"}),
    ],
)
def test_a_free_field_is_no_change_to_refuse(path: str, value: Any) -> None:
    assert immutable_changes(FULL, changed(path, value)) == []


@pytest.mark.parametrize(
    ("path", "default"),
    [
        ("spec.issuerURL", "https://kubernetes.default.svc"),
        ("spec.controllerAvailabilityPolicy", "HighlyAvailable"),
        ("spec.olmCatalogPlacement", "management"),
        ("spec.networking.networkType", "OVNKubernetes"),
        ("spec.networking.clusterNetwork", [{"cidr": "10.132.0.0/14"}]),
        ("spec.networking.serviceNetwork", [{"cidr": "172.31.0.0/16"}]),
        ("spec.etcd.managementType", "Managed"),
        ("spec.etcd.managed.storage.persistentVolume.size", "8Gi"),
        ("spec.capabilities", {}),
        ("spec.fips", False),
        ("spec.dns.baseDomainPrefix", ""),
        ("spec.etcd.managed.storage.restoreSnapshotURL", []),
    ],
)
def test_the_servers_own_default_is_as_good_as_nothing(path: str, default: Any) -> None:
    assert immutable_changes(changed(path, ABSENT), changed(path, default)) == []
    assert immutable_changes(changed(path, default), changed(path, ABSENT)) == []


def test_the_innermost_difference_is_reported() -> None:
    emails = "spec.platform.gcp.workloadIdentity.serviceAccountsEmails"
    (change,) = immutable_changes(FULL, changed(f"{emails}.storage", "new@x"))
    assert change == Change(path=f"{emails}.storage", old=value_at(FULL, f"{emails}.storage"), new="new@x")


def test_a_removed_platform_block_is_reported_field_by_field() -> None:
    changes = immutable_changes(FULL, changed("spec.platform.gcp", ABSENT))
    assert {each.path for each in changes} == {
        path for path in FIELD_MUTABILITY if path.startswith("spec.platform.gcp.")
    }
    assert {each.new for each in changes} == {ABSENT}


def test_another_order_of_services_is_a_change() -> None:
    first, second, *rest = FULL["spec"]["services"]
    changes = immutable_changes(FULL, changed("spec.services", [second, first, *rest]))
    assert [each.path for each in changes][:2] == [
        "spec.services[0].service",
        "spec.services[0].servicePublishingStrategy.route.hostname",
    ]


def test_another_order_of_networks_is_a_change() -> None:
    both = [{"cidr": "10.0.0.0/16"}, {"cidr": "fd01::/48"}]
    old, new = (changed("spec.networking.machineNetwork", each) for each in (both, both[::-1]))
    assert immutable_changes(old, new)


def test_another_order_of_shards_and_their_resources_is_none() -> None:
    events, leases = (
        {"apiGroup": group, "resource": name} for group, name in (("", "events"), ("coordination", "leases"))
    )
    shards = [{"name": "a", "resources": [events, leases]}, {"name": "b", "resources": []}]
    mixed = [{"name": "b", "resources": []}, {"name": "a", "resources": [leases, events]}]
    path = "spec.etcd.managed.shards"
    assert immutable_changes(changed(path, shards), changed(path, mixed)) == []
    assert immutable_changes(changed(path, shards), changed(path, shards[:1]))


def test_a_list_of_another_length_is_reported_whole() -> None:
    longer = [*FULL["spec"]["services"], {"service": "OIDC"}]
    (change,) = immutable_changes(FULL, changed("spec.services", longer))
    assert (change.path, change.new) == ("spec.services", longer)


def test_a_secret_encryption_may_be_added_and_a_network_plugins_settings_too() -> None:
    assert immutable_changes(changed("spec.secretEncryption", ABSENT), FULL) == []
    assert immutable_changes(FULL, changed(OVN, {"ipv4": {"internalJoinSubnet": "100.70.0.0/16"}})) == []


def test_another_namespace_would_be_another_cluster() -> None:
    elsewhere = render(
        snapshot(FULL_SPEC, adapters=FULL_ADAPTERS), RenderSettings(namespace="elsewhere"), infra_id="demo-x7k2p"
    ).manifest
    assert Change(path="metadata.namespace", old="clusters", new="elsewhere") in immutable_changes(FULL, elsewhere)


def test_absence_reads_as_nothing_in_a_sentence() -> None:
    (change,) = immutable_changes(FULL, changed("spec.dns.publicZoneID", ABSENT))
    assert f"{change.old!r} → {change.new!r}" == "'my-public-zone' → nothing"


@settings(max_examples=60, deadline=None)
@given(good_clusters())
def test_a_cluster_rendered_again_has_not_changed(case: tuple[ClusterSnapshot, RenderSettings]) -> None:
    cluster, platform = case
    old = render(cluster, platform, infra_id=None).manifest
    assert immutable_changes(old, render(cluster, platform, infra_id=old["spec"]["infraID"]).manifest) == []
