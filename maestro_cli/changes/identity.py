"""Which object a manifest is: group, kind, namespace and name; its API version may change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from shared.errors import Invalid, Problem


@dataclass(frozen=True, slots=True, order=True)
class ManifestId:
    kind: str
    namespace: str
    name: str
    group: str = ""

    @property
    def is_secret(self) -> bool:
        return self.kind == "Secret" and not self.group

    def __str__(self) -> str:
        return "/".join(part for part in (self.kind, self.namespace, self.name) if part)

    @classmethod
    def parse(cls, text: str) -> Self:
        """`Kind/name` or `Kind/namespace/name`, as `--remove` takes it; the group is left open."""
        match text.split("/"):
            case [kind, name] if kind and name:
                return cls(kind, "", name)
            case [kind, namespace, name] if kind and namespace and name:
                return cls(kind, namespace, name)
        raise Invalid(f"{text!r} names no manifest", [Problem("", "write Kind/name or Kind/namespace/name")])

    def means(self, other: "ManifestId") -> bool:
        """Whether this one, as a person wrote it, names that one."""
        same = (self.kind.lower(), self.name) == (other.kind.lower(), other.name)
        return same and self.namespace in {"", other.namespace}


def manifest_id(manifest: Mapping[str, Any]) -> ManifestId:
    metadata = manifest.get("metadata")
    named: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}
    group = str(manifest.get("apiVersion") or "").rpartition("/")[0]
    name, namespace = str(named.get("name") or ""), str(named.get("namespace") or "")
    return ManifestId(str(manifest.get("kind") or ""), namespace, name, group)


def config_key(config: Mapping[str, Any]) -> str:
    """A manifest config's resource identifier as one text."""
    identifier = config.get("resourceIdentifier")
    parts: Mapping[str, Any] = identifier if isinstance(identifier, Mapping) else {}
    return "/".join(str(parts.get(key) or "") for key in ("group", "resource", "namespace", "name"))
