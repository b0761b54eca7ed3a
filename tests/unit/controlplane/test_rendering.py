"""From a cluster to its HostedCluster: the smallest and the fullest object, and each place a value can come from."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from controlplane_adapter.hostedcluster.model import ABSENT, value_at
from controlplane_adapter.hostedcluster.rendering import RenderSettings, derived_infra_id, render
from controlplane_adapter.hostedcluster.validation.cluster import cluster_problems
from shared.model.snapshot import ClusterSnapshot
from tests.support.cluster_specs import (
    CLUSTER_ID,
    EMAILS,
    FULL_ADAPTERS,
    FULL_SETTINGS,
    FULL_SPEC,
    REMOVED,
    SETTINGS,
    email,
    good_clusters,
    snapshot,
)

PROPERTY = settings(max_examples=60, deadline=None)
IDENTITY = "spec.platform.gcp.workloadIdentity"
ROUTES = """
- {service: APIServer, servicePublishingStrategy: {type: Route}}
- {service: OAuthServer, servicePublishingStrategy: {type: Route}}
- {service: Konnectivity, servicePublishingStrategy: {type: Route}}
- {service: Ignition, servicePublishingStrategy: {type: Route}}
"""
GCP = """
project: my-project-123
region: us-central1
networkConfig: {network: {name: my-vpc}, privateServiceConnectSubnet: {name: my-subnet}}
workloadIdentity:
  projectNumber: "123456789012"
  poolID: my-pool
  providerID: my-provider
  serviceAccountsEmails:
    nodePool: nodepool@my-project-123.iam.gserviceaccount.com
    controlPlane: ctrlplane@my-project-123.iam.gserviceaccount.com
    cloudController: cloudctl@my-project-123.iam.gserviceaccount.com
    storage: pdcsidrv@my-project-123.iam.gserviceaccount.com
    imageRegistry: registry@my-project-123.iam.gserviceaccount.com
    network: cloudnet@my-project-123.iam.gserviceaccount.com
"""
MINIMAL = """
apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata:
  name: minimal
  namespace: clusters
  labels: {hyperfleet.io/cluster-id: 019466a0-8f8e-7abc-9def-0123456789ab}
  annotations: {hyperfleet.io/generation: "1"}
spec:
  clusterID: 019466a0-8f8e-7abc-9def-0123456789ab
  infraID: hf-4poypp7u
  release: {image: "quay.io/openshift-release-dev/ocp-release:4.22.0-multi"}
  pullSecret: {name: minimal-pull-secret}
  platform: {type: GCP}
"""
FULL = """
apiVersion: hypershift.openshift.io/v1beta1
kind: HostedCluster
metadata:
  name: demo
  namespace: clusters
  labels: {hyperfleet.io/cluster-id: 019466a0-8f8e-7abc-9def-0123456789ab}
  annotations:
    hypershift.openshift.io/pod-security-admission-label-override: baseline
    hypershift.openshift.io/cleanup-cloud-resources: "true"
    hypershift.openshift.io/destroy-grace-period: 300s
    hyperfleet.io/generation: "7"
spec:
  clusterID: 019466a0-8f8e-7abc-9def-0123456789ab
  infraID: demo-x7k2p
  channel: stable-4.22
  release: {image: "quay.io/openshift-release-dev/ocp-release:4.22.0-multi"}
  pullSecret: {name: demo-pull-secret}
  sshKey: {name: demo-ssh-key}
  issuerURL: https://oidc.example.com/demo-x7k2p
  serviceAccountSigningKey: {name: demo-sa-signing-key}
  secretEncryption: {type: aescbc, aescbc: {activeKey: {name: demo-etcd-encryption-key}}}
  controllerAvailabilityPolicy: HighlyAvailable
  infrastructureAvailabilityPolicy: HighlyAvailable
  olmCatalogPlacement: management
  configuration: {featureGate: {featureSet: TechPreviewNoUpgrade}}
  dns: {baseDomain: gcp.example.com, publicZoneID: my-public-zone}
  etcd:
    managementType: Managed
    managed: {storage: {type: PersistentVolume, persistentVolume: {size: 8Gi, storageClassName: premium-rwo}}}
  networking:
    networkType: OVNKubernetes
    clusterNetwork: [{cidr: 10.132.0.0/14, hostPrefix: 23}]
    serviceNetwork: [{cidr: 172.31.0.0/16}]
    machineNetwork: [{cidr: 10.0.0.0/16}]
  platform:
    type: GCP
    gcp:
      endpointAccess: PublicAndPrivate
      resourceLabels:
      - {key: hyperfleet-cluster-id, value: c-019466a0-8f8e-7abc-9def-0123456789ab}
      - {key: managed-by, value: hyperfleet}
  services:
  - {service: APIServer, servicePublishingStrategy: {type: Route, route: {hostname: api-demo.gcp.example.com}}}
  - {service: OAuthServer, servicePublishingStrategy: {type: Route, route: {hostname: oauth-demo.gcp.example.com}}}
  - {service: Konnectivity, servicePublishingStrategy: {type: Route}}
  - {service: Ignition, servicePublishingStrategy: {type: Route}}
