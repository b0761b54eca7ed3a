"""A HostedCluster by the schema of a CRD: unknown fields and wrong types, as its API server would refuse them. Pure.

Every HyperShift has its own schema, so none is shipped: `controlplane-adapter check --crd` takes it from a file.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from controlplane_adapter.hostedcluster.model import API_VERSION, GROUP, Json
from shared.errors import Misconfigured, Problem

_VERSION = API_VERSION.rpartition("/")[2]
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list, tuple),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
# Fields that every object has and no CRD describes.
_OF_KUBERNETES = ("apiVersion", "kind", "metadata")


def schema_of(crd: Any) -> Json:
    """The schema of the version that we render. Raises Misconfigured for what is not the CRD of HostedClusters."""
    spec = crd.get("spec") if isinstance(crd, Mapping) else None
    if not isinstance(spec, Mapping) or spec.get("group") != GROUP:
        raise Misconfigured(f"not the CRD of {GROUP}", remedy=f"kubectl get crd hostedclusters.{GROUP} --output yaml")
    for version in spec.get("versions") or ():
        if isinstance(version, Mapping) and version.get("name") == _VERSION:
            schema = (version.get("schema") or {}).get("openAPIV3Schema")
            if isinstance(schema, Mapping):
                return schema
    raise Misconfigured(f"the CRD has no schema of {API_VERSION}")


def schema_problems(document: Json, schema: Json) -> Iterator[Problem]:
    """Null is left out: an overlay removes a field with it."""
    for name, value in document.items():
        if name not in _OF_KUBERNETES:
            yield from _member_problems(name, value, schema, name)


def offers_gcp(schema: Json) -> bool:
    node: Any = schema
    for name in ("spec", "platform", "gcp"):
        node = (node.get("properties") or {}).get(name) or {}
    return bool(node)


def _problems(value: Any, schema: Json, path: str) -> Iterator[Problem]:
    if value is None or schema.get("x-kubernetes-int-or-string"):
        return
    expected = str(schema.get("type") or "")
    if expected in _TYPES and not _has_type(value, expected):
        yield Problem(path, f"must be of type {expected}, not {value!r:.60}")
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from _member_problems(name, each, schema, f"{path}.{name}")
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield from _problems(each, schema.get("items") or {}, f"{path}[{index}]")


def _member_problems(name: str, value: Any, schema: Json, path: str) -> Iterator[Problem]:
    properties, rest = schema.get("properties"), schema.get("additionalProperties")
    if isinstance(properties, Mapping) and name in properties:
        yield from _problems(value, properties[name], path)
    elif isinstance(rest, Mapping):
        yield from _problems(value, rest, path)
    elif isinstance(properties, Mapping) and not schema.get("x-kubernetes-preserve-unknown-fields"):
        yield Problem(path, "is not a field of this CRD")


def _has_type(value: Any, expected: str) -> bool:
    if isinstance(value, bool):
        return expected == "boolean"
    return isinstance(value, _TYPES[expected])
