"""Definitions of the kinds of DPF and MetalLB that the bridge uses: the fields it reads and writes, and their rules."""

from typing import Any

Object = dict[str, Any]
_TEXT: Object = {"type": "string"}
_TEXTS: Object = {"type": "array", "items": _TEXT}
_FREE: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
PHASES = (
    *("Initializing", "Node Effect", "Pending", "Config FW Parameters", "Prepare BFB", "OS Installing", "DPU Config"),
    *("DPU Cluster Config", "Host Network Configuration", "Ready", "Error", "Deleting", "Rebooting"),
    *("Perform ARM Force Restart", "Initialize Interface", "Node Effect Removal", "Checking Host Reboot Required"),
)


def _object(required: tuple[str, ...] = (), **properties: Object) -> Object:
    return {"type": "object", "properties": properties} | ({"required": list(required)} if required else {})


def _definition(group: str, version: str, kind: str, plural: str, **schema: Object) -> Object:
    names = {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}
    served = {"name": version, "served": True, "storage": True, "subresources": {"status": {}}}
    served["schema"] = {"openAPIV3Schema": {"type": "object", "properties": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [served]},
    }


_SET_ONCE: Object = {
    **_TEXT,
    "x-kubernetes-validations": [{"rule": 'oldSelf==""||self==oldSelf', "message": "kubeconfig is immutable"}],
}
_KEPT: Object = {**_TEXT, "x-kubernetes-validations": [{"rule": "self==oldSelf", "message": "Value is immutable"}]}
DPU_CLUSTERS = _definition(
    "provisioning.dpu.nvidia.com",
    "v1alpha1",
    "DPUCluster",
    "dpuclusters",
    spec=_object(("type",), type={**_TEXT, "pattern": "kamaji|static|[^/]+/.*"}, kubeconfig=_SET_ONCE),
    status=_FREE,
)
DPUS = _definition(
    "provisioning.dpu.nvidia.com",
    "v1alpha1",
    "DPU",
    "dpus",
    spec=_object(
        ("bfb", "dpuDeviceName", "dpuFlavor", "dpuNodeName", "nodeEffect", "serialNumber"),
        bfb=_TEXT,
        cluster=_object(name=_KEPT, namespace=_KEPT),
        dpuDeviceName=_TEXT,
        dpuFlavor=_TEXT,
        dpuNodeName=_TEXT,
        nodeEffect=_object(noEffect={"type": "boolean"}),
        serialNumber=_TEXT,
    ),
    status=_object(
        ("phase",),
        phase={**_TEXT, "enum": list(PHASES)},
        addresses={"type": "array", "items": _object(("address", "type"), address=_TEXT, type=_TEXT)},
    ),
)
ADDRESS_POOLS = _definition(
    "metallb.io",
    "v1beta1",
    "IPAddressPool",
    "ipaddresspools",
    spec=_object(
        ("addresses",), addresses=_TEXTS, autoAssign={"type": "boolean"}, serviceAllocation=_object(namespaces=_TEXTS)
    ),
    status=_FREE,
)
ADVERTISEMENTS = _definition(
    "metallb.io", "v1beta1", "L2Advertisement", "l2advertisements", spec=_object(ipAddressPools=_TEXTS), status=_FREE
)
ALL = (DPU_CLUSTERS, DPUS, ADDRESS_POOLS, ADVERTISEMENTS)
