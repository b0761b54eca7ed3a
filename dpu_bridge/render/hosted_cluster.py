"""The HostedCluster and its NodePool.

Platform None without nodes of its own: DPUs join by themselves. What HyperShift never lets change is taken over from
the HostedCluster that is there, so that a newer version of this operator renders the same.
"""

import copy
from typing import Any

from dpu_bridge.api.bridge import Bridge, digest
from dpu_bridge.api.kinds import HYPERSHIFT
from dpu_bridge.render.ownership import owned
from dpu_bridge.render.secrets import encryption_key_name, machine_config_name, pull_secret_name, ssh_key_name
from shared.kubernetes import Object

ETCD_SIZE = "8Gi"
DISABLED_CAPABILITIES = ("ImageRegistry", "Insights", "Console", "openshift-samples", "Ingress", "NodeTuning")
CLUSTER_NETWORK, SERVICE_NETWORK, HOST_PREFIX = "10.132.0.0/14", "172.31.0.0/16", 23
CONTROL_PLANE_NODES = {"node-role.kubernetes.io/control-plane": ""}
IMMUTABLE = (
    "infraID",
    "dns",
    "etcd",
    "networking",
    "platform",
    "controllerAvailabilityPolicy",
    "services",
    "capabilities",
)
_ROUTED = ("OAuthServer", "Konnectivity", "Ignition")
_SERVICES = ("APIServer", "OAuthServer", "OIDC", "Konnectivity", "Ignition")


def hosted_cluster(bridge: Bridge, *, release_image: str, node_address: str, present: Object | None) -> Object:
    """`node_address` is needed for a new control plane that is exposed by NodePorts."""
    spec: dict[str, Any] = {
        "infraID": infra_id(bridge),
        "release": {"image": release_image},
        "pullSecret": {"name": pull_secret_name(bridge)},
        "sshKey": {"name": ssh_key_name(bridge)},
        "dns": {"baseDomain": bridge.base_domain},
        "etcd": {"managementType": "Managed", "managed": {"storage": _etcd_storage(bridge)}},
        "networking": {
            "networkType": "Other",
            "allocateNodeCIDRs": "Enabled",
            "clusterNetwork": [{"cidr": CLUSTER_NETWORK, "hostPrefix": HOST_PREFIX}],
            "serviceNetwork": [{"cidr": SERVICE_NETWORK}],
        },
        "platform": {"type": "None"},
        "controllerAvailabilityPolicy": bridge.control_plane_availability,
        "infrastructureAvailabilityPolicy": bridge.infrastructure_availability,
        "secretEncryption": {"type": "aescbc", "aescbc": {"activeKey": {"name": encryption_key_name(bridge)}}},
        "services": _load_balanced() if bridge.load_balanced else _node_ports(node_address),
        "capabilities": {"disabled": list(DISABLED_CAPABILITIES)},
        "nodeSelector": dict(CONTROL_PLANE_NODES),
    }
    settled = (present or {}).get("spec") or {}
    spec |= {field: copy.deepcopy(settled[field]) for field in IMMUTABLE if field in settled}
    return owned(bridge, HYPERSHIFT, "HostedCluster", bridge.namespace, bridge.name, spec=spec)


def node_pool(bridge: Bridge, *, release_image: str) -> Object:
    """Without replicas: it exists for the ignition configuration, which carries the BlueField image."""
    spec = {
        "clusterName": bridge.name,
        "replicas": 0,
        "management": {"upgradeType": "Replace"},
        "platform": {"type": "None"},
        "release": {"image": release_image},
        "config": [{"name": machine_config_name(bridge)}],
    }
    return owned(bridge, HYPERSHIFT, "NodePool", bridge.namespace, bridge.name, spec=spec)


def infra_id(bridge: Bridge) -> str:
    """Derived from the bridge's uid, so that an operator that crashed makes no second one."""
    return f"{bridge.name.replace('.', '-')}-{digest(bridge.uid)}"


def _etcd_storage(bridge: Bridge) -> dict[str, Any]:
    volume = {"size": ETCD_SIZE}
    if bridge.etcd_storage_class:
        volume["storageClassName"] = bridge.etcd_storage_class
    return {"type": "PersistentVolume", "persistentVolume": volume}


def _load_balanced() -> list[dict[str, Any]]:
    routed = [{"service": name, "servicePublishingStrategy": {"type": "Route"}} for name in _ROUTED]
    return [{"service": "APIServer", "servicePublishingStrategy": {"type": "LoadBalancer"}}, *routed]


def _node_ports(address: str) -> list[dict[str, Any]]:
    strategy = {"type": "NodePort", "nodePort": {"address": address}}
    return [{"service": name, "servicePublishingStrategy": copy.deepcopy(strategy)} for name in _SERVICES]
