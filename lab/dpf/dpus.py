"""A simulated DPU: an object of DPF on the management cluster, and a kubelet that joins the hosted cluster."""

import base64
import ssl
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import httpx

from lab.dpf.certificate_requests import bootstrap, serving
from shared.kubernetes import KubernetesClient, Object, ObjectRef, Watch, select_one

DPF = "provisioning.dpu.nvidia.com/v1alpha1"
_REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"


async def create_dpu(
    client: KubernetesClient, name: str, cluster: tuple[str, str], *, phase: str, addresses: Sequence[str] = ()
) -> None:
    """In the namespace of its DPUCluster."""
    namespace, cluster_name = cluster
    metadata = {"name": name, "namespace": namespace}
    spec = {
        "cluster": {"name": cluster_name, "namespace": namespace},
        "bfb": "bf-bundle",
        "dpuDeviceName": name,
        "dpuFlavor": "hosted-cluster",
        "dpuNodeName": f"host-of-{name}",
        "nodeEffect": {"noEffect": True},
        "serialNumber": f"MT{zlib.crc32(name.encode()):010}",
    }
    await client.create({"apiVersion": DPF, "kind": "DPU", "metadata": metadata, "spec": spec})
    await set_phase(client, name, namespace, phase, addresses=addresses)


async def set_phase(
    client: KubernetesClient, name: str, namespace: str, phase: str, *, addresses: Sequence[str] = ()
) -> None:
    listed = [{"type": "InternalIP", "address": each} for each in addresses]
    status = {"phase": phase} | ({"addresses": listed} if listed else {})
    ref = ObjectRef(api_version=DPF, kind="DPU", namespace=namespace, name=name)
    await client.patch(ref, {"status": status}, subresource="status")


class Kubelet:
    """Asks a hosted cluster for certificates. The API server notes who asks, so it asks as that user."""

    def __init__(self, url: str, token: str, ca_file: Path | None, hostname: str) -> None:
        self.hostname = hostname
        self._url, self._token, self._ca_file = url, token, ca_file

    async def __aenter__(self) -> Self:
        trust = ssl.create_default_context(cafile=str(self._ca_file)) if self._ca_file else True
        headers = {"Authorization": f"Bearer {self._token}"}
        self._http = httpx.AsyncClient(base_url=self._url, verify=trust, headers=headers, timeout=30)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def ask_to_join(self, **changes: Any) -> str:
        """The name of the bootstrap request."""
        return await self._ask(bootstrap(self.hostname, **changes))

    async def ask_to_serve(self, addresses: Sequence[str] = (), **changes: Any) -> str:
        return await self._ask(serving(self.hostname, addresses, **changes))

    async def join(self, client: KubernetesClient, addresses: Sequence[str] = ()) -> None:
        """Register the Node, ready."""
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": self.hostname}}
        await client.create(node)
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}
        listed = [{"type": "InternalIP", "address": each} for each in addresses]
        status = {"conditions": [ready], "addresses": listed}
        await client.patch(
            ObjectRef(api_version="v1", kind="Node", name=self.hostname), {"status": status}, subresource="status"
        )

    async def _ask(self, request: Object) -> str:
        spec = dict(request["spec"])
        who = [("Impersonate-User", spec.pop("username"))]
        who += [("Impersonate-Group", each) for each in spec.pop("groups")]
        metadata = {"generateName": f"{request['metadata']['name']}-"}
        answer = await self._http.post(_REQUESTS, json={**request, "metadata": metadata, "spec": spec}, headers=who)
        assert answer.is_success, answer.text
        return str(answer.json()["metadata"]["name"])


async def certificate(client: KubernetesClient, request: str) -> bytes:
    """The certificate of a request, once a signer has issued it."""
    ref = ObjectRef(api_version="certificates.k8s.io/v1", kind="CertificateSigningRequest", name=request)
    async for event in Watch(client, select_one(ref)).events():
        if encoded := (event.object.get("status") or {}).get("certificate"):
            return base64.b64decode(encoded)
    raise AssertionError("a watch does not end")
