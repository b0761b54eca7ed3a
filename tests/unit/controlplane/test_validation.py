"""What is wrong with a cluster: every named bad spec by its field, all at once, and what no spec can bring about."""

import copy
from typing import Any

import pytest

from controlplane_adapter.hostedcluster.model import ABSENT, enclosing, place, value_at
from controlplane_adapter.hostedcluster.rendering import RenderSettings, render
from controlplane_adapter.hostedcluster.validation.cluster import cluster_problems, manifest_problems
from shared.errors import Problem
from tests.support.cluster_specs import BAD_SPECS, EMAILS, REMOVED, SETTINGS, SPEC, BadSpec, snapshot

GOOD = render(snapshot({"machine_network_cidr": "10.0.0.0/16"}), SETTINGS, infra_id=None).manifest
SERVICES = GOOD["spec"]["services"]
LABELS = "spec.platform.gcp.resourceLabels"


def problems(changes: dict[str, Any], platform: RenderSettings = SETTINGS) -> list[Problem]:
    cluster = snapshot(changes)
    return cluster_problems(cluster, render(cluster, platform, infra_id=None), platform)


def paths_with(path: str, value: Any) -> set[str]:
    """The paths of all that is wrong with the good object once `value` stands at `path`."""
    manifest = copy.deepcopy(GOOD)
    place(manifest, path, value)
    if value is ABSENT:
        parent, _, name = path.rpartition(".")
        del value_at(manifest, parent)[name]
    return {each.path for each in manifest_problems(manifest)}


def service(kind: str, **strategy: Any) -> dict[str, Any]:
    return {"service": kind, "servicePublishingStrategy": {"type": "Route", **strategy}}


def test_there_are_enough_bad_specs_each_with_a_name_of_its_own() -> None:
    assert len({bad.title for bad in BAD_SPECS}) == len(BAD_SPECS) >= 60


def test_the_good_cluster_has_no_problem() -> None:
    assert problems({}) == []
    assert manifest_problems(GOOD) == []


@pytest.mark.parametrize("bad", BAD_SPECS, ids=lambda bad: bad.title)
def test_a_bad_spec_is_refused_by_its_field_and_no_other(bad: BadSpec) -> None:
    rendered = render(bad.snapshot, bad.settings, infra_id=None)
    assert {each.path for each in cluster_problems(bad.snapshot, rendered, bad.settings)} == {bad.field}


def test_all_problems_are_reported_at_once() -> None:
    reported = problems(dict.fromkeys(SPEC, REMOVED))
    assert {each.path for each in reported} == {f"spec.{name}" for name in SPEC}
    assert len(reported) == len(SPEC)


def test_a_problem_says_what_is_allowed_and_what_was_there() -> None:
    (reported,) = problems({"gcp_region": "us-central1-a"})
    assert str(reported) == "spec.gcp_region: must be a region such as us-central1, not a zone, not 'us-central1-a'"


def test_a_missing_value_says_what_it_should_be() -> None:
    (reported,) = problems({"wif_pool_id": ""})
    assert reported.message.startswith("is required: 4-32 lower-case letters")


def test_a_wrong_project_is_not_reported_again_by_each_account() -> None:
    assert len(problems({"gcp_project_id": "NO"})) == 1
    others = problems({"gcp_project_id": "other-project"})
    assert {each.path for each in others} == {f"spec.{name}" for name in EMAILS}


def test_a_long_wrong_value_does_not_fill_the_report() -> None:
    (reported,) = problems({"base_domain": "x" * 100_000})
    assert len(str(reported)) < 300


