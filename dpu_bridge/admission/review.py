"""What is wrong with a bridge that is to be stored, beyond what its schema can say.

A change is checked by the fields that it changes: a bridge that was good when it was stored can still be changed, and
one that is being deleted can always be. References to objects that are not there yet are warnings.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import PurePosixPath
from typing import Any

from dpu_bridge.api.bridge import LONGEST_CONTROL_PLANE_NAMESPACE
from dpu_bridge.api.conditions import IMAGE_AVAILABLE
from dpu_bridge.api.kinds import KAMAJI
from dpu_bridge.plan.images import Missing, find_image
from shared.errors import Problem

REQUIRED = ("dpuClusterRef", "baseDomain", "ocpReleaseImage", "clusterType")
PAIRS = (("sshKey", "sshKeySecretRef"), ("pullSecret", "pullSecretRef"))

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """The ConfigMap of BlueField images, and how messages name it. `data` is None where it is missing."""

    data: Mapping[str, str] | None
    where: str


def problems(new: Json, old: Json | None, images: Images, *, files: str) -> list[Problem]:
    """`old` is None for a new bridge. `files` is the folder of the operator's files."""
    if new["metadata"].get("deletionTimestamp"):
        return []
    spec: Json = new.get("spec") or {}
    before: Json = (old or {}).get("spec") or {}
    changed = {field for field in {*spec, *before} if spec.get(field) != before.get(field)}
    found = [] if old is not None else [*_required(spec), *_names(new)]
    if changed & {"metalLBVirtualIP", "exposeThroughLoadBalancer"}:
        found += _virtual_ip(spec)
    if changed & {"clusterType"} and spec.get("clusterType") == KAMAJI:
        found.append(Problem("spec.clusterType", "DPF itself manages kamaji clusters; use another type"))
    for field, _ in PAIRS:
        if field in changed and field in spec:
            found += _file(field, str(spec[field]), files)
    if "ocpReleaseImage" in changed and spec.get("ocpReleaseImage"):
        found += _image(str(spec["ocpReleaseImage"]), images)
    return found


def _required(spec: Json) -> list[Problem]:
    missing = [Problem(f"spec.{field}", "is required") for field in REQUIRED if not spec.get(field)]
    pairs = [
        Problem(f"spec.{pair[0]}", f"exactly one of {' and '.join(pair)} is required")
        for pair in PAIRS
        if sum(bool(spec.get(field)) for field in pair) != 1
    ]
    return missing + pairs


def _names(new: Json) -> list[Problem]:
    metadata = new["metadata"]
    namespace = f"{metadata.get('namespace', '')}-{metadata.get('name', '')}"
    if len(namespace) <= LONGEST_CONTROL_PLANE_NAMESPACE:
        return []
    limit = f"more than {LONGEST_CONTROL_PLANE_NAMESPACE} characters"
    return [
        Problem("metadata.name", f"the control plane's namespace {namespace} would have {limit}; use shorter names")
    ]


def _virtual_ip(spec: Json) -> list[Problem]:
    path, text = "spec.metalLBVirtualIP", str(spec.get("metalLBVirtualIP") or "")
    if bool(text) != bool(spec.get("exposeThroughLoadBalancer")):
        return [Problem(path, "is required with exposeThroughLoadBalancer, and not allowed without it")]
    if not text:
        return []
    try:
        address = ip_address(text)
    except ValueError:
        return [Problem(path, f"{text!r:.60} is not an IPv4 or IPv6 address")]
    if address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local:
        return [Problem(path, f"{address} cannot be the address of a service")]
    return []


def _file(field: str, text: str, folder: str) -> list[Problem]:
    """Symbolic links are resolved later, when the file is read."""
    path = PurePosixPath(folder) / text
    if ".." in path.parts or not path.is_relative_to(folder):
        return [Problem(f"spec.{field}", f"{text!r:.100} is not in {folder}, the folder of the operator's files")]
    return []


def _image(release: str, images: Images) -> list[Problem]:
    match find_image(release, images.data, images.where):
        case Missing(reason, message):
            return [Problem("spec.ocpReleaseImage", f"{IMAGE_AVAILABLE}=False: {reason}: {message}")]
        case _:
            return []
