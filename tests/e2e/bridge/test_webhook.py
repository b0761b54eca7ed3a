"""The webhook as the API server calls it, with the certificate that the operator made."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from dpu_bridge.api.kinds import API_VERSION
from dpu_bridge.settings import WebhookSettings
from lab.real.servers.processes import free_port
from shared.errors import HyperFleetError
from shared.kubernetes import Object, ObjectRef, PatchType, Watch, select_one
from tests.e2e.bridge.conftest import Clusters, operating, settings
from tests.support.bridge_lab import OPERATOR_NAMESPACE, BridgeLab, has
from tests.support.bridges import bridge_object
from tests.support.connections import connections_closed

DEADLINE = 400.0
CONFIGURATION = "dpu-bridge-test"
REF = ObjectRef(
    api_version="admissionregistration.k8s.io/v1", kind="ValidatingWebhookConfiguration", name=CONFIGURATION
)


def configuration(port: int, namespace: str) -> Object:
    """As the chart's, by URL instead of a Service, for the bridges of one namespace."""
    return {
        "apiVersion": REF.api_version,
        "kind": REF.kind,
        "metadata": {"name": REF.name},
        "webhooks": [
            {
                "name": "validate.dpuhcpbridges.provisioning.dpu.hcp.io",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Fail",
                "clientConfig": {"url": f"https://localhost:{port}/validate"},
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "rules": [
                    {
                        "apiGroups": ["provisioning.dpu.hcp.io"],
                        "apiVersions": ["v1alpha1"],
                        "resources": ["dpuhcpbridges"],
                        "operations": ["CREATE", "UPDATE"],
                    }
                ],
            }
        ],
    }


@pytest.fixture
async def guarded(clusters: Clusters, lab: BridgeLab, tmp_path: Path) -> AsyncIterator[BridgeLab]:
    port = free_port()
    await lab.client.create(configuration(port, lab.namespace))
    webhook = WebhookSettings(port=port, names=("localhost",), secret=f"webhook-{port}", configuration=CONFIGURATION)
    async with operating(replace(settings(clusters, tmp_path), webhook=webhook)):
        yield lab
        await lab.client.delete(REF)
    await connections_closed(port)


async def until_served(lab: BridgeLab) -> None:
    """The first bridge is accepted once the webhook answers."""
    while True:
        try:
            await lab.create_bridge()
        except HyperFleetError as error:
            if "failed calling webhook" not in str(error):
                raise
            await asyncio.sleep(0.2)
        else:
            return


async def test_it_refuses_what_is_wrong_and_never_the_end_of_a_deletion(guarded: BridgeLab) -> None:
    lab = guarded
    async with asyncio.timeout(DEADLINE):
        await until_served(lab)
        with pytest.raises(HyperFleetError, match="BlueFieldContainerImageAvailable"):
            await lab.create_bridge("other", ocpReleaseImage="registry.example.com/ocp-release:4.1.1")
        with pytest.raises(HyperFleetError, match="cannot be the address of a service"):
            await lab.create_bridge("other", metalLBVirtualIP="127.0.0.1")
        with pytest.raises(HyperFleetError, match="BlueFieldContainerImageAvailable"):
            await lab.patch(lab.bridge(), {"spec": {"ocpReleaseImage": "registry.example.com/ocp-release:4.1.1"}})

        images = ObjectRef(
            api_version="v1", kind="ConfigMap", namespace=OPERATOR_NAMESPACE, name="ocp-bluefield-images"
        )
        before = await lab.client.get(images)
        await lab.client.patch(images, {"data": None}, type_=PatchType.MERGE)
        await lab.until(lab.bridge(), has("BlueFieldContainerImageAvailable", status="False"))
        await lab.client.delete(lab.bridge())
        await lab.until_gone(lab.bridge())
        await lab.client.patch(images, {"data": before["data"]}, type_=PatchType.MERGE)


async def test_references_to_what_is_not_there_yet_are_warnings(clusters: Clusters, guarded: BridgeLab) -> None:
    """As kubectl prints them: the bridge is stored all the same."""
    lab = guarded
    server = clusters.management
    trust = ssl.create_default_context(cafile=str(server.ca_file))
    headers = {"Authorization": f"Bearer {server.admin_token}"}
    cluster = {"name": "bluefields", "namespace": lab.dpf}
    wanted = bridge_object("early", lab.namespace, dpuClusterRef=cluster, sshKeySecretRef={"name": "not-yet"})
    async with (
        asyncio.timeout(DEADLINE),
        httpx.AsyncClient(base_url=server.url, verify=trust, headers=headers) as http,
    ):
        await until_served(lab)
        path = f"/apis/{API_VERSION}/namespaces/{lab.namespace}/dpuhcpbridges"
        stored = await http.post(path, json=wanted)
        assert stored.status_code == httpx.codes.CREATED, stored.text
        warned = " ".join(stored.headers.get_list("warning"))
        assert f"DPUCluster {lab.dpf}/bluefields is not there; the bridge waits for it" in warned
        assert f"Secret {lab.namespace}/not-yet is not there; the bridge waits for it" in warned
        assert f"Secret {lab.namespace}/pull " not in warned


async def test_its_certificate_is_renewed_while_it_runs(guarded: BridgeLab) -> None:
    """Deleting the Secret asks for it, and so does an installation that takes the caBundle away."""
    lab = guarded
    async with asyncio.timeout(DEADLINE):
        await until_served(lab)
        before = await trusted(lab)
        [webhook] = (await lab.client.get(REF))["webhooks"]
        port = urlsplit(webhook["clientConfig"]["url"]).port or 0
        assert await served(port) in before
        await lab.client.delete(
            ObjectRef(api_version="v1", kind="Secret", namespace=OPERATOR_NAMESPACE, name=f"webhook-{port}")
        )
        renewed = await trusted(lab, other_than=before)
        assert before in renewed
        assert await served(port, other_than=before) in renewed
        await lab.create_bridge("renewed")

        remove = [{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}]
        await lab.client.patch(REF, remove, type_=PatchType.JSON)
        assert await trusted(lab, other_than="") == renewed


async def trusted(lab: BridgeLab, configured: ObjectRef = REF, *, other_than: str = "") -> str:
    """The certificates that the API server trusts, once there are others."""
    async for event in Watch(lab.client, select_one(configured)).events():
        bundle = base64.b64decode(event.object["webhooks"][0]["clientConfig"].get("caBundle") or "").decode()
        if bundle not in ("", other_than):
            return bundle
    raise AssertionError("a watch does not end")


async def served(port: int, *, other_than: str = "") -> str:
    """The certificate of the running server, once it is another. A new server on the same port exchanges it."""
    while True:
        try:
            certificate = await asyncio.to_thread(ssl.get_server_certificate, ("localhost", port))
        except OSError:
            certificate = ""
        if certificate not in other_than:
            return certificate
        await asyncio.sleep(0.2)
