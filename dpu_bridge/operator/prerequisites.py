"""What must be installed on the management cluster, and which of it is missing."""

import asyncio
from dataclasses import dataclass

from dpu_bridge.api.kinds import API_VERSION, DPF, HYPERSHIFT, KIND, METALLB
from shared.errors import HyperFleetError, NotFound
from shared.kubernetes import KubernetesClient


@dataclass(frozen=True, slots=True)
class Prerequisite:
    """Known by one kind that it serves."""

    name: str
    api_version: str
    kind: str


PREREQUISITES = (
    Prerequisite("this operator's CustomResourceDefinition", API_VERSION, KIND),
    Prerequisite("MCE operator", "multicluster.openshift.io/v1", "MultiClusterEngine"),
    Prerequisite("DPF operator", DPF, "DPUCluster"),
    Prerequisite("HyperShift operator", HYPERSHIFT, "HostedCluster"),
    Prerequisite("ODF operator", "odf.openshift.io/v1alpha1", "StorageSystem"),
    Prerequisite("MetalLB operator", METALLB, "IPAddressPool"),
)


async def missing(client: KubernetesClient) -> list[str]:
    """The names of those that are not there. A server that cannot be asked is no proof of anything."""
    served = await asyncio.gather(*(_is_served(client, each) for each in PREREQUISITES))
    return [each.name for each, there in zip(PREREQUISITES, served, strict=True) if not there]


async def _is_served(client: KubernetesClient, prerequisite: Prerequisite) -> bool:
    try:
        await client.kind(prerequisite.api_version, prerequisite.kind)
    except NotFound:
        return False
    except HyperFleetError:
        return True
    return True
