"""A bridge from nothing to Ready and back to nothing, on real API servers."""

import asyncio
from typing import Any

from cryptography import x509

from dpu_bridge.api.conditions import DOCUMENTED
from lab.dpf.dpus import Kubelet, certificate, create_dpu, set_phase
from shared.kubernetes import KubernetesClient, Object, ObjectRef, Selection
from tests.e2e.bridge.conftest import Clusters
from tests.support.bridge_lab import METALLB_NAMESPACE, BridgeLab, has

DEADLINE = 400.0
ADDRESS = "192.0.2.50"
READY = has("Ready")


def kubelet(clusters: Clusters, hostname: str) -> Kubelet:
    return Kubelet(clusters.hosted.url, clusters.hosted.admin_token, clusters.hosted.ca_file, hostname)


async def test_from_nothing_to_ready_with_a_node_certificate_upgraded_and_deleted_until_nothing_is_left(
    clusters: Clusters, lab: BridgeLab, operator: None, hosted: KubernetesClient
) -> None:
    async with asyncio.timeout(DEADLINE):
        await lab.create_bridge()
        await lab.until(lab.bridge(), has("DPUClusterBound", status="False", reason="DPUClusterMissing"))
        await lab.create_dpu_cluster()
        ready = await lab.until(lab.bridge(), READY)
        assert {each["type"] for each in ready["status"]["conditions"]} >= set(DOCUMENTED)
        assert ready["status"]["phase"] == "Ready"
        cluster = await lab.client.get(lab.dpu_cluster())
        injected = ObjectRef(
            api_version="v1", kind="Secret", namespace=lab.dpf, name=str(cluster["spec"]["kubeconfig"])
        )
        assert "super-admin.conf" in (await lab.client.get(injected))["data"]

        hostname = f"dpu-{lab.namespace}"
        await create_dpu(lab.client, hostname, (lab.dpf, "bluefields"), phase="DPU Config", addresses=[ADDRESS])
        async with kubelet(clusters, hostname) as joining:
            request = await joining.ask_to_join()
            await event(lab, "CSRPending")
            await set_phase(lab.client, hostname, lab.dpf, "DPU Cluster Config")
            issued = x509.load_pem_x509_certificate(await certificate(hosted, request))
            assert f"system:node:{hostname}" in issued.subject.rfc4514_string()
            authority = x509.load_pem_x509_certificate(clusters.signer.ca_file.read_bytes())
            issued.verify_directly_issued_by(authority)
            await joining.join(hosted, [ADDRESS])
            await certificate(hosted, await joining.ask_to_serve([ADDRESS]))
            replayed = await joining.ask_to_join()
            await event(lab, "CSRSuspicious")
            assert not (await csr(hosted, replayed)).get("status")

        await lab.patch(lab.bridge(), {"spec": {"ocpReleaseImage": "registry.example.com/ocp-release:4.22.1-multi"}})
        upgraded = await lab.until(lab.bridge(), lambda each: each["status"].get("version") == "4.22.1")
        assert upgraded["status"]["blueFieldContainerImage"].endswith(":4.22.1")

        await lab.client.delete(lab.bridge())
        await lab.until_gone(lab.bridge())
        assert await left(lab) == []
        assert "kubeconfig" not in (await lab.client.get(lab.dpu_cluster()))["spec"]

        await lab.create_bridge("later")
        await lab.until(lab.bridge("later"), READY)
        await lab.client.delete(lab.bridge("later"))
        await lab.until_gone(lab.bridge("later"))


async def test_a_second_bridge_is_refused_and_the_first_is_untouched(lab: BridgeLab, operator: None) -> None:
    async with asyncio.timeout(DEADLINE):
        await lab.create_dpu_cluster()
        await lab.create_bridge("first")
        await lab.until(lab.bridge("first"), READY)
        await lab.create_bridge("second", metalLBVirtualIP="192.0.2.11")
        refused = await lab.until(
            lab.bridge("second"), has("DPUClusterBound", status="False", reason="DPUClusterInUse")
        )
        assert refused["status"]["phase"] == "Failed"
        assert await lab.read(lab.hosted_cluster("second")) is None
        assert READY(await lab.client.get(lab.bridge("first")))
        await lab.client.delete(lab.bridge("first"))
        await lab.until(lab.bridge("second"), READY)


