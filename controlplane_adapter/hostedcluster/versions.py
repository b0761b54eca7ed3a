"""What a change of the release image is: an upgrade, a downgrade, or unknown.

The version is read from the image's tag, because nothing else of an image is visible without pulling it. HyperShift
counts OpenShift 5.0 as 4.23, so a change between these two is not a minor upgrade.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

ARCHITECTURES = ("multi", "x86_64", "amd64", "aarch64", "arm64", "ppc64le", "s390x")

_MINOR_OF_5_0 = 23
_ARCHITECTURE_SUFFIX = re.compile(rf"(?:-(?:{'|'.join(ARCHITECTURES)}))+$")
_VERSION = re.compile(
    r"v?(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?"
)


class UpgradeKind(StrEnum):
    SAME = "same"  # the very same image
    REPLACEMENT = "replacement"  # another image of the same version: a mirror, an architecture
    PATCH = "patch"
    MINOR = "minor"
    PATCH_DOWNGRADE = "patch downgrade"
    MINOR_DOWNGRADE = "minor downgrade"
    UNKNOWN = "unknown"  # an image without a version in its tag, such as one with a digest


@dataclass(frozen=True, slots=True)
class OpenShiftVersion:
    """`4.22.3`, or `4.23.0-rc.1` with `pre_release` "rc.1"."""

    major: int
    minor: int
    patch: int
    pre_release: str = ""

    def __str__(self) -> str:
        number = f"{self.major}.{self.minor}.{self.patch}"
        return f"{number}-{self.pre_release}" if self.pre_release else number

    def __lt__(self, other: Self) -> bool:
        return self._order < other._order

    @property
    def stream(self) -> int:
        """The number of the minor version, counted on across major versions."""
        return self.minor if self.major <= 4 else self.minor + (self.major - 4) * _MINOR_OF_5_0  # noqa: PLR2004

    @property
    def _order(self) -> tuple[object, ...]:
        parts = self.pre_release.split(".") if self.pre_release else []
        ranks = tuple((0, int(each), "") if each.isdigit() else (1, 0, each) for each in parts)
        return self.stream, self.major, self.patch, not ranks, ranks


def parse(text: str) -> OpenShiftVersion | None:
    """The version in a text such as `4.22.3`, `4.23.0-rc.1` or `4.22.3-multi`; None where there is none."""
    match = _VERSION.fullmatch(without_architecture(text))
    return OpenShiftVersion(int(match[1]), int(match[2]), int(match[3]), match[4] or "") if match else None


def of_image(image: str) -> OpenShiftVersion | None:
    """The version in the tag of an image; None where there is none."""
    tag = tag_of(image)
    return parse(tag) if tag else None


def tag_of(image: str) -> str:
    """The tag of an image, without digest and registry port; empty where there is none."""
    name = image.partition("@")[0].rpartition("/")[2]
    return name.partition(":")[2]


def without_architecture(text: str) -> str:
    return _ARCHITECTURE_SUFFIX.sub("", text)


def names_architecture(text: str) -> bool:
    """Whether a tag ends with an architecture, as all tags of the public release repository do."""
    return without_architecture(text) != text


def upgrade_kind(old_image: str, new_image: str) -> UpgradeKind:
    """What a change from one release image to another is."""
    if old_image == new_image:
        return UpgradeKind.SAME
    old, new = of_image(old_image), of_image(new_image)
    if old is None or new is None:
        return UpgradeKind.UNKNOWN
    if old == new:
        return UpgradeKind.REPLACEMENT
    if old.stream == new.stream:
        return UpgradeKind.PATCH if old < new else UpgradeKind.PATCH_DOWNGRADE
    return UpgradeKind.MINOR if old.stream < new.stream else UpgradeKind.MINOR_DOWNGRADE
