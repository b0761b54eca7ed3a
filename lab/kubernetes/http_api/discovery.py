"""Discovery: the groups and kinds that the API server serves, its version and its health paths."""

from itertools import groupby

from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import Kind, Kinds

VERSION = {"major": "1", "minor": "36", "gitVersion": "v1.36.4", "platform": "linux/amd64"}
HEALTH_PATHS = ("/healthz", "/livez", "/readyz")
_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
_STATUS_VERBS = ["get", "patch", "update"]


def answer(kinds: Kinds, path: str) -> Object | None:
    """The document at a discovery path, or None for another path."""
    match [part for part in path.split("/") if part]:
        case ["version"]:
            return dict(VERSION)
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"]}
        case ["apis"]:
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": _groups(kinds)}
        case ["apis", name]:
            found = next((group for group in _groups(kinds) if group["name"] == name), None)
            return {"kind": "APIGroup", "apiVersion": "v1", **found} if found else None
        case ["api", version]:
            return _resources(kinds, "", version)
        case ["apis", group, version]:
            return _resources(kinds, group, version)
    return None


def _groups(kinds: Kinds) -> list[Object]:
    named = sorted({(kind.group, kind.version) for kind in kinds if kind.group})
    groups = []
    for name, pairs in groupby(named, key=lambda pair: pair[0]):
        versions = [{"groupVersion": f"{name}/{version}", "version": version} for _, version in pairs]
        groups.append({"name": name, "versions": versions, "preferredVersion": versions[-1]})
    return groups


def _resources(kinds: Kinds, group: str, version: str) -> Object | None:
    found = [kind for kind in kinds if (kind.group, kind.version) == (group, version)]
    if not found:
        return None
    served = [entry for kind in found for entry in _entries(kind)]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": found[0].api_version,
        "resources": served,
    }


def _entries(kind: Kind) -> list[Object]:
    entry: Object = {
        "name": kind.plural,
        "singularName": kind.singular or kind.name.lower(),
        "namespaced": kind.namespaced,
        "kind": kind.name,
        "verbs": _VERBS,
    }
    if kind.short_names:
        entry["shortNames"] = list(kind.short_names)
    if not kind.has_status:
        return [entry]
    status = {"name": f"{kind.plural}/status", "singularName": "", "verbs": _STATUS_VERBS}
    return [entry, {**status, "namespaced": kind.namespaced, "kind": kind.name}]