async def test_a_deleted_dpucluster_leaves_the_control_plane_and_is_bound_again_when_it_comes_back(
    lab: BridgeLab, operator: None
) -> None:
    async with asyncio.timeout(DEADLINE):
        await lab.create_dpu_cluster()
        await lab.create_bridge()
        await lab.until(lab.bridge(), READY)
        before = await lab.client.get(lab.hosted_cluster())
        await lab.client.delete(lab.dpu_cluster())
        await lab.until(lab.bridge(), has("DPUClusterBound", status="False", reason="DPUClusterDeleted"))
        assert (await lab.client.get(lab.hosted_cluster()))["metadata"]["uid"] == before["metadata"]["uid"]
        await lab.create_dpu_cluster()
        await lab.until(lab.bridge(), READY)
        assert (await lab.client.get(lab.dpu_cluster()))["spec"]["kubeconfig"]


async def test_drift_and_changed_sources_are_corrected(lab: BridgeLab, operator: None) -> None:
    async with asyncio.timeout(DEADLINE):
        await lab.create_dpu_cluster()
        await lab.create_bridge()
        await lab.until(lab.bridge(), READY)
        copy = lab.ref("v1", "Secret", "dpu-ssh-key")
        await lab.patch(lab.ref("v1", "Secret", "ssh"), {"data": {"id_rsa.pub": "bmV3"}})
        await lab.until(copy, lambda each: each["data"]["id_rsa.pub"] == "bmV3")
        await lab.client.delete(copy)
        await lab.until(copy, lambda each: each["data"]["id_rsa.pub"] == "bmV3")
        await lab.patch(lab.hosted_cluster(), {"spec": {"infrastructureAvailabilityPolicy": "HighlyAvailable"}})
        await lab.until(
            lab.hosted_cluster(), lambda each: each["spec"]["infrastructureAvailabilityPolicy"] == "SingleReplica"
        )


async def test_it_survives_a_crash_of_the_api_server(clusters: Clusters, lab: BridgeLab, operator: None) -> None:
    async with asyncio.timeout(DEADLINE):
        await lab.create_dpu_cluster()
        await lab.create_bridge()
        await lab.until(lab.bridge(), has("DPUClusterBound"))
        clusters.management.kill()
        clusters.management.start()
        await lab.until(lab.bridge(), READY)


async def csr(hosted: KubernetesClient, name: str) -> Object:
    ref = ObjectRef(api_version="certificates.k8s.io/v1", kind="CertificateSigningRequest", name=name)
    return await hosted.get(ref)


async def event(lab: BridgeLab, reason: str) -> None:
    """Wait until the operator has written an event."""
    found: Any = None
    while not found:
        listed = await lab.client.list(Selection(api_version="v1", kind="Event", namespace=lab.namespace))
        found = [each for each in listed if each["reason"] == reason]
        await asyncio.sleep(0.1)


async def left(lab: BridgeLab) -> list[str]:
    """What the operator made and did not remove."""
    places = [
        ("v1", "Secret", lab.namespace),
        ("v1", "Secret", lab.dpf),
        ("v1", "ConfigMap", lab.namespace),
        ("hypershift.openshift.io/v1beta1", "HostedCluster", lab.namespace),
        ("hypershift.openshift.io/v1beta1", "NodePool", lab.namespace),
        ("metallb.io/v1beta1", "IPAddressPool", METALLB_NAMESPACE),
        ("metallb.io/v1beta1", "L2Advertisement", METALLB_NAMESPACE),
    ]
    found = []
    for api_version, kind, namespace in places:
        labels = "provisioning.dpu.hcp.io/bridge"
        selection = Selection(api_version=api_version, kind=kind, namespace=namespace, labels=labels)
        found += [str(ObjectRef.of(each)) for each in await lab.client.list(selection) if lab.namespace in str(each)]
    return found
