"""The choices that a bridge offers, each on real API servers."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpu_bridge.api.bridge import bridge_of
from dpu_bridge.render import hosted_cluster as rendering
from lab.dpf.dpus import create_dpu
from shared.kubernetes import KubernetesClient, Object, ObjectRef, Selection, Watch, select_one
from tests.e2e.bridge.conftest import Clusters, operating, settings
from tests.e2e.bridge.test_story import READY, event, kubelet, left
from tests.support.bridge_lab import METALLB_NAMESPACE, BridgeLab, has

DEADLINE = 400.0
NODE_PORTS: dict[str, Any] = {"exposeThroughLoadBalancer": None, "metalLBVirtualIP": None}
HELD = "example.com/held"


async def create_node(client: KubernetesClient, name: str, address: str, *, ready: bool) -> ObjectRef:
    node = await client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    condition = {"type": "Ready", "status": str(ready), "reason": "Kubelet", "message": "as the test says"}
    status = {"conditions": [condition], "addresses": [{"type": "InternalIP", "address": address}]}
    await client.patch(ObjectRef.of(node), {"status": status}, subresource="status")
    return ObjectRef.of(node)


async def decision(hosted: KubernetesClient, name: str) -> Object:
    ref = ObjectRef(api_version="certificates.k8s.io/v1", kind="CertificateSigningRequest", name=name)
    async for change in Watch(hosted, select_one(ref)).events():
        for condition in (change.object.get("status") or {}).get("conditions") or ():
            return dict(condition)
    raise AssertionError("a watch does not end")


async def pool(lab: BridgeLab) -> Object | None:
    label = "provisioning.dpu.hcp.io/bridge"
    selection = Selection(
        api_version="metallb.io/v1beta1",
        kind="IPAddressPool",
        namespace=METALLB_NAMESPACE,
        labels=f"{label}={lab.namespace}.dpu",
    )
    return next(iter(await lab.client.list(selection)), None)


async def test_node_ports_need_no_metallb_and_suspicious_requests_are_denied_where_the_bridge_says_so(
    clusters: Clusters, lab: BridgeLab, operator: None, hosted: KubernetesClient
) -> None:
    nodes = [
        await create_node(lab.client, f"a-{lab.namespace}", "192.0.2.101", ready=False),
        await create_node(lab.client, f"b-{lab.namespace}", "192.0.2.102", ready=True),
    ]
    async with asyncio.timeout(DEADLINE):
        await lab.create_dpu_cluster()
        await lab.create_bridge(**NODE_PORTS, suspiciousCertificateRequests="Deny")
        await lab.until(lab.bridge(), READY)
        services = (await lab.client.get(lab.hosted_cluster()))["spec"]["services"]
        strategies = [each["servicePublishingStrategy"] for each in services]
        assert {each["type"] for each in strategies} == {"NodePort"}
        assert {each["nodePort"]["address"] for each in strategies} == {"192.0.2.102"}
        assert await pool(lab) is None

        hostname = f"dpu-{lab.namespace}"
        await create_dpu(lab.client, hostname, (lab.dpf, "bluefields"), phase="DPU Cluster Config")
        async with kubelet(clusters, hostname) as joining:
            asked = await joining.ask_to_join(usages=["digital signature", "client auth", "server auth"])
            denied = await decision(hosted, asked)
            assert (denied["type"], denied["reason"]) == ("Denied", "WrongUsages")
            await event(lab, "CSRDenied")
            assert (await decision(hosted, await joining.ask_to_join()))["type"] == "Approved"
    for node in nodes:
        await lab.client.delete(node)


async def test_an_ipv6_address_and_a_control_plane_that_is_deleted_with_its_dpucluster(
    lab: BridgeLab, operator: None
) -> None:
    async with asyncio.timeout(DEADLINE):
        await lab.create_dpu_cluster()
        await lab.create_bridge(metalLBVirtualIP="2001:db8::10", onDPUClusterDeletion="Delete")
        await lab.until(lab.bridge(), READY)
        announced = await pool(lab)
        assert announced is not None
        assert announced["spec"]["addresses"] == ["2001:db8::10/128"]
        key = lab.ref("v1", "Secret", "dpu-etcd-encryption-key")
        before = (await lab.client.get(key))["data"]["key"]

        await lab.client.delete(lab.dpu_cluster())
        await lab.until(lab.bridge(), has("DPUClusterBound", status="False", reason="DPUClusterMissing"))
        assert await left(lab) == []
        await lab.create_dpu_cluster()
        await lab.until(lab.bridge(), READY)
        assert (await lab.client.get(key))["data"]["key"] != before


async def test_a_deletion_that_takes_too_long_says_what_is_stuck_and_goes_on(
    clusters: Clusters, lab: BridgeLab, tmp_path: Path
) -> None:
    usual = settings(clusters, tmp_path)
    impatient = replace(usual, planning=replace(usual.planning, cleanup_timeout=1.0))
    async with operating(impatient), asyncio.timeout(DEADLINE):
        await lab.create_dpu_cluster()
        await lab.create_bridge()
        await lab.until(lab.bridge(), READY)
        await lab.patch(lab.node_pool(), {"metadata": {"finalizers": [HELD]}})
        await lab.client.delete(lab.bridge())
        stuck = f"these are still there: NodePool {lab.namespace}/dpu; look at its events and status"
        failed = await lab.until(lab.bridge(), lambda each: stuck in str(each.get("status")))
        assert has("HostedClusterCleanup", status="False", reason="Failed")(failed)
        assert f"what holds it: {HELD}" in str(failed["status"])
        assert failed["status"]["phase"] == "Deleting"
        await event(lab, "CleanupFailed")

        await lab.patch(lab.node_pool(), {"metadata": {"finalizers": None}})
        await lab.until_gone(lab.bridge())
        await event(lab, "Succeeded")
        assert await left(lab) == []


async def test_a_hostedcluster_of_somebody_else_is_left_alone_until_it_is_gone(lab: BridgeLab, operator: None) -> None:
    async with asyncio.timeout(DEADLINE):
        bridge = bridge_of(await lab.create_bridge())
        foreign = rendering.hosted_cluster(bridge, release_image=bridge.release_image, node_address="", present=None)
        foreign["metadata"] |= {"labels": {}, "annotations": {}}
        await lab.client.create(foreign)
        await lab.create_dpu_cluster()
        await lab.until(lab.bridge(), has("ControlPlaneApplied", status="False", reason="NotOwned"))
        await lab.client.delete(lab.hosted_cluster())
        await lab.until(lab.bridge(), READY)
        assert (await lab.client.get(lab.hosted_cluster()))["metadata"]["labels"]
