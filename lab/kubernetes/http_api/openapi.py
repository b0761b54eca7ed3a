"""The part of OpenAPI v3 that kubectl reads: a PATCH that takes fieldValidation, so the server validates."""

from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import Kind, Kinds

_ROOT = "/openapi/v3"


def answer(kinds: Kinds, path: str) -> Object | None:
    """The document at an OpenAPI path, or None for another path."""
    if path == _ROOT:
        prefixes = sorted({_prefix(kind) for kind in kinds})
        return {"paths": {prefix: {"serverRelativeURL": f"{_ROOT}/{prefix}?hash=lab"} for prefix in prefixes}}
    found = [kind for kind in kinds if path == f"{_ROOT}/{_prefix(kind)}"]
    if not found:
        return None
    info = {"title": "Kubernetes", "version": "unversioned"}
    return {"openapi": "3.0.0", "info": info, "paths": {_path(kind): {"patch": _patch(kind)} for kind in found}}


def _prefix(kind: Kind) -> str:
    return f"apis/{kind.api_version}" if kind.group else f"api/{kind.version}"


def _path(kind: Kind) -> str:
    namespace = "namespaces/{namespace}/" if kind.namespaced else ""
    return f"/{_prefix(kind)}/{namespace}{kind.plural}/{{name}}"


def _patch(kind: Kind) -> Object:
    return {
        "parameters": [{"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}],
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": {"group": kind.group, "version": kind.version, "kind": kind.name},
    }
