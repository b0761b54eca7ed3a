"""Definitions of HyperShift's kinds that take every field, for stand-ins of a management cluster."""

from typing import Any

GROUP, VERSION = "hypershift.openshift.io", "v1beta1"


def definition(kind: str, plural: str) -> dict[str, Any]:
    served = {"name": VERSION, "served": True, "storage": True, "subresources": {"status": {}}}
    served["schema"] = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [served],
        },
    }


ALL = (definition("HostedCluster", "hostedclusters"), definition("NodePool", "nodepools"))
