"""Which BlueField image belongs to a release."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpu_bridge.plan.images import Found, Missing, find_image, version_of

DIGEST = "@sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("image", "version"),
    [
        pytest.param("r.example.com/ocp:4.22.0-multi", "4.22.0", id="an architecture is no part of the version"),
        pytest.param("r.example.com:5000/ocp:4.22.0-x86_64", "4.22.0", id="a port is no tag"),
        pytest.param("r.example.com/ocp:4.23.0-ec.5-multi-x86_64", "4.23.0-ec.5", id="several architectures"),
        pytest.param(f"r.example.com/ocp:4.22.0-multi{DIGEST}", "4.22.0", id="the tag in front of a digest"),
        pytest.param(f"r.example.com:5000/ocp{DIGEST}", "", id="a digest alone names no version"),
        pytest.param("r.example.com:5000/ocp", "", id="no tag"),
    ],
)
def test_the_version_is_the_tags(image: str, version: str) -> None:
    assert version_of(image) == version


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        pytest.param("  ", "VersionNotFound", id="empty"),
        pytest.param("not an image", "InvalidImageFormat", id="spaces"),
        pytest.param("https://r.example.com/i:1", "InvalidImageFormat", id="a URL"),
        pytest.param("r.example.com/i@sha256:abc", "InvalidImageFormat", id="half a digest"),
    ],
)
def test_what_is_no_image_is_refused(image: str, reason: str) -> None:
    missing = find_image("r/ocp:4.22.0", {"4.22.0": image}, "ConfigMap a/b")
    assert isinstance(missing, Missing)
    assert missing.reason == reason


def test_an_image_may_have_a_digest_and_a_port() -> None:
    image = f"r.example.com:5000/team/blue_field.image:1{DIGEST}"
    assert find_image("r/ocp:4.22.0", {"4.22.0": f" {image}\n"}, "x") == Found("4.22.0", image)


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_whatever_is_in_a_configmap_is_answered(release: str, images: dict[str, str]) -> None:
    assert isinstance(find_image(release, images, "x"), Found | Missing)
