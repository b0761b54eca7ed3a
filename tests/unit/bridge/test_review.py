"""What the webhook refuses, one row per problem."""

from typing import Any

import pytest

from dpu_bridge.admission.review import Images, problems
from tests.support.bridges import IMAGES, bridge_object

WHERE = Images(data=IMAGES, where="ConfigMap x/ocp-bluefield-images")
FILES = "/etc/dpu-hcp-bridge/files"


def paths(new: dict[str, Any], old: dict[str, Any] | None = None, images: Images = WHERE) -> list[str]:
    return [each.path for each in problems(new, old, images, files=FILES)]


def by_file(path: str) -> dict[str, Any]:
    return bridge_object(sshKeySecretRef=None, sshKey=path)


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param(bridge_object(), [], id="all right"),
        pytest.param(bridge_object(baseDomain=None), ["spec.baseDomain"], id="a required field is missing"),
        pytest.param(bridge_object(sshKey="a"), ["spec.sshKey"], id="both of a pair"),
        pytest.param(bridge_object(pullSecretRef=None), ["spec.pullSecret"], id="none of a pair"),
        pytest.param(bridge_object(metalLBVirtualIP=None), ["spec.metalLBVirtualIP"], id="no virtual IP"),
        pytest.param(bridge_object(exposeThroughLoadBalancer=False), ["spec.metalLBVirtualIP"], id="one too many"),
        pytest.param(bridge_object(metalLBVirtualIP="192.0.2.0/24"), ["spec.metalLBVirtualIP"], id="a network"),
        pytest.param(bridge_object(metalLBVirtualIP="127.0.0.1"), ["spec.metalLBVirtualIP"], id="loopback"),
        pytest.param(bridge_object(metalLBVirtualIP="ff02::1"), ["spec.metalLBVirtualIP"], id="multicast"),
        pytest.param(bridge_object(metalLBVirtualIP="2001:db8::1"), [], id="IPv6"),
        pytest.param(bridge_object(clusterType="kamaji"), ["spec.clusterType"], id="kamaji"),
        pytest.param(bridge_object(name="n" * 60), ["metadata.name"], id="a name that is too long"),
        pytest.param(by_file("id_rsa.pub"), [], id="a file by its name"),
        pytest.param(by_file(f"{FILES}/id_rsa.pub"), [], id="a file by its path"),
        pytest.param(by_file("/etc/shadow"), ["spec.sshKey"], id="a file elsewhere"),
        pytest.param(by_file(f"{FILES}/../../shadow"), ["spec.sshKey"], id="a file elsewhere, by a detour"),
        pytest.param(bridge_object(ocpReleaseImage="r/o:4.1.1"), ["spec.ocpReleaseImage"], id="no BlueField image"),
    ],
)
def test_a_new_bridge(new: dict[str, Any], expected: list[str]) -> None:
    assert paths(new) == expected


def test_a_missing_image_is_refused_with_the_conditions_name_and_the_versions() -> None:
    [problem] = problems(bridge_object(ocpReleaseImage="r/o:4.1.1"), None, WHERE, files=FILES)
    assert problem.message.startswith("BlueFieldContainerImageAvailable=False: VersionNotFound: ")
    assert "4.22.0, 4.22.1" in problem.message


def test_only_what_changes_is_judged() -> None:
    nothing = Images(data=None, where="ConfigMap x/y")
    old = bridge_object()
    assert paths({**old, "metadata": {**old["metadata"], "finalizers": ["x"]}}, old, nothing) == []
    assert paths(bridge_object(onDPUClusterDeletion="Delete"), old, nothing) == []
    assert paths(bridge_object(ocpReleaseImage="r/o:4.22.1"), old, nothing) == ["spec.ocpReleaseImage"]


def test_a_bridge_that_is_being_deleted_is_never_refused() -> None:
    new = bridge_object(ocpReleaseImage="r/o:4.1.1", baseDomain=None)
    new["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert paths(new, bridge_object()) == []
