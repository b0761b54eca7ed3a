"""Which BlueField image belongs to a release: the ConfigMap has one per OpenShift version."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_ARCHITECTURE = re.compile(r"(?:-(?:multi|x86_64|amd64|aarch64|arm64|ppc64le|s390x))+$")
_IMAGE = re.compile(
    r"[A-Za-z0-9][-A-Za-z0-9.]*(?::[0-9]+)?(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)+"
    r"(?::[A-Za-z0-9_][-A-Za-z0-9_.]*)?(?:@sha256:[0-9a-f]{64})?"
)
_NUMBERS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Found:
    version: str
    image: str


@dataclass(frozen=True, slots=True)
class Missing:
    """`reason` is the condition's."""

    reason: str
    message: str


def version_of(release_image: str) -> str:
    """The version in a release image's tag, without architectures; empty where the image has no tag."""
    tag = release_image.partition("@")[0].rpartition("/")[2].partition(":")[2]
    return _ARCHITECTURE.sub("", tag)


def find_image(release_image: str, images: Mapping[str, str] | None, where: str) -> Found | Missing:
    """`where` names the ConfigMap in messages."""
    if images is None:
        return Missing("ConfigMapNotFound", f"{where} is not there; install it with the chart's blueFieldImages")
    version = version_of(release_image)
    if not version:
        remedy = "write the tag in front of the digest, as in registry/ocp-release:4.22.0-multi@sha256:..."
        return Missing("VersionUnknown", f"{release_image} names no version; {remedy}")
    image = images.get(version, "").strip()
    if not image:
        known = ", ".join(sorted(images, key=_by_version)) or "none"
        remedy = f"add {version} to the ConfigMap, or use one of these versions"
        return Missing("VersionNotFound", f"{where} has no image for {version}; it has: {known}; {remedy}")
    if not _IMAGE.fullmatch(image):
        return Missing("InvalidImageFormat", f"{where}: {version}: {image!r:.200} is not an image reference")
    return Found(version, image)


def _by_version(version: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _NUMBERS.split(version)]
