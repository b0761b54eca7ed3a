"""The resource as a real API server enforces it: what may be written, what may change, and what kubectl shows."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpu_bridge.api.conditions import DOCUMENTED
from lab.real.artifacts.helm import Helm
from lab.real.artifacts.kubernetes import program
from shared.errors import Invalid
from tests.e2e.bridge.conftest import Clusters
from tests.support.bridge_lab import BridgeLab, bridge_definition

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "dpu-bridge.md").read_text()
NODE_PORTS: dict[str, Any] = {"exposeThroughLoadBalancer": None, "metalLBVirtualIP": None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"dpuClusterRef": None}, "dpuClusterRef", id="no DPUCluster"),
        pytest.param({"baseDomain": None}, "baseDomain", id="no base domain"),
        pytest.param({"baseDomain": "Example"}, "baseDomain", id="no domain"),
        pytest.param({"ocpReleaseImage": None}, "ocpReleaseImage", id="no release"),
        pytest.param({"clusterType": None}, "clusterType", id="no type"),
        pytest.param({"clusterType": "kamaji"}, "kamaji", id="kamaji"),
        pytest.param({"sshKey": "a"}, "exactly one of sshKey", id="two SSH keys"),
        pytest.param({"sshKeySecretRef": None}, "exactly one of sshKey", id="no SSH key"),
        pytest.param({"sshKeySecretRef": {"name": "a,b"}}, "sshKeySecretRef.name", id="no name of a Secret"),
        pytest.param({"pullSecretRef": None}, "exactly one of pullSecret", id="no pull secret"),
        pytest.param({"metalLBVirtualIP": None}, "metalLBVirtualIP is required", id="no virtual IP"),
        pytest.param({"exposeThroughLoadBalancer": None}, "metalLBVirtualIP is required", id="one too many"),
        pytest.param({"metalLBVirtualIP": "192.0.2.1/32"}, "without a prefix length", id="a network"),
        pytest.param({"controlPlaneAvailabilityPolicy": "Some"}, "Unsupported value", id="no policy"),
        pytest.param({"onDPUClusterDeletion": "Maybe"}, "Unsupported value", id="no deletion policy"),
    ],
)
async def test_a_bad_bridge_is_refused(lab: BridgeLab, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid, match=re.escape(message)):
        await lab.create_bridge(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="load balanced"),
        pytest.param({"metalLBVirtualIP": "2001:db8::1"}, id="IPv6"),
        pytest.param(NODE_PORTS, id="by NodePorts"),
        pytest.param({"sshKeySecretRef": None, "sshKey": "id_rsa.pub"}, id="by a file"),
    ],
)
async def test_a_good_bridge_is_stored_with_defaults(lab: BridgeLab, changes: dict[str, Any]) -> None:
    stored = await lab.create_bridge(**changes)
    assert stored["spec"]["onDPUClusterDeletion"] == "Keep"
    assert stored["spec"]["suspiciousCertificateRequests"] == "LeavePending"


IMMUTABLE: dict[str, Any] = {
    "dpuClusterRef": {"name": "other"},
    "baseDomain": "other.example.com",
    "etcdStorageClass": "other",
    "controlPlaneAvailabilityPolicy": "SingleReplica",
    "exposeThroughLoadBalancer": False,
    "clusterType": "example.com/other",
    "metalLBVirtualIP": "192.0.2.99",
}


@pytest.mark.parametrize("field", IMMUTABLE)
async def test_what_cannot_be_changed(lab: BridgeLab, field: str) -> None:
    await lab.create_bridge(etcdStorageClass="fast")
    with pytest.raises(Invalid, match=r"cannot be changed|is required with"):
        await lab.patch(lab.bridge(), {"spec": {field: IMMUTABLE[field]}})


async def test_what_cannot_be_added_or_removed(lab: BridgeLab) -> None:
    await lab.create_bridge("without")
    with pytest.raises(Invalid, match="etcdStorageClass cannot be changed"):
        await lab.patch(lab.bridge("without"), {"spec": {"etcdStorageClass": "fast"}})
    await lab.create_bridge("with", etcdStorageClass="fast")
    with pytest.raises(Invalid, match="etcdStorageClass cannot be changed"):
        await lab.patch(lab.bridge("with"), {"spec": {"etcdStorageClass": None}})


async def test_what_may_be_changed(lab: BridgeLab) -> None:
    await lab.create_bridge()
    changes = {
        "ocpReleaseImage": "registry.example.com/ocp-release:4.22.1-multi",
        "infrastructureAvailabilityPolicy": "HighlyAvailable",
        "sshKeySecretRef": None,
        "sshKey": "id_rsa.pub",
        "pullSecretRef": {"name": "other"},
        "onDPUClusterDeletion": "Delete",
        "suspiciousCertificateRequests": "Deny",
    }
    await lab.patch(lab.bridge(), {"spec": changes})


async def test_kubectl_shows_all_fifteen(clusters: Clusters, lab: BridgeLab) -> None:
    await lab.create_bridge()
    kubectl = program("kubectl")
    command = [str(kubectl), f"--kubeconfig={clusters.management.kubeconfig}", "get", "dpuhcp", "-o", "wide"]
    shown = subprocess.run([*command, f"--namespace={lab.namespace}"], capture_output=True, text=True, check=True)  # noqa: ASYNC221
    heading = shown.stdout.splitlines()[0].split()
    assert {each.upper() for each in DOCUMENTED} <= set(heading)


def test_the_columns_are_the_documents_conditions() -> None:
    [version] = bridge_definition()["spec"]["versions"]
    wide = [each["name"] for each in version["additionalPrinterColumns"] if each.get("priority")]
    assert wide == list(DOCUMENTED)


def test_the_pages_installation_renders(tmp_path: Path) -> None:
    [command] = re.findall(r"```sh\n(helm install.*?)```", PAGE, re.DOTALL)
    words = command.replace("\\\n", " ").replace("'", "").split()
    _, _, release, chart, *arguments = words
    outcome = Helm(tmp_path).run("template", release, ROOT / chart, *arguments)
    assert outcome.returncode == 0, outcome.stderr
    maps = [each for each in yaml.safe_load_all(outcome.stdout) if each and each["kind"] == "ConfigMap"]
    assert maps[0]["data"] == {"4.22.0": "registry.example.com/bluefield:4.22.0"}
