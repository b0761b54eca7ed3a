"""What to do about an object that the management cluster refused: known texts of its API server, and their remedies."""

import re

_NOT_INSTALLED = "HyperShift is not installed on that management cluster: install its CRDs and its operator"
_REMEDIES = {
    # The first is what validation says, the second what server-side apply says before it.
    r'Unsupported value: "GCP"|\.spec\.platform\.gcp: field not declared in schema': (
        "the HyperShift of that management cluster does not know GCP: install it with the feature set "
        "TechPreviewNoUpgrade, which brings the CRD that does"
    ),
    r"field not declared in schema": (
        "the HyperShift of that management cluster is older than what was rendered: upgrade it, or leave the field out"
    ),
    r"no matches for kind|could not find the requested resource": _NOT_INSTALLED,
    r'namespaces "[^"]*" not found': "create the namespace there, or correct the setting that names it",
    r"Apply failed with \d+ conflict": "another writer owns those fields there: let it give them up",
    r"is forbidden": "give the Maestro agent of that management cluster the right to manage HostedClusters",
}


def remedy_for(words: str) -> str:
    """The remedy of the first known text found in the refusal; "" where there is none."""
    return next((remedy for text, remedy in _REMEDIES.items() if re.search(text, words)), "")
