"""Gathers everything that a plan needs: objects by name, other bridges and images from kopf's indices.

Nothing is listed except, once, the nodes for NodePorts.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dpu_bridge.api.bridge import Bridge, Key, Source
from dpu_bridge.api.kinds import DPF, HYPERSHIFT, METALLB, PULL_SECRET_KEY, SSH_KEY_KEY
from dpu_bridge.operator.reconcile.materials import from_file, from_secret
from dpu_bridge.plan import Contender, Material, Observed, PlanSettings
from dpu_bridge.render import secrets
from shared import times
from shared.errors import NotFound, UnknownKind
from shared.kubernetes import KubernetesClient, Object, ObjectRef, Selection

Contenders = Callable[[Key], tuple[Contender, ...]]
BlueFieldImages = Callable[[], Mapping[str, str] | None]
_ADDRESS_ORDER = ("ExternalDNS", "ExternalIP", "InternalIP")


class Observer:
    def __init__(
        self,
        client: KubernetesClient,
        *,
        settings: PlanSettings,
        files: Path,
        contenders: Contenders,
        images: BlueFieldImages,
    ) -> None:
        self._client, self._settings, self._files = client, settings, files
        self._contenders, self._images = contenders, images

    async def observe(self, bridge: Bridge) -> Observed:
        unserved: set[str] = set()
        refs = self._refs(bridge)
        ssh, pull, objects = await asyncio.gather(
            self._material(bridge, bridge.ssh_key, SSH_KEY_KEY),
            self._material(bridge, bridge.pull_secret, PULL_SECRET_KEY),
            asyncio.gather(*(self._read(ref, unserved) for ref in refs.values())),
        )
        found: dict[str, Any] = dict(zip(refs, objects, strict=True))
        cluster = found["hosted_cluster"]
        return Observed(
            bridge=bridge,
            now=times.now(),
            contenders=self._contenders(bridge.dpu_cluster),
            images=self._images(),
            ssh_key=ssh,
            pull_secret=pull,
            admin_kubeconfig=await self._admin_kubeconfig(cluster),
            node_address="" if bridge.load_balanced or cluster is not None else await self._node_address(),
            unserved=frozenset(unserved),
            **found,
        )

    def _refs(self, bridge: Bridge) -> dict[str, ObjectRef]:
        here, metallb = bridge.namespace, self._settings.metallb_namespace
        dpf, cluster = bridge.dpu_cluster
        return {
            "dpu_cluster": _ref(DPF, "DPUCluster", dpf, cluster),
            "hosted_cluster": _ref(HYPERSHIFT, "HostedCluster", here, bridge.name),
            "node_pool": _ref(HYPERSHIFT, "NodePool", here, bridge.name),
            "ssh_key_copy": _ref("v1", "Secret", here, secrets.ssh_key_name(bridge)),
            "pull_secret_copy": _ref("v1", "Secret", here, secrets.pull_secret_name(bridge)),
            "encryption_key": _ref("v1", "Secret", here, secrets.encryption_key_name(bridge)),
            "machine_config": _ref("v1", "ConfigMap", here, secrets.machine_config_name(bridge)),
            "address_pool": _ref(METALLB, "IPAddressPool", metallb, bridge.unique_name),
            "advertisement": _ref(METALLB, "L2Advertisement", metallb, bridge.unique_name),
            "injected_kubeconfig": _ref("v1", "Secret", dpf, secrets.kubeconfig_name(bridge)),
        }

    async def _read(self, ref: ObjectRef, unserved: set[str]) -> Object | None:
        try:
            return await self._client.get(ref)
        except UnknownKind:
            unserved.add(ref.kind)
        except NotFound:
            pass
        return None

    async def _material(self, bridge: Bridge, source: Source, key: str) -> Material:
        if source.file:
            return await asyncio.to_thread(from_file, source, key, self._files)
        ref = _ref("v1", "Secret", bridge.namespace, source.secret)
        return from_secret(source, key, bridge.namespace, await self._read(ref, set()))

    async def _admin_kubeconfig(self, cluster: Object | None) -> Object | None:
        """HyperShift says in the status how the Secret is called."""
        name = admin_kubeconfig_name(cluster)
        if cluster is None or not name:
            return None
        return await self._read(_ref("v1", "Secret", cluster["metadata"]["namespace"], name), set())

    async def _node_address(self) -> str:
        """Of the first node by name that is ready."""
        nodes = await self._client.list(Selection(api_version="v1", kind="Node"))
        for node in sorted((each for each in nodes if is_ready(each)), key=lambda each: str(each["metadata"]["name"])):
            listed = {each["type"]: each["address"] for each in (node.get("status") or {}).get("addresses") or ()}
            for type_ in _ADDRESS_ORDER:
                if listed.get(type_):
                    return str(listed[type_])
        return ""


def admin_kubeconfig_name(cluster: Object | None) -> str:
    return str((((cluster or {}).get("status") or {}).get("kubeconfig") or {}).get("name") or "")


def is_ready(node: Object) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _ref(api_version: str, kind: str, namespace: str, name: str) -> ObjectRef:
    return ObjectRef(api_version=api_version, kind=kind, namespace=namespace, name=name)
