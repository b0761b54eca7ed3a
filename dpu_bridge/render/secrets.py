"""The Secrets of a control plane, the kubeconfig for DPF, and the ConfigMap that overrides the nodes' OS image."""

import json

from dpu_bridge.api.bridge import Bridge
from dpu_bridge.api.kinds import DPF_KUBECONFIG_KEY, PULL_SECRET_KEY, SSH_KEY_KEY
from dpu_bridge.render.ownership import owned
from shared.kubernetes import Object


def pull_secret_name(bridge: Bridge) -> str:
    return f"{bridge.name}-pull-secret"


def ssh_key_name(bridge: Bridge) -> str:
    return f"{bridge.name}-ssh-key"


def encryption_key_name(bridge: Bridge) -> str:
    return f"{bridge.name}-etcd-encryption-key"


def machine_config_name(bridge: Bridge) -> str:
    return f"{bridge.name}-bluefield-image"


def kubeconfig_name(bridge: Bridge) -> str:
    """Unlike HyperShift's own name, because both Secrets may be in one namespace."""
    return f"{bridge.unique_name}-kubeconfig"


def pull_secret(bridge: Bridge, data: str) -> Object:
    """`data` is base64, here and below."""
    return _secret(bridge, pull_secret_name(bridge), {PULL_SECRET_KEY: data}, type_="kubernetes.io/dockerconfigjson")


def ssh_key(bridge: Bridge, data: str) -> Object:
    return _secret(bridge, ssh_key_name(bridge), {SSH_KEY_KEY: data})


def encryption_key(bridge: Bridge) -> Object:
    """Without the key itself, which is random and is made when the Secret is created."""
    return owned(bridge, "v1", "Secret", bridge.namespace, encryption_key_name(bridge), type="Opaque")


def kubeconfig(bridge: Bridge, data: str) -> Object:
    namespace, _ = bridge.dpu_cluster
    content = {"type": "Opaque", "data": {DPF_KUBECONFIG_KEY: data}}
    return owned(bridge, "v1", "Secret", namespace, kubeconfig_name(bridge), **content)


def machine_config(bridge: Bridge, image: str) -> Object:
    """HyperShift reads a MachineConfig from the text of a ConfigMap; JSON is YAML."""
    config = {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfig",
        "metadata": {
            "name": "99-bluefield-os-image",
            "labels": {"machineconfiguration.openshift.io/role": "worker"},
        },
        "spec": {"osImageURL": image},
    }
    text = json.dumps(config, sort_keys=True)
    return owned(bridge, "v1", "ConfigMap", bridge.namespace, machine_config_name(bridge), data={"config": text})


def _secret(bridge: Bridge, name: str, data: dict[str, str], *, type_: str = "Opaque") -> Object:
    return owned(bridge, "v1", "Secret", bridge.namespace, name, type=type_, data=data)
