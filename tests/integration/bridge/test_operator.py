"""The operator on the stand-in API server: from nothing to a kubeconfig for DPF, and back to nothing."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dpu_bridge.operator.running import run
from dpu_bridge.plan import PlanSettings
from dpu_bridge.settings import Settings
from lab.dpf import definitions
from lab.dpf.kubeconfigs import publish_kubeconfigs
from lab.hypershift.operator import Operator
from lab.kubeconfig import kubeconfig
from lab.kubernetes import LabKubernetes
from lab.loopback import ReservedPort
from shared.kubernetes import KubernetesClient, Object, access_source
from tests.support.bridge_lab import METALLB_NAMESPACE, OPERATOR_NAMESPACE, BridgeLab, bridge_definition, has

DEADLINE = 240.0


def hypershift(kind: str, plural: str) -> Object:
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1beta1", "served": True, "storage": True, "subresources": {"status": {}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.hypershift.openshift.io"},
        "spec": {
            "group": "hypershift.openshift.io",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [{**version, "schema": {"openAPIV3Schema": free}}],
        },
    }


@pytest.fixture
async def lab(tmp_path: Path) -> AsyncIterator[BridgeLab]:
    """With HyperShift and the operator; the hosted clusters do not answer."""
    async with LabKubernetes() as server:
        for definition in (
            *definitions.ALL,
            bridge_definition(),
            hypershift("HostedCluster", "hostedclusters"),
            hypershift("NodePool", "nodepools"),
        ):
            server.define(definition)
        config = tmp_path / "kubeconfig"
        config.write_text(kubeconfig(server.url, server.admin_token))
        planning = PlanSettings(metallb_namespace=METALLB_NAMESPACE, images_namespace=OPERATOR_NAMESPACE)
        settings = Settings(kubeconfig=str(config), namespace=OPERATOR_NAMESPACE, files=tmp_path, planning=planning)
        stop = asyncio.Event()
        async with (
            KubernetesClient(access_source(str(config))) as client,
            Operator(server.url, server.admin_token, speed=2000.0),
        ):
            made = BridgeLab(client, "t")
            await made.prepare()
            nobody = ReservedPort()
            unreachable = kubeconfig(f"http://127.0.0.1:{nobody.number}", "token")
            publishing = asyncio.create_task(publish_kubeconfigs(client, unreachable))
            operator = asyncio.create_task(run(settings, stop=stop))
            yield made
            stop.set()
            await operator
            publishing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await publishing
            nobody.release()


async def test_a_bridge_gets_its_control_plane_and_dpf_its_kubeconfig(lab: BridgeLab) -> None:
    async with asyncio.timeout(DEADLINE):
        await lab.create_dpu_cluster()
        await lab.create_bridge()
        bridge = await lab.until(lab.bridge(), has("KubeconfigInjected"))
        assert bridge["metadata"]["finalizers"] == ["provisioning.dpu.hcp.io/cleanup"]
        cluster = await lab.until(lab.dpu_cluster(), lambda each: bool(each["spec"].get("kubeconfig")))
        assert cluster["spec"]["kubeconfig"] == bridge["status"]["kubeconfigSecretRef"]["name"]
        await lab.until(lab.bridge(), has("CSRApprovalActive", status="False", reason="HostedClusterNotReachable"))

        await lab.client.delete(lab.bridge())
        await lab.until_gone(lab.bridge())
        assert await lab.read(lab.hosted_cluster()) is None
        assert "kubeconfig" not in (await lab.client.get(lab.dpu_cluster()))["spec"]


async def test_the_oldest_of_two_bridges_has_the_dpucluster(lab: BridgeLab) -> None:
    async with asyncio.timeout(DEADLINE):
        await lab.create_dpu_cluster()
        await lab.create_bridge("first")
        await lab.until(lab.bridge("first"), has("DPUClusterBound"))
        await lab.create_bridge("second")
        await lab.until(lab.bridge("second"), has("DPUClusterBound", status="False", reason="DPUClusterInUse"))
        assert has("DPUClusterBound")(await lab.client.get(lab.bridge("first")))