@pytest.mark.parametrize(
    ("platform", "path"),
    [
        (RenderSettings(), "spec.pull_secret_name"),
        (RenderSettings(pull_secret="Not-A-Name"), "HOSTED_CLUSTER_PULL_SECRET"),
        (RenderSettings(pull_secret="s", namespace="Clusters"), "HOSTED_CLUSTER_NAMESPACE"),
        (RenderSettings(pull_secret="s", ssh_key="{unknown}"), "HOSTED_CLUSTER_SSH_KEY"),
        (RenderSettings(pull_secret="s", arch_suffix=""), "spec.openshift_version"),
        (RenderSettings(pull_secret="s", network_type="None"), "HOSTED_CLUSTER_NETWORK_TYPE"),
        (RenderSettings(pull_secret="s", cluster_network_cidr="10.0.0.1/8"), "HOSTED_CLUSTER_CLUSTER_NETWORK_CIDR"),
        (RenderSettings(pull_secret="s", resource_labels={"Team": "a"}), "HOSTED_CLUSTER_RESOURCE_LABELS"),
        (
            RenderSettings(pull_secret="s", annotations={"hypershift.openshift.io/destroy-grace-period": "5"}),
            "HOSTED_CLUSTER_ANNOTATIONS",
        ),
        (RenderSettings(pull_secret="s", issuer_url="{name}"), "HOSTED_CLUSTER_ISSUER_URL"),
    ],
)
def test_what_the_platform_decided_is_reported_of_its_settings(platform: RenderSettings, path: str) -> None:
    assert {each.path for each in problems({}, platform)} == {path}


def test_a_mirror_may_have_tags_without_an_architecture() -> None:
    platform = RenderSettings(pull_secret="s", release_repository="mirror.example.com/ocp", arch_suffix="")
    assert problems({}, platform) == []


@pytest.mark.parametrize(
    ("path", "value", "reported"),
    [
        ("spec.platform.gcp", ABSENT, "spec.platform.gcp.project"),
        ("spec.platform", "GCP", "spec.platform.type"),
        ("spec.platform.type", "AWS", "spec.platform.gcp"),
        ("spec.networking.clusterNetwork", [], "spec.networking.clusterNetwork"),
        ("spec.networking.clusterNetwork", "10.0.0.0/8", "spec.networking.clusterNetwork"),
        ("spec.networking.clusterNetwork", ["10.0.0.0/8"], "spec.networking.clusterNetwork[0].cidr"),
        ("spec.networking.machineNetwork", [{"cidr": "10.133.0.0/16"}], "spec.networking.machineNetwork[0].cidr"),
        ("spec.networking.allocateNodeCIDRs", "Enabled", "spec.networking.allocateNodeCIDRs"),
        ("spec.services", ABSENT, "spec.services"),
        ("spec.services", [*SERVICES[:3], SERVICES[0]], "spec.services"),
        ("spec.services", [*SERVICES, service("OIDC"), service("OVNSbDb"), service("OIDC")], "spec.services"),
        ("spec.services", [*SERVICES, service("Else")], "spec.services[4].service"),
        ("spec.services", [*SERVICES, "OIDC"], "spec.services[4].service"),
        ("spec.services", [service("APIServer", type="LoadBalancer"), *SERVICES[1:]], "spec.services[0].servicePublishingStrategy.type"),
        ("spec.services", [service("APIServer", route={"hostname": "api"}), *SERVICES[1:]], "spec.services[0].servicePublishingStrategy.route.hostname"),
        ("spec.services", [service(each["service"], route={"hostname": "a.example.com"}) for each in SERVICES], "spec.services[1]"),
        (LABELS, [], LABELS),
        (LABELS, [{"key": "a", "value": ""}, {"key": "a", "value": "b"}], f"{LABELS}[0].key"),
        (LABELS, ["a"], f"{LABELS}[0].key"),
        (LABELS, [{"key": "a"}], f"{LABELS}[0].value"),
        ("spec.secretEncryption", {"type": "kms", "kms": {}}, "spec.secretEncryption.type"),
        ("spec.secretEncryption", {"aescbc": {"activeKey": {"name": "k"}}}, "spec.secretEncryption.type"),
        ("spec.secretEncryption", {"type": "aescbc"}, "spec.secretEncryption.aescbc.activeKey.name"),
        ("spec.etcd", {"managementType": "Managed"}, "spec.etcd.managed"),
        ("spec.dns", {"publicZoneID": "z"}, "spec.dns.baseDomain"),
        ("spec.labels", {f"l{index}": "" for index in range(21)}, "spec.labels"),
        ("spec.release.image", "quay.io/openshift-release-dev/ocp-release", "spec.release.image"),
        ("spec.release", ABSENT, "spec.release.image"),
        ("metadata.name", ABSENT, "metadata.name"),
    ],
)  # fmt: skip
def test_what_no_spec_can_bring_about_is_seen_in_the_object(path: str, value: Any, reported: str) -> None:
    assert reported in paths_with(path, value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.networking", {}),
        ("spec.networking.machineNetwork", ABSENT),
        ("spec.networking.apiServer", {"advertiseAddress": "192.0.2.1"}),
        ("spec.services", [*SERVICES, service("OIDC", type="None")]),
        ("spec.etcd", {"managementType": "Unmanaged", "unmanaged": {"endpoint": "https://etcd.example.com:2379"}}),
        ("spec.secretEncryption", {"type": "aescbc", "aescbc": {"activeKey": {"name": "key"}}}),
        ("spec.release.image", f"quay.io/openshift-release-dev/ocp-release@sha256:{'0' * 64}"),
        ("spec.release.image", "quay.io/openshift-release-dev/ocp-release-nightly:4.22.0-0.nightly-2026-08-01-120000-x86_64"),
        ("spec.autoscaling", {"scaling": "ScaleUpOnly"}),
        ("metadata.annotations", {"hypershift.openshift.io/destroy-grace-period": "1h30m0.5s"}),
    ],
)  # fmt: skip
def test_what_is_unusual_but_good_is_no_problem(path: str, value: Any) -> None:
    assert paths_with(path, value) == set()


