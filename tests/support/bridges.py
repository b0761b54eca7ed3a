"""Bridges and what is observed around them, for the tests of the bridge operator."""

import base64
import copy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from dpu_bridge.api.bridge import bridge_of
from dpu_bridge.api.kinds import API_VERSION, CLAIM_ANNOTATION, DPF, FINALIZER, KIND
from dpu_bridge.plan import (
    Apply,
    ApproverState,
    Contender,
    CreateEncryptionKey,
    Delete,
    Material,
    Observed,
    Patch,
    PlanSettings,
)
from dpu_bridge.render import hosted_cluster as rendering
from dpu_bridge.render import metallb, secrets
from shared.kubernetes import Object, ObjectRef

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
RELEASE = "registry.example.com/ocp-release:4.22.0-multi"
IMAGES = {"4.22.0": "registry.example.com/bluefield:4.22.0", "4.22.1": "registry.example.com/bluefield:4.22.1"}
SETTINGS = PlanSettings(images_namespace="dpu-hcp-bridge")
KUBECONFIG = base64.b64encode(b"kubeconfig").decode()


def bridge_object(name: str = "dpu", namespace: str = "clusters", **changes: Any) -> Object:
    """A changed field of None is left out."""
    spec = {
        "dpuClusterRef": {"name": "bluefields", "namespace": "dpf"},
        "baseDomain": "example.com",
        "sshKeySecretRef": {"name": "ssh"},
        "pullSecretRef": {"name": "pull"},
        "ocpReleaseImage": RELEASE,
        "controlPlaneAvailabilityPolicy": "HighlyAvailable",
        "infrastructureAvailabilityPolicy": "SingleReplica",
        "exposeThroughLoadBalancer": True,
        "metalLBVirtualIP": "192.0.2.10",
        "clusterType": "example.com/hypershift",
        **changes,
    }
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {key: value for key, value in spec.items() if value is not None},
    }


def stored(document: Object, **metadata: Any) -> Object:
    """As the API server returns it."""
    defaults = {
        "uid": f"uid-of-{document['metadata']['name']}",
        "resourceVersion": "7",
        "generation": 1,
        "creationTimestamp": "2026-01-01T10:00:00Z",
    }
    return {**document, "metadata": {**defaults, **document["metadata"], **metadata}}


def dpu_cluster(*, type_: str = "example.com/hypershift", claim: str = "", kubeconfig: str = "") -> Object:
    annotations = {CLAIM_ANNOTATION: claim} if claim else {}
    spec = {"type": type_} | ({"kubeconfig": kubeconfig} if kubeconfig else {})
    metadata = {"name": "bluefields", "namespace": "dpf", "annotations": annotations}
    return stored({"apiVersion": DPF, "kind": "DPUCluster", "metadata": metadata, "spec": spec})


def fresh(*, status: Object | None = None, metadata: Object | None = None, **changes: Any) -> Observed:
    """A held bridge with all that it needs, before anything was made."""
    document = stored(bridge_object(**changes), **{"finalizers": [FINALIZER], **(metadata or {})})
    bridge = bridge_of({**document, "status": status or {}})
    return Observed(
        bridge=bridge,
        now=NOW,
        contenders=(Contender(bridge.created, bridge.uid, bridge.key),),
        dpu_cluster=dpu_cluster(),
        images=IMAGES,
        ssh_key=Material(data="c3No"),
        pull_secret=Material(data="e30="),
        node_address="192.0.2.1",
    )


def settled(observed: Observed, **hosted_cluster_status: Any) -> Observed:
    """Everything as the plan wants it, and a control plane that is available."""
    bridge = observed.bridge
    cluster = stored(
        rendering.hosted_cluster(
            bridge, release_image=bridge.release_image, node_address=observed.node_address, present=None
        )
    )
    cluster["status"] = {
        "conditions": [condition("Available", "True"), condition("Degraded", "False")],
        "kubeconfig": {"name": "dpu-admin-kubeconfig"},
        **hosted_cluster_status,
    }
    loaded = bridge.load_balanced
    return replace(
        observed,
        dpu_cluster=dpu_cluster(claim="/".join(bridge.key), kubeconfig=secrets.kubeconfig_name(bridge)),
        hosted_cluster=cluster,
        node_pool=stored(rendering.node_pool(bridge, release_image=bridge.release_image)),
        ssh_key_copy=stored(secrets.ssh_key(bridge, observed.ssh_key.data)),
        pull_secret_copy=stored(secrets.pull_secret(bridge, observed.pull_secret.data)),
        encryption_key=stored({**secrets.encryption_key(bridge), "data": {"key": "a2V5"}}),
        machine_config=stored(secrets.machine_config(bridge, IMAGES["4.22.0"])),
        address_pool=stored(metallb.address_pool(bridge, SETTINGS.metallb_namespace)) if loaded else None,
        advertisement=stored(metallb.advertisement(bridge, SETTINGS.metallb_namespace)) if loaded else None,
        admin_kubeconfig=stored(secret("dpu-admin-kubeconfig", kubeconfig=KUBECONFIG)),
        injected_kubeconfig=stored(secrets.kubeconfig(bridge, KUBECONFIG)),
        approver=ApproverState(is_active=True, reason="Active", message="watching"),
    )


def condition(type_: str, status: str, *, since: str = "2026-01-01T11:00:00Z", **more: str) -> Object:
    return {
        "type": type_,
        "status": status,
        "reason": "AsExpected",
        "message": "m",
        "lastTransitionTime": since,
        **more,
    }


def secret(name: str, namespace: str = "clusters", **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}, "data": data}


def changed(document: Object | None, path: str, value: Any) -> Object:
    """A copy in which the member at a dotted path has another value."""
    assert document is not None
    result: Object = copy.deepcopy(document)
    *steps, last = path.split(".")
    place = result
    for step in steps:
        place = place[step]
    place[last] = value
    return result


def described(action: object) -> str:
    """An action in short: `apply HostedCluster`, `patch DPUCluster`."""
    match action:
        case Apply(manifest):
            return f"apply {_short(ObjectRef.of(manifest))}"
        case CreateEncryptionKey(_):
            return "create encryption key"
        case Patch(ref, _):
            return f"patch {_short(ref)}"
        case Delete(ref, _):
            return f"delete {_short(ref)}"
    raise AssertionError(action)


def _short(ref: ObjectRef) -> str:
    return f"{ref.kind} {ref.name}" if ref.kind in ("Secret", "ConfigMap") else ref.kind
