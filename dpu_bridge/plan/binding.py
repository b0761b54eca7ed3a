"""Whether a bridge may use its DPUCluster: it is there, has the right type, and belongs to no other bridge.

A claim on the DPUCluster decides. Without one the oldest bridge wins. The claim is written on the version of the
DPUCluster that it was decided on, so two bridges can never both succeed.
"""

from dataclasses import dataclass

from dpu_bridge.api.bridge import Key
from dpu_bridge.api.kinds import CLAIM_ANNOTATION, DPF, KAMAJI
from dpu_bridge.plan.actions import Patch
from dpu_bridge.plan.observed import Contender, Observed
from shared.kubernetes import Object, ObjectRef, version_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """`is_ours`: the DPUCluster is bound to this bridge, or will be by `claim`. `is_missing`: it is not there."""

    is_ours: bool
    reason: str
    message: str
    claim: Patch | None = None
    is_missing: bool = False


def binding(observed: Observed) -> Binding:
    bridge, cluster = observed.bridge, observed.dpu_cluster
    named = f"DPUCluster {'/'.join(bridge.dpu_cluster)}"
    if "DPUCluster" in observed.unserved:
        return _refused("DPFNotInstalled", "The API server does not serve DPUClusters; install the DPF operator")
    if cluster is None:
        return _missing(observed, named)
    kind = str((cluster.get("spec") or {}).get("type") or "")
    if kind == KAMAJI:
        return _refused("ClusterTypeInvalid", f"{named} has type {KAMAJI}, which DPF manages itself; use another type")
    if kind != bridge.cluster_type:
        remedy = "create the bridge anew with clusterType of the DPUCluster"
        return _refused("ClusterTypeInvalid", f"{named} has type {kind}, not {bridge.cluster_type}; {remedy}")
    winner = winner_of(observed)
    if winner != bridge.key:
        remedy = "delete this bridge, or name another DPUCluster in a new one"
        return _refused("DPUClusterInUse", f"{named} belongs to bridge {'/'.join(winner)}, which is older; {remedy}")
    claim = None if claim_of(cluster) == bridge.key else _claim(cluster, bridge.key)
    return Binding(is_ours=True, reason="Bound", message=f"{named} is bound to this bridge", claim=claim)


def winner_of(observed: Observed) -> Key:
    """The bridge with the claim, if it is still there, else the oldest."""
    bridge = observed.bridge
    contenders = sorted({*observed.contenders, Contender(bridge.created, bridge.uid, bridge.key)})
    claimed = claim_of(observed.dpu_cluster) if observed.dpu_cluster else None
    if claimed is not None and any(each.key == claimed for each in contenders):
        return claimed
    return contenders[0].key


def claim_of(cluster: Object) -> Key | None:
    namespace, _, name = str((cluster["metadata"].get("annotations") or {}).get(CLAIM_ANNOTATION) or "").partition("/")
    return (namespace, name) if name else None


def release(observed: Observed, *, kubeconfig: str) -> Patch | None:
    """Unbind the DPUCluster, so that a later bridge can bind it. Only null removes a kubeconfig that is set."""
    cluster = observed.dpu_cluster
    if cluster is None or claim_of(cluster) != observed.bridge.key:
        return None
    body: Object = {
        "metadata": {"resourceVersion": version_of(cluster), "annotations": {CLAIM_ANNOTATION: None}},
    }
    if (cluster.get("spec") or {}).get("kubeconfig") == kubeconfig:
        body["spec"] = {"kubeconfig": None}
    return Patch(cluster_ref(observed.bridge.dpu_cluster), body)


def deleted_too(cluster: Key) -> Binding:
    """While a control plane is removed together with its DPUCluster."""
    message = (
        f"DPUCluster {'/'.join(cluster)} was deleted; its control plane is being deleted, as onDPUClusterDeletion asks"
    )
    return Binding(is_ours=False, reason="DPUClusterDeleted", message=message, is_missing=True)


def cluster_ref(key: Key) -> ObjectRef:
    return ObjectRef(api_version=DPF, kind="DPUCluster", namespace=key[0], name=key[1])


def _claim(cluster: Object, key: Key) -> Patch:
    annotations = {CLAIM_ANNOTATION: "/".join(key)}
    body = {"metadata": {"resourceVersion": version_of(cluster), "annotations": annotations}}
    namespace, name = str(cluster["metadata"]["namespace"]), str(cluster["metadata"]["name"])
    return Patch(cluster_ref((namespace, name)), body)


def _missing(observed: Observed, named: str) -> Binding:
    if observed.hosted_cluster is None:
        message = f"{named} is not there; create it, or correct dpuClusterRef in a new bridge"
        return Binding(is_ours=False, reason="DPUClusterMissing", message=message, is_missing=True)
    message = (
        f"{named} was deleted; the control plane stays, because its data cannot be restored. Create the DPUCluster "
        "again to bind it again, or delete this bridge to delete the control plane"
    )
    return Binding(is_ours=False, reason="DPUClusterDeleted", message=message, is_missing=True)


def _refused(reason: str, message: str) -> Binding:
    return Binding(is_ours=False, reason=reason, message=message)
