"""Which values of an object's status come back: by default for well-known kinds, and by `--feedback` for any."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from maestro_cli.changes.identity import manifest_id
from maestro_cli.exits import UsageError
from shared.model.manifestwork import manifest_config

# Scalars come back with every agent; the whole status only with Maestro's own.
_WORKLOAD: Final = {"replicas": ".status.replicas", "readyReplicas": ".status.readyReplicas"}
_WELL_KNOWN: Final[Mapping[tuple[str, str], tuple[str, Mapping[str, str]]]] = {
    ("batch", "Job"): (
        "jobs",
        {"active": ".status.active", "succeeded": ".status.succeeded", "failed": ".status.failed"},
    ),
    ("apps", "Deployment"): ("deployments", {**_WORKLOAD, "availableReplicas": ".status.availableReplicas"}),
    ("apps", "StatefulSet"): ("statefulsets", _WORKLOAD),
    ("", "Namespace"): ("namespaces", {"phase": ".status.phase"}),
    ("hypershift.openshift.io", "HostedCluster"): (
        "hostedclusters",
        {
            "endpoint": ".status.controlPlaneEndpoint.host",
            "available": '.status.conditions[?(@.type=="Available")].status',
        },
    ),
    ("hypershift.openshift.io", "NodePool"): (
        "nodepools",
        {"replicas": ".status.replicas", "ready": '.status.conditions[?(@.type=="Ready")].status'},
    ),
}
_RULE = re.compile(r"(?P<kind>[A-Za-z][A-Za-z0-9]*):(?P<name>[A-Za-z][A-Za-z0-9_-]*)=(?P<path>\.\S.*)")


@dataclass(frozen=True, slots=True)
class FeedbackRule:
    """One value of all objects of a kind: the name under which it comes back, and its JSONPath."""

    kind: str
    name: str
    path: str

    @classmethod
    def parse(cls, text: str) -> Self:
        match = _RULE.fullmatch(text)
        if match is None:
            raise UsageError(
                f"--feedback {text!r} is not KIND:NAME=JSONPATH", remedy="such as Job:active=.status.active"
            )
        return cls(match["kind"], match["name"], match["path"])


def config_of(manifest: Mapping[str, Any], rules: Sequence[FeedbackRule]) -> dict[str, Any] | None:
    """The manifest config that asks for an object's feedback; None where nothing is asked."""
    identity = manifest_id(manifest)
    resource, paths = _WELL_KNOWN.get((identity.group, identity.kind), (_plural(identity.kind), {}))
    asked = {each.name: each.path for each in rules if each.kind.lower() == identity.kind.lower()}
    feedback = {**({"status": ".status", **paths} if paths else {}), **asked}
    if not feedback:
        return None
    return manifest_config(
        group=identity.group, resource=resource, namespace=identity.namespace, name=identity.name, feedback=feedback
    )


def _plural(kind: str) -> str:
    lowered = kind.lower()
    if lowered.endswith(("s", "x", "ch")):
        return f"{lowered}es"
    if lowered.endswith("y") and lowered[-2:-1] not in "aeiou":
        return f"{lowered[:-1]}ies"
    return f"{lowered}s"
