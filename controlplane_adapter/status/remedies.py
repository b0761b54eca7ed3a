"""What to do about an object that the management cluster refused, by known error texts of its API server."""

import re

_NOT_INSTALLED = "HyperShift is not installed on this management cluster: install its CRDs and its operator"
# The first text comes from validation, the second from server-side apply before validation.
GCP_MISSING = r'Unsupported value: "GCP"|\.spec\.platform\.gcp: field not declared in schema'
_REMEDIES = {
    GCP_MISSING: (
        "HyperShift on this management cluster does not support GCP: install it with the feature set "
        "TechPreviewNoUpgrade"
    ),
    r"field not declared in schema": (
        "HyperShift on this management cluster is older than the rendered object: upgrade it, or remove the field"
    ),
    r"no matches for kind|could not find the requested resource": _NOT_INSTALLED,
    r'namespaces "[^"]*" not found': "create this namespace there, or correct HOSTED_CLUSTER_NAMESPACE",
    r"Apply failed with \d+ conflict": "another field manager owns these fields there: remove them from its object",
    r"is forbidden": "allow the Maestro agent of this management cluster to manage HostedClusters",
}


def remedy_for(message: str) -> str:
    """The remedy of the first known text in the message; "" where none is known."""
    return next((remedy for text, remedy in _REMEDIES.items() if re.search(text, message)), "")
