"""Versions of OpenShift: reading them from tags, and what going from one to another is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane_adapter.hostedcluster.versions import (
    OpenShiftVersion,
    UpgradeKind,
    names_architecture,
    of_image,
    parse,
    tag_of,
    upgrade_kind,
)

REPOSITORY = "quay.io/openshift-release-dev/ocp-release"
DIGEST = f"{REPOSITORY}@sha256:{'a' * 64}"


def image(tag: str, repository: str = REPOSITORY) -> str:
    return f"{repository}:{tag}"


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("4.22.0", OpenShiftVersion(4, 22, 0)),
        ("v4.22.13", OpenShiftVersion(4, 22, 13)),
        ("4.22.0-multi", OpenShiftVersion(4, 22, 0)),
        ("4.22.0-multi-x86_64", OpenShiftVersion(4, 22, 0)),
        ("4.23.0-rc.1", OpenShiftVersion(4, 23, 0, "rc.1")),
        ("4.23.0-ec.3-aarch64", OpenShiftVersion(4, 23, 0, "ec.3")),
        ("5.0.0-0.nightly-2026-08-01-120000", OpenShiftVersion(5, 0, 0, "0.nightly-2026-08-01-120000")),
        ("4.22", None),
        ("4.22.0.1", None),
        ("4.22.x", None),
        ("04.22.0", None),
        ("4.22.0-", None),
        ("4.22.0-rc..1", None),
        ("4.22.0\n", None),
        ("٤.22.0", None),
        ("latest", None),
        ("", None),
        ("4.99999999999.0", None),
    ],
)
def test_a_version_is_read_from_text(text: str, version: OpenShiftVersion | None) -> None:
    assert parse(text) == version


@pytest.mark.parametrize(
    ("reference", "tag"),
    [
        (image("4.22.0-multi"), "4.22.0-multi"),
        (image("4.22.0-multi", "registry.example.com:5000/release"), "4.22.0-multi"),
        ("registry.example.com:5000/release", ""),
        (f"{image('4.22.0-multi')}@sha256:{'a' * 64}", "4.22.0-multi"),
        (DIGEST, ""),
        (REPOSITORY, ""),
        ("", ""),
    ],
)
def test_the_tag_of_an_image_is_not_the_port_of_its_registry(reference: str, tag: str) -> None:
    assert tag_of(reference) == tag


@pytest.mark.parametrize(
    ("tag", "named"),
    [("4.22.0-multi", True), ("4.22.0-s390x", True), ("4.22.0", False), ("4.22.0-rc.1", False), ("multi", False)],
)
def test_an_architecture_is_seen_at_the_end_of_a_tag(tag: str, named: bool) -> None:  # noqa: FBT001 - a column of the table
    assert names_architecture(tag) is named


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("4.22.0-multi", "4.22.0-multi", UpgradeKind.SAME),
        ("4.22.0-multi", "4.22.0-x86_64", UpgradeKind.REPLACEMENT),
        ("4.22.0-multi", "4.22.9-multi", UpgradeKind.PATCH),
        ("4.22.9-multi", "4.22.10-multi", UpgradeKind.PATCH),
        ("4.22.0-rc.2-multi", "4.22.0-multi", UpgradeKind.PATCH),
        ("4.22.0-rc.2-multi", "4.22.0-rc.10-multi", UpgradeKind.PATCH),
        ("4.22.0-ec.5-multi", "4.22.0-rc.0-multi", UpgradeKind.PATCH),
        ("4.22.9-multi", "4.22.8-multi", UpgradeKind.PATCH_DOWNGRADE),
        ("4.22.0-multi", "4.22.0-rc.2-multi", UpgradeKind.PATCH_DOWNGRADE),
        ("4.21.30-multi", "4.22.0-multi", UpgradeKind.MINOR),
        ("4.22.0-multi", "4.24.0-multi", UpgradeKind.MINOR),
        ("4.22.0-multi", "4.23.0-rc.1-multi", UpgradeKind.MINOR),
        ("4.22.0-multi", "4.21.30-multi", UpgradeKind.MINOR_DOWNGRADE),
        ("4.22.5-multi", "5.0.0-multi", UpgradeKind.MINOR),
        ("4.23.5-multi", "5.0.0-multi", UpgradeKind.PATCH),
        ("5.0.0-multi", "4.23.5-multi", UpgradeKind.PATCH_DOWNGRADE),
        ("5.0.0-multi", "4.22.5-multi", UpgradeKind.MINOR_DOWNGRADE),
        ("5.0.0-multi", "5.1.0-multi", UpgradeKind.MINOR),
        ("latest", "4.22.0-multi", UpgradeKind.UNKNOWN),
        ("4.22.0-multi", "latest", UpgradeKind.UNKNOWN),
        ("latest", "latest", UpgradeKind.SAME),
    ],
)
def test_what_a_change_of_the_image_is(old: str, new: str, kind: UpgradeKind) -> None:
    assert upgrade_kind(image(old), image(new)) is kind


def test_a_digest_shows_no_version() -> None:
    assert of_image(DIGEST) is None
    assert upgrade_kind(DIGEST, DIGEST) is UpgradeKind.SAME
    assert upgrade_kind(DIGEST, image("4.22.0-multi")) is UpgradeKind.UNKNOWN


def test_a_mirror_of_the_same_version_is_a_replacement() -> None:
    assert (
        upgrade_kind(image("4.22.0-multi"), image("4.22.0-multi", "mirror.example.com/ocp")) is UpgradeKind.REPLACEMENT
    )


VERSIONS = st.builds(
    OpenShiftVersion,
    st.sampled_from([4, 5]),
    st.integers(0, 30),
    st.integers(0, 30),
    st.sampled_from(["", "rc.1", "rc.10", "ec.2", "0.nightly-2026-08-01-120000"]),
)
BACK = {
    UpgradeKind.PATCH: UpgradeKind.PATCH_DOWNGRADE,
    UpgradeKind.MINOR: UpgradeKind.MINOR_DOWNGRADE,
    UpgradeKind.SAME: UpgradeKind.SAME,
}


@given(VERSIONS)
def test_a_version_is_read_back_from_its_text(version: OpenShiftVersion) -> None:
    assert parse(str(version)) == version


@given(VERSIONS, VERSIONS)
def test_the_way_back_from_an_upgrade_is_a_downgrade(old: OpenShiftVersion, new: OpenShiftVersion) -> None:
    there, back = upgrade_kind(image(str(old)), image(str(new))), upgrade_kind(image(str(new)), image(str(old)))
    assert BACK.get(there) == back or BACK.get(back) == there
