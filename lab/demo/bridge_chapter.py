"""The chapter of the DPU bridge: a DPUCluster gets a control plane, a DPU joins it, and everything is removed again."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any, Final

from dpu_bridge.api.kinds import API_VERSION, DPF, KIND
from lab.demo import waiting
from lab.demo.timeline import Timeline
from lab.dpf.certificate_requests import bootstrap
from lab.dpf.dpus import create_dpu
from lab.kubernetes.storage.store import Change
from lab.system.bridge_system import DPF_NAMESPACE, NAMESPACE, VERSION, BridgeSystem
from shared.errors import NotFound
from shared.kubernetes import ObjectRef

BRIDGE: Final = ObjectRef(api_version=API_VERSION, kind=KIND, namespace=NAMESPACE, name="dpu")
CLUSTER: Final = ObjectRef(api_version=DPF, kind="DPUCluster", namespace=DPF_NAMESPACE, name="bluefields")
_TYPE = "example.com/hypershift"
_OWN_CONDITIONS = ("DPUClusterBound", "ControlPlaneApplied", "KubeconfigInjected", "CSRApprovalActive", "Ready")


async def dpu_bridge(system: BridgeSystem, timeline: Timeline, within: timedelta) -> None:
    """A DPUCluster is bridged to a hosted control plane, a DPU joins it, and the bridge is deleted."""
    shown = _Facts(timeline)
    for server in (system.management, system.hosted):
        server.store.listen(shown.on_change)
    chapter = _Chapter(system, timeline, within)
    try:
        await chapter.bridge_becomes_ready()
        await chapter.dpu_joins()
        await chapter.bridge_is_deleted()
    finally:
        for server in (system.management, system.hosted):
            server.store.ignore(shown.on_change)


class _Chapter:
    def __init__(self, system: BridgeSystem, timeline: Timeline, within: timedelta) -> None:
        self._system, self._timeline, self._within = system, timeline, within
        self._client, self._hosted = system.client, system.hosted_client

    async def bridge_becomes_ready(self) -> None:
        cluster = {"apiVersion": DPF, "kind": "DPUCluster", "metadata": _named(CLUSTER), "spec": {"type": _TYPE}}
        await self._client.create(cluster)
        self._timeline.event("you", f"created the DPUCluster {CLUSTER.name}")
        await self._client.create(_bridge())
        self._timeline.event("you", f"created the bridge {BRIDGE.name}")

        async def is_ready() -> bool:
            conditions = (await self._client.get(BRIDGE)).get("status", {}).get("conditions") or ()
            return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

        await self._until("the DPUCluster has a control plane, and DPUs can join", is_ready)

    async def dpu_joins(self) -> None:
        """A kubelet asks by the credentials that all DPUs share; only a known DPU's request is approved."""
        await create_dpu(self._client, "dpu-1", (DPF_NAMESPACE, CLUSTER.name), phase="DPU Cluster Config")
        self._timeline.event("DPF", "installed the DPU dpu-1")
        request = await self._hosted.create(bootstrap("dpu-1"))

        async def is_approved() -> bool:
            found = await self._hosted.get(ObjectRef.of(request))
            return any(each["type"] == "Approved" for each in found.get("status", {}).get("conditions") or ())

        await self._until("the certificate request of the DPU is approved", is_approved)

    async def bridge_is_deleted(self) -> None:
        await self._client.delete(BRIDGE)
        self._timeline.event("you", f"deleted the bridge {BRIDGE.name}")

        async def is_gone() -> bool:
            try:
                await self._client.get(BRIDGE)
            except NotFound:
                return "kubeconfig" not in (await self._client.get(CLUSTER))["spec"]
            return False

        await self._until("the bridge, its control plane and DPF's kubeconfig are gone", is_gone)

    async def _until(self, what: str, reached: Callable[[], Awaitable[bool]]) -> None:
        await waiting.until(what, reached, within=self._within, timeline=self._timeline, check=self._system.check)


class _Facts:
    """Shows each new fact of the two clusters once."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._known: dict[str, str] = {}

    def on_change(self, change: Change) -> None:
        document, plural = change.after or {}, change.key.plural
        conditions = {each["type"]: each for each in (document.get("status") or {}).get("conditions") or ()}
        if plural == "dpuhcpbridges":
            for type_ in _OWN_CONDITIONS:
                self._condition("DPU bridge", "bridge", change.key.name, conditions.get(type_))
        elif plural == "hostedclusters":
            self._condition("HyperShift", "HostedCluster", change.key.name, conditions.get("Available"))
        elif plural == "dpuclusters" and (name := (document.get("spec") or {}).get("kubeconfig")):
            self._show("kubeconfig", "DPU bridge", f"DPUCluster {change.key.name} has the kubeconfig {name}")
        elif plural == "certificatesigningrequests" and "Approved" in conditions:
            self._show(change.key.name, "DPU bridge", f"approved the certificate request {change.key.name}")

    def _condition(self, who: str, kind: str, name: str, condition: Mapping[str, Any] | None) -> None:
        if condition:
            text = f"{condition['type']}={condition['status']} {condition.get('reason', '')}"
            self._show(f"{kind}/{name}/{condition['type']}", who, f"{kind} {name}: {text}")

    def _show(self, about: str, who: str, what: str) -> None:
        if self._known.get(about) != what:
            self._known[about] = what
            self._timeline.event(who, what)


def _named(ref: ObjectRef) -> dict[str, str]:
    return {"name": ref.name, "namespace": ref.namespace or ""}


def _bridge() -> dict[str, Any]:
    spec = {
        "dpuClusterRef": _named(CLUSTER),
        "baseDomain": "example.com",
        "sshKeySecretRef": {"name": "ssh"},
        "pullSecretRef": {"name": "pull"},
        "ocpReleaseImage": f"registry.example.com/ocp-release:{VERSION}-multi",
        "exposeThroughLoadBalancer": True,
        "metalLBVirtualIP": "192.0.2.10",
        "clusterType": _TYPE,
    }
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": _named(BRIDGE), "spec": spec}