def test_an_advertised_address_of_ones_own_frees_the_usual_one() -> None:
    manifest = copy.deepcopy(GOOD)
    place(manifest, "spec.networking.clusterNetwork", [{"cidr": "172.16.0.0/13"}])
    assert manifest_problems(manifest)
    place(manifest, "spec.networking.apiServer.advertiseAddress", "192.0.2.1")
    assert manifest_problems(manifest) == []


def test_ovns_own_ranges_are_free_where_another_network_is_used_or_its_settings_are_given() -> None:
    manifest = copy.deepcopy(GOOD)
    place(manifest, "spec.networking.machineNetwork", [{"cidr": "100.64.0.0/16"}])
    assert manifest_problems(manifest)
    place(manifest, "spec.networking.networkType", "Calico")
    assert manifest_problems(manifest) == []


def test_both_families_everywhere_are_good() -> None:
    both = {
        "cluster_network_cidr": ["10.132.0.0/14", "fd01::/48"],
        "service_network_cidr": ["172.31.0.0/16", "fd02::/112"],
        "machine_network_cidr": ["10.0.0.0/16", "fd03::/64"],
        "cluster_network_host_prefix": [23, 64],
    }
    assert problems(both) == []


@pytest.mark.parametrize("cidr", ["172.28.0.0/14", "fd01::/48"], ids=["overlap", "family"])
def test_a_network_of_the_cluster_is_to_blame_when_it_clashes_with_one_of_the_platform(cidr: str) -> None:
    assert {each.path for each in problems({"cluster_network_cidr": cidr})} == {"spec.cluster_network_cidr"}


def test_two_roles_may_be_given_apart_and_together_when_they_say_the_same() -> None:
    assert problems({"service_account_emails": {"storage": EMAILS["storage_sa_email"]}}) == []


@pytest.mark.parametrize("manifest", [{}, {"spec": None}, {"spec": []}, {"spec": {"services": {}}}, {"metadata": "x"}])
def test_nonsense_is_refused_and_breaks_nothing(manifest: dict[str, Any]) -> None:
    assert manifest_problems(manifest)


def test_paths_are_found_and_enclosed_step_by_step() -> None:
    document = {"a": {"b": [{"c": None}]}}
    assert value_at(document, "a.b[0].c") is None
    assert [value_at(document, path) for path in ("a.x", "a.b[1]", "a[0]", "a.b.c", "a.b[0].c.d")] == [ABSENT] * 5
    assert enclosing("a.b[0].c") == ["a.b[0].c", "a.b[0]", "a.b", "a"]