"""
# A platform that decides nothing but where the pull secret is.
SILENT = RenderSettings(
    annotations={},
    pull_secret="{name}-pull-secret",
    cluster_id_label="",
    resource_labels={},
    controller_availability_policy="",
    infrastructure_availability_policy="",
    feature_set="",
    network_type="",
    cluster_network_cidr="",
    service_network_cidr="",
)


def found(path: str, changes: dict[str, Any] | None = None, platform: RenderSettings = SETTINGS, **more: Any) -> Any:
    """What stands at `path` of the HostedCluster of the good cluster with these changes."""
    return value_at(render(snapshot(changes, **more), platform, infra_id=None).manifest, path)


def test_the_smallest_cluster_becomes_the_smallest_object() -> None:
    expected = yaml.safe_load(MINIMAL)
    expected["spec"]["services"] = yaml.safe_load(ROUTES)
    expected["spec"]["platform"]["gcp"] = yaml.safe_load(GCP)
    assert render(snapshot(name="minimal"), SILENT, infra_id=None).manifest == expected


def test_the_fullest_cluster_becomes_the_fullest_object() -> None:
    expected = yaml.safe_load(FULL)
    expected["spec"]["platform"]["gcp"] |= yaml.safe_load(GCP)
    cluster = snapshot(FULL_SPEC, generation=7, adapters=FULL_ADAPTERS)
    rendered = render(cluster, FULL_SETTINGS, infra_id="demo-x7k2p")
    assert rendered.manifest == expected
    assert cluster_problems(cluster, rendered, FULL_SETTINGS) == []


@pytest.mark.parametrize(
    ("version", "image"),
    [
        ("4.22.0", "quay.io/openshift-release-dev/ocp-release:4.22.0-multi"),
        ("4.23.0-rc.1", "quay.io/openshift-release-dev/ocp-release:4.23.0-rc.1-multi"),
        ("4.22.0-x86_64", "quay.io/openshift-release-dev/ocp-release:4.22.0-x86_64"),
    ],
)
def test_the_release_image_follows_from_the_version(version: str, image: str) -> None:
    assert found("spec.release.image", {"openshift_version": version}) == image


def test_the_repository_and_the_architecture_are_the_platforms() -> None:
    platform = RenderSettings(release_repository="mirror.example.com/ocp", arch_suffix="-aarch64")
    assert found("spec.release.image", platform=platform) == "mirror.example.com/ocp:4.22.0-aarch64"


def test_a_whole_image_wins_over_the_version() -> None:
    assert found("spec.release.image", {"release_image": "r.example.com/x@sha256:00"}) == "r.example.com/x@sha256:00"


@pytest.mark.parametrize(
    ("number", "text"), [(123456789012, "123456789012"), ("0123", "0123"), (12.0, "12"), (10**24, "1" + "0" * 24)]
)
def test_the_project_number_is_always_text(number: Any, text: str) -> None:
    assert found(f"{IDENTITY}.projectNumber", {"gcp_project_number": number}) == text


@pytest.mark.parametrize(
    ("value", "cidrs"),
    [
        ("10.0.0.0/16", [{"cidr": "10.0.0.0/16"}]),
        (["10.0.0.0/16"], [{"cidr": "10.0.0.0/16"}]),
        (["10.0.0.0/16", "fd01::/48"], [{"cidr": "10.0.0.0/16"}, {"cidr": "fd01::/48"}]),
        ("", ABSENT),
        ([], ABSENT),
        (None, ABSENT),
    ],
)
def test_a_network_is_one_range_or_a_list(value: Any, cidrs: Any) -> None:
    assert found("spec.networking.machineNetwork", {"machine_network_cidr": value}) == cidrs


@pytest.mark.parametrize(
    ("prefix", "lengths"), [(23, [23, 23]), ([23, 64], [23, 64]), ([23], [23, None]), (None, [None, None])]
)
def test_a_nodes_share_is_one_for_all_ranges_or_one_for_each(prefix: Any, lengths: list[int | None]) -> None:
    spec = {"cluster_network_cidr": ["10.0.0.0/16", "fd01::/48"], "cluster_network_host_prefix": prefix}
    assert [each.get("hostPrefix") for each in found("spec.networking.clusterNetwork", spec)] == lengths


def test_networks_of_the_platform_stand_in_for_those_of_the_cluster() -> None:
    platform = RenderSettings(machine_network_cidr=("10.0.0.0/16", "fd03::/64"))
    assert found("spec.networking.machineNetwork", platform=platform) == [
        {"cidr": "10.0.0.0/16"},
        {"cidr": "fd03::/64"},
    ]
    assert found("spec.networking.clusterNetwork", platform=platform) == [{"cidr": "10.132.0.0/14"}]


def test_e_mails_come_one_by_one_or_as_a_map_of_roles() -> None:
    together = {"controlPlane": email("ctrlplane"), "nodePool": email("nodepool")}
    apart = {"control_plane_sa_email": REMOVED, "nodepool_sa_email": ""}
    mixed = {"service_account_emails": together, **apart}
    assert found(f"{IDENTITY}.serviceAccountsEmails", mixed) == found(f"{IDENTITY}.serviceAccountsEmails")


def test_a_role_of_tomorrow_is_a_setting() -> None:
    roles = {**RenderSettings().service_account_roles, "backup": "backup_sa_email"}
    platform = replace(SETTINGS, service_account_roles=roles)
    spec = {"backup_sa_email": email("backup-sa")}
    assert found(f"{IDENTITY}.serviceAccountsEmails.backup", spec, platform) == email("backup-sa")
    rendered = render(snapshot(), platform, infra_id=None)
    assert [each.path for each in cluster_problems(snapshot(), rendered, platform)] == ["spec.backup_sa_email"]


@pytest.mark.parametrize("access", ["Private", "", None])
def test_a_private_endpoint_has_no_host_names(access: str | None) -> None:
    assert found("spec.services", {"endpoint_access": access, "base_domain": "example.com"}) == yaml.safe_load(ROUTES)


def test_the_platform_decides_which_services_have_host_names() -> None:
    platform = RenderSettings(hostname_prefixes={"Ignition": "ign"}, endpoint_access="PublicAndPrivate")
    services = found("spec.services", {"base_domain": "example.com"}, platform)
    assert [value_at(each, "servicePublishingStrategy.route.hostname") for each in services] == [
        *(ABSENT, ABSENT, ABSENT),
        "ign-demo.example.com",
    ]


def test_labels_in_the_cloud_begin_with_the_clusters_id_and_have_each_key_once() -> None:
    spec = {"resource_labels": {"team": "payments", "managed-by": "somebody"}}
    platform = RenderSettings(resource_labels={"managed-by": "hyperfleet", "fleet": "one"})
    assert found("spec.platform.gcp.resourceLabels", spec, platform) == [
        {"key": "cluster-id", "value": f"c-{CLUSTER_ID}"},
        {"key": "managed-by", "value": "somebody"},
        {"key": "fleet", "value": "one"},
        {"key": "team", "value": "payments"},
    ]


FALLBACKS = [
    ("spec.dns.baseDomain", "dns", ("base_domain", "baseDomain"), "base_domain", "base_domain"),
    ("spec.dns.publicZoneID", "dns", ("public_zone_id", "publicZoneId"), "public_zone_id", "public_zone_id"),
    ("spec.dns.privateZoneID", "dns", ("private_zone_id", "privateZoneId"), "private_zone_id", "private_zone_id"),
    ("spec.pullSecret.name", "pullsecret", ("pull_secret_name", "pullSecretName"), "pull_secret_name", "pull_secret"),
]


@pytest.mark.parametrize(("path", "adapter", "names", "own", "setting"), FALLBACKS, ids=[each[0] for each in FALLBACKS])
def test_an_adapters_word_wins_over_the_clusters_and_that_over_the_platforms(
    path: str, adapter: str, names: tuple[str, ...], own: str, setting: str
) -> None:
    platform = RenderSettings(**{setting: "platform"})  # type: ignore[arg-type]  # a setting of text, by its name
    assert found(path, platform=platform) == "platform"
    assert found(path, {own: "cluster"}, platform) == "cluster"
    assert found(path, {own: "cluster"}, platform, adapters={adapter: {names[0]: ""}}) == "cluster"
    for name in names:
        assert found(path, {own: "cluster"}, platform, adapters={adapter: {name: "adapter"}}) == "adapter"


def test_names_of_the_platform_are_filled_with_the_clusters_own() -> None:
    platform = RenderSettings(ssh_key="{name}/{cluster_id}/{infra_id}/{other}")
    assert found("spec.sshKey.name", platform=platform) == f"demo/{CLUSTER_ID}/hf-4poypp7u/{{other}}"
    assert found("spec.sshKey.name", {"ssh_key_secret_name": "{name}"}) == "{name}"


def test_labels_and_annotations_of_the_platform_do_not_hide_ours() -> None:
    ours = {"hyperfleet.io/cluster-id": "x", "hyperfleet.io/generation": "0", "team": "a"}
    platform = RenderSettings(labels=ours, annotations=ours)
    assert found("metadata.labels", platform=platform) == {**ours, "hyperfleet.io/cluster-id": CLUSTER_ID}
    assert found("metadata.annotations", platform=platform) == {**ours, "hyperfleet.io/generation": "1"}


def test_the_infra_id_is_short_and_follows_from_the_id_alone() -> None:
    assert derived_infra_id(CLUSTER_ID) == "hf-4poypp7u"
    assert found("spec.infraID") == "hf-4poypp7u"
    assert render(snapshot(), SETTINGS, infra_id="theirs").manifest["spec"]["infraID"] == "theirs"


def test_every_path_of_the_object_has_an_origin() -> None:
    result = render(snapshot(FULL_SPEC, adapters=FULL_ADAPTERS), FULL_SETTINGS, infra_id=None)
    assert result.origins["spec.platform.gcp.project"] == "spec.gcp_project_id"
    assert result.origins["spec.dns.baseDomain"] == "adapters.dns.base_domain"
    assert result.origins["spec.sshKey.name"] == "HOSTED_CLUSTER_SSH_KEY"
    assert result.origins["spec.networking.clusterNetwork[0].hostPrefix"] == "spec.cluster_network_host_prefix"
    assert result.origins["spec.platform.gcp.resourceLabels[1]"] == "HOSTED_CLUSTER_RESOURCE_LABELS"


def empty_values(document: Any) -> list[Any]:
    children = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    return [each for each in children if each in ("", None, [], {})] + [e for c in children for e in empty_values(c)]


@PROPERTY
@given(good_clusters())
def test_a_good_cluster_has_no_problem_and_leaves_nothing_empty(case: tuple[ClusterSnapshot, RenderSettings]) -> None:
    cluster, platform = case
    rendered = render(cluster, platform, infra_id=None)
    assert cluster_problems(cluster, rendered, platform) == []
    labels = value_at(rendered.manifest, "spec.platform.gcp.resourceLabels")
    kept = [each for each in labels if each["value"] == ""] if labels is not ABSENT else []
    assert len(empty_values(rendered.manifest)) == len(kept)
    assert json.loads(json.dumps(rendered.manifest)) == rendered.manifest


@PROPERTY
@given(good_clusters())
def test_rendering_twice_gives_the_same_and_changes_nothing(case: tuple[ClusterSnapshot, RenderSettings]) -> None:
    cluster, platform = case
    before = copy.deepcopy(cluster)
    first = render(cluster, platform, infra_id=None).manifest
    assert render(cluster, platform, infra_id=None).manifest == first
    assert cluster == before


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(sorted({*FULL_SPEC, "service_account_emails", "resource_labels", "base_domain"})),
        JSON,
        max_size=8,
    )
)
def test_whatever_a_spec_holds_is_rendered_and_judged(spec: dict[str, Any]) -> None:
    cluster = ClusterSnapshot(cluster_id=CLUSTER_ID, name="demo", generation=1, spec={**dict(FULL_SPEC), **spec})
    rendered = render(cluster, SETTINGS, infra_id=None)
    reported = cluster_problems(cluster, rendered, SETTINGS)
    assert {each.path.split(".")[0] for each in reported} <= {"spec", "id", "name"}


def test_the_six_roles_are_the_documented_ones() -> None:
    assert list(RenderSettings().service_account_roles.values()) == list(EMAILS)
