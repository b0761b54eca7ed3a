"""The platform team's overlay: reading it from a file, merging it, and what it may not touch."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane_adapter.hostedcluster.overlay import MAX_BYTES, merge_overlay, read_overlay
from controlplane_adapter.hostedcluster.rendering import render
from controlplane_adapter.hostedcluster.validation.cluster import cluster_problems
from shared.errors import Misconfigured
from tests.support.cluster_specs import SETTINGS, snapshot

MANIFEST = render(snapshot(), SETTINGS, infra_id=None).manifest


def problems(overlay: dict[str, Any]) -> dict[str, str]:
    reported = cluster_problems(snapshot(), render(snapshot(), SETTINGS, infra_id=None, overlay=overlay), SETTINGS)
    return {each.path: each.message for each in reported}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "overlay.yaml"


@pytest.mark.parametrize(
    ("manifest", "overlay", "merged"),
    [
        ({"a": 1}, {}, {"a": 1}),
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": None}, {}),
        ({"a": 1}, {"b": None}, {"a": 1}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}),
        ({"a": {"b": 1}}, {"a": None}, {}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": [1]}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": {"b": 1}}, {"a": [1]}, {"a": [1]}),
        ({}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
        ({}, {"a": {"b": {"c": None}}}, {"a": {"b": {}}}),
        ({"a": 1}, {"a": False}, {"a": False}),
        ({}, {"a": [{"b": None}]}, {"a": [{"b": None}]}),
    ],
)
def test_objects_merge_lists_replace_and_null_removes(
    manifest: dict[str, Any], overlay: dict[str, Any], merged: dict[str, Any]
) -> None:
    assert merge_overlay(manifest, overlay) == merged


OBJECTS = st.recursive(
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 2) | st.none() | st.lists(st.integers(0, 2), max_size=2)),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@given(OBJECTS, OBJECTS)
def test_merging_twice_is_merging_once_and_changes_neither(manifest: dict[str, Any], overlay: dict[str, Any]) -> None:
    kept = copy.deepcopy((manifest, overlay))
    once = merge_overlay(manifest, overlay)
    assert merge_overlay(once, overlay) == once
    assert (manifest, overlay) == kept


@pytest.mark.parametrize(
    ("name", "content", "overlay"),
    [
        ("overlay.yaml", "spec: {fips: true}", {"spec": {"fips": True}}),
        (
            "overlay",
            "spec:\n  autoscaling: {scaling: ScaleUpOnly}\n",
            {"spec": {"autoscaling": {"scaling": "ScaleUpOnly"}}},
        ),
        ("overlay.json", '{"spec": {"fips": true}}', {"spec": {"fips": True}}),
        ("overlay.yaml", '{"spec": {"fips": null}}', {"spec": {"fips": None}}),
        ("overlay.yaml", "", {}),
        ("overlay.yaml", "# nothing yet\n", {}),
    ],
)
def test_an_overlay_is_read_from_yaml_or_json(tmp_path: Path, name: str, content: str, overlay: Any) -> None:
    (tmp_path / name).write_text(content)
    assert read_overlay(tmp_path / name) == overlay


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        (b"spec: {", "is not YAML"),
        (b"- spec", "must be an object, not list"),
        (b"hello", "must be an object, not str"),
        (b"status: {}", "status: is not one of apiVersion, kind, metadata, spec"),
        (b"specs: {}\nkinds: x", "kinds: is not one of"),
        (b"1: {}", "must have strings as keys; quote 1"),
        (b"spec: {pausedUntil: 2026-01-02T03:04:05Z}", "spec.pausedUntil: must be a JSON value; quote"),
        (b"spec: {a: [1, 2026-01-02]}", r"spec.a\[1\]: must be a JSON value"),
        (b"spec: {a: .nan}", "spec.a: must be a finite number, not nan"),
        (b"spec: !!set {a, b}", "reads as a set"),
        (b"spec: !!python/object/apply:os.getpid []", "is not YAML"),
        (b"spec: &a [*a]", "at most 20000 values"),
        (b"spec: \xff", "is not YAML"),
        (b"#" * (MAX_BYTES + 1), "is too large"),
        (b"spec: " + b"{a: " * 40 + b"1" + b"}" * 40, "at most 32 levels"),
    ],
)
def test_a_file_that_is_no_overlay_is_refused_with_the_reason(file: Path, content: bytes, reported: str) -> None:
    file.write_bytes(content)
    with pytest.raises(Misconfigured, match=reported):
        read_overlay(file)


def test_a_file_that_grows_out_of_itself_is_refused(file: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{each}: &a{each} [{', '.join([f'*a{each - 1}'] * 10)}]" for each in range(1, 12)]
    file.write_text("\n".join(lines))
    with pytest.raises(Misconfigured, match="at most"):
        read_overlay(file)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("overlay.json", b'{"spec": ' + b"[" * 100_000),
        ("overlay.yaml", b"spec: " + b"[" * 5_000),
        ("overlay.json", b'{"spec": ' + b"9" * 5000 + b"}"),
        ("overlay.yaml", b"spec: " + b"9" * 5000),
        ("overlay.yaml", b"spec: 2026-13-45"),
        ("overlay.json", b'{"spec": "\xff"}'),
        ("overlay.yaml", b"spec: \xff"),
    ],
    ids=[
        "nested JSON",
        "nested YAML",
        "long number",
        "long number in YAML",
        "no date",
        "no UTF-8",
        "YAML not in UTF-8",
    ],
)
def test_an_overlay_that_python_cannot_read_is_refused_in_words_of_ours(
    tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)

    with pytest.raises(Misconfigured) as caught:
        read_overlay(tmp_path / name)

    for foreign in ("recursion", "codec", "set_int_max", "month", "digits)"):
        assert foreign not in str(caught.value)


def test_bad_json_and_a_missing_file_are_reported(tmp_path: Path) -> None:
    (tmp_path / "overlay.json").write_text("{")
    with pytest.raises(Misconfigured, match="is not JSON"):
        read_overlay(tmp_path / "overlay.json")
    with pytest.raises(Misconfigured, match="cannot be read: No such file"):
        read_overlay(tmp_path / "absent.yaml")


@pytest.mark.parametrize(
    ("overlay", "path"),
    [
        ({"kind": "NodePool"}, "overlay.kind"),
        ({"metadata": {"name": "other"}}, "overlay.metadata.name"),
        ({"metadata": {"namespace": "other"}}, "overlay.metadata.namespace"),
        ({"metadata": {"labels": {"hyperfleet.io/cluster-id": None}}}, "overlay.metadata.labels"),
        ({"metadata": {"annotations": {"hyperfleet.io/generation": "9"}}}, "overlay.metadata.annotations"),
        ({"metadata": {"annotations": None}}, "overlay.metadata.annotations"),
        ({"spec": {"clusterID": None}}, "overlay.spec.clusterID"),
        ({"status": {}}, "overlay.status"),
    ],
)
def test_what_identifies_the_cluster_stays(overlay: dict[str, Any], path: str) -> None:
    assert path in problems(overlay)


@pytest.mark.parametrize(
    ("overlay", "path"),
    [
        ({"spec": {"platform": {"gcp": {"region": "nowhere"}}}}, "overlay.spec.platform.gcp.region"),
        ({"spec": {"platform": {"gcp": {"project": None}}}}, "overlay.spec.platform.gcp.project"),
        ({"spec": {"services": []}}, "overlay.spec.services"),
        ({"spec": {"pullSecret": None}}, "overlay.spec.pullSecret.name"),
        ({"spec": {"kubeAPIServerDNSName": "@foo"}}, "overlay.spec.kubeAPIServerDNSName"),
        ({"spec": {"etcd": {"managementType": "Unmanaged"}}}, "overlay.spec.etcd.unmanaged"),
        ({"spec": {"platform": {"type": "AWS"}}}, "overlay.spec.platform.gcp"),
        (
            {"metadata": {"annotations": {"hypershift.openshift.io/destroy-grace-period": "soon"}}},
            "overlay.metadata.annotations",
        ),
    ],
)
def test_what_an_overlay_breaks_is_reported_of_the_overlay(overlay: dict[str, Any], path: str) -> None:
    assert path in problems(overlay)


def test_an_overlay_that_only_adds_is_no_problem() -> None:
    overlay = {
        "metadata": {"labels": {"team": "a"}, "annotations": {"example.com/x": "y"}},
        "spec": {"autoscaling": {"scaling": "ScaleUpOnly"}, "nodeSelector": {"zone": "a"}, "channel": "fast-4.22"},
    }
    assert problems(overlay) == {}


@pytest.mark.parametrize(
    ("overlay", "path", "message"),
    [
        ({"spec": {"platform": "GCP"}}, "overlay.spec.platform", "must be an object"),
        ({"spec": {"platform": {"gcp": ["x"]}}}, "overlay.spec.platform.gcp", "must be an object"),
        ({"spec": {"services": {"APIServer": {}}}}, "overlay.spec.services", "must be a list"),
        ({"spec": {"release": {"image": 7}}}, "overlay.spec.release.image", "must be a string, as the value that it replaces, not a number"),
        ({"spec": {"capabilities": []}}, "overlay.spec.capabilities", "must be an object"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_than_the_one_it_replaces_is_refused(
    overlay: dict[str, Any], path: str, message: str
) -> None:
    assert message in problems(overlay)[path]


@pytest.mark.parametrize(
    ("overlay", "path"),
    [
        ({"spec": {"networking": {"serviceNetwork": [{"cidr": "10.132.0.0/20"}]}}}, "serviceNetwork[0].cidr"),
        ({"spec": {"networking": {"clusterNetwork": [{"cidr": "172.31.0.0/18"}]}}}, "clusterNetwork[0].cidr"),
    ],
)
def test_an_overlap_that_an_overlay_causes_is_blamed_on_it(overlay: dict[str, Any], path: str) -> None:
    assert "overlaps" in problems(overlay)[f"overlay.spec.networking.{path}"]


def test_an_overlay_may_remove_and_add_what_it_likes_within_the_types() -> None:
    overlay = {"spec": {"channel": None, "tolerations": [{"key": "x"}], "networking": {"networkType": "OVNKubernetes"}}}

    assert problems(overlay) == {}
