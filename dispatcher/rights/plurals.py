"""What the API server calls a kind, for kinds that everybody has; others follow Kubernetes' usual spelling."""

from typing import Final

_IRREGULAR: Final = {"Endpoints": "endpoints", "NetworkPolicy": "networkpolicies"}
_CLUSTER_SCOPED: Final = frozenset(
    {
        *("Namespace", "Node", "PersistentVolume", "ClusterRole", "ClusterRoleBinding", "StorageClass"),
        *("CustomResourceDefinition", "PriorityClass", "IngressClass", "RuntimeClass", "APIService"),
    }
)


def plural_of(kind: str) -> str:
    if kind in _IRREGULAR:
        return _IRREGULAR[kind]
    lowered = kind.lower()
    if lowered.endswith(("s", "x", "ch", "sh")):
        return f"{lowered}es"
    if lowered.endswith("y") and lowered[-2:-1] not in "aeiou":
        return f"{lowered[:-1]}ies"
    return f"{lowered}s"


def is_cluster_scoped(kind: str) -> bool:
    return kind in _CLUSTER_SCOPED
