"""Parses a URL path of the API into kind, namespace, name and subresource."""

from dataclasses import dataclass

from lab.kubernetes.api.kinds import Kind, Kinds

_NAMESPACE_SUBRESOURCES = ("status", "finalize")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Without `name` it is the collection; without `namespace`, for a namespaced kind, all namespaces."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def group_version(path: str) -> tuple[str, str]:
    """The group and version at the start of a path; empty if there are none."""
    match [part for part in path.split("/") if part]:
        case ["api", version, *_]:
            return "", version
        case ["apis", group, version, *_]:
            return group, version
    return "", ""


def parse(kinds: Kinds, path: str) -> Target | None:
    """None if the path names nothing that is served."""
    group, version = group_version(path)
    parts = [part for part in path.split("/") if part]
    return _within(kinds, group, version, parts[3 if group else 2 :])


def _within(kinds: Kinds, group: str, version: str, rest: list[str]) -> Target | None:
    namespace = ""
    match rest:
        case ["namespaces", name, plural, *more] if plural not in _NAMESPACE_SUBRESOURCES:
            namespace, rest = name, [plural, *more]
    if not rest or len(rest) > 3:  # noqa: PLR2004 - kind, name, subresource
        return None
    plural, name, subresource = (*rest, "", "")[:3]
    kind = kinds.find(group, version, plural)
    if kind is None or (namespace and not kind.namespaced):
        return None
    if subresource and not _has(kind, subresource):
        return None
    if plural == "namespaces":
        namespace = name
    return Target(kind=kind, namespace=namespace, name=name, subresource=subresource)


def _has(kind: Kind, subresource: str) -> bool:
    if subresource == "status":
        return kind.has_status
    return (kind.plural, subresource) in {("serviceaccounts", "token"), ("certificatesigningrequests", "approval")}
