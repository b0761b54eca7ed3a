"""A DPUHCPBridge as the operator works with it: read from the object, which the API server has validated."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dpu_bridge.api.kinds import API_VERSION, FINALIZER, KIND
from shared import times
from shared.kubernetes import ObjectRef

Key = tuple[str, str]
"""Namespace and name."""

# `<namespace>-<name>` is the control plane's namespace, whose name is a DNS label.
LONGEST_CONTROL_PLANE_NAMESPACE = 63
_DIGEST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the SSH key or the pull secret is: a file of the operator's pod, or a Secret of the bridge's namespace."""

    file: str = ""
    secret: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """`previous` is the status that the object has now."""

    key: Key
    uid: str
    resource_version: str
    generation: int
    created: datetime
    deleted: datetime | None
    finalizers: tuple[str, ...]
    dpu_cluster: Key
    base_domain: str
    ssh_key: Source
    pull_secret: Source
    release_image: str
    etcd_storage_class: str
    control_plane_availability: str
    infrastructure_availability: str
    load_balanced: bool
    cluster_type: str
    virtual_ip: str
    deletes_with_dpu_cluster: bool
    denies_suspicious: bool
    previous: Mapping[str, Any]

    @property
    def namespace(self) -> str:
        return self.key[0]

    @property
    def name(self) -> str:
        return self.key[1]

    @property
    def ref(self) -> ObjectRef:
        return ObjectRef(api_version=API_VERSION, kind=KIND, namespace=self.namespace, name=self.name)

    @property
    def is_held(self) -> bool:
        """Whether our finalizer keeps it until everything is cleaned up."""
        return FINALIZER in self.finalizers

    @property
    def control_plane_namespace(self) -> str:
        return f"{self.namespace}-{self.name}".replace(".", "-")

    @property
    def unique_name(self) -> str:
        """For objects in namespaces where bridges of several namespaces meet."""
        return f"{self.name}-{digest(f'{self.namespace}/{self.name}')}"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]


def key_of(document: Mapping[str, Any]) -> Key:
    metadata = document["metadata"]
    return str(metadata.get("namespace") or ""), str(metadata["name"])


def bridge_of(document: Mapping[str, Any]) -> Bridge:
    metadata, spec = document["metadata"], document["spec"]
    deleted = metadata.get("deletionTimestamp")
    return Bridge(
        key=key_of(document),
        uid=str(metadata["uid"]),
        resource_version=str(metadata["resourceVersion"]),
        generation=int(metadata.get("generation") or 1),
        created=times.parse(metadata["creationTimestamp"]),
        deleted=times.parse(deleted) if deleted else None,
        finalizers=tuple(metadata.get("finalizers") or ()),
        dpu_cluster=dpu_cluster_of(spec),
        base_domain=str(spec["baseDomain"]),
        ssh_key=_source(spec, "sshKey", "sshKeySecretRef"),
        pull_secret=_source(spec, "pullSecret", "pullSecretRef"),
        release_image=str(spec["ocpReleaseImage"]),
        etcd_storage_class=str(spec.get("etcdStorageClass") or ""),
        control_plane_availability=str(spec.get("controlPlaneAvailabilityPolicy") or "HighlyAvailable"),
        infrastructure_availability=str(spec.get("infrastructureAvailabilityPolicy") or "SingleReplica"),
        load_balanced=bool(spec.get("exposeThroughLoadBalancer")),
        cluster_type=str(spec["clusterType"]),
        virtual_ip=str(spec.get("metalLBVirtualIP") or ""),
        deletes_with_dpu_cluster=spec.get("onDPUClusterDeletion") == "Delete",
        denies_suspicious=spec.get("suspiciousCertificateRequests") == "Deny",
        previous=document.get("status") or {},
    )


def dpu_cluster_of(spec: Mapping[str, Any]) -> Key:
    ref = spec["dpuClusterRef"]
    return str(ref["namespace"]), str(ref["name"])


def _source(spec: Mapping[str, Any], file: str, secret: str) -> Source:
    return Source(file=str(spec.get(file) or ""), secret=str((spec.get(secret) or {}).get("name") or ""))
