"""The part of HyperShift that makes a control plane's kubeconfig, once the status names it."""

import base64

from shared.errors import AlreadyExists
from shared.kubernetes import KubernetesClient, Selection, Watch

HYPERSHIFT = "hypershift.openshift.io/v1beta1"


async def publish_kubeconfigs(client: KubernetesClient, kubeconfig: str) -> None:
    """For every HostedCluster, the same hosted cluster. Runs until it is cancelled."""
    async for event in Watch(client, Selection(api_version=HYPERSHIFT, kind="HostedCluster")).events():
        metadata, status = event.object["metadata"], event.object.get("status") or {}
        name = (status.get("kubeconfig") or {}).get("name")
        if not name or metadata.get("deletionTimestamp"):
            continue
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "namespace": metadata["namespace"]},
            "data": {"kubeconfig": base64.b64encode(kubeconfig.encode()).decode()},
        }
        try:
            await client.create(secret)
        except AlreadyExists:
            continue
