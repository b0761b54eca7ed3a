"""How the parts of an object join when two writers meet: lists by a key, lists as sets, or as one value.

Built-in kinds have it in a table by the field's name, custom kinds in the schema of their definition.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from lab.kubernetes.kinds import Kind


class Joining(Enum):
    """Field by field, item by item of a set, item by item with the same keys, or not at all."""

    FIELDS = "fields"
    SET = "set"
    KEYED = "keyed"
    ATOMIC = "atomic"


class Shape(Protocol):
    """One place in an object, and the places below it."""

    def child(self, name: str) -> "Shape": ...

    def item(self) -> "Shape": ...

    def joining(self, value: Any) -> Joining: ...

    def keys(self) -> tuple[str, ...]: ...


_KEYS: dict[str, tuple[str, ...]] = {
    "conditions": ("type",),
    "containers": ("name",),
    "env": ("name",),
    "ephemeralContainers": ("name",),
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ownerReferences": ("uid",),
    "podIPs": ("ip",),
    "ports": ("containerPort", "protocol"),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
_SETS = {"finalizers"}
_ATOMIC_OBJECTS = {
    "selector",
    "labelSelector",
    "configMapKeyRef",
    "fieldRef",
    "nodeSelector",
    "secretKeyRef",
    "roleRef",
}
# What a key is where an item leaves it out.
_KEY_DEFAULTS = {"protocol": "TCP"}


@dataclass(frozen=True, slots=True)
class BuiltInShape:
    kind: str
    name: str = ""

    def child(self, name: str) -> "BuiltInShape":
        return BuiltInShape(self.kind, name)

    def item(self) -> "BuiltInShape":
        return BuiltInShape(self.kind, "ownerReference" if self.name == "ownerReferences" else "")

    def joining(self, value: Any) -> Joining:
        if isinstance(value, dict):
            return Joining.ATOMIC if self.name in _ATOMIC_OBJECTS or self.name == "ownerReference" else Joining.FIELDS
        if self.name in _SETS:
            return Joining.SET
        # The Job API says nothing of its conditions, so that they are one value to those who apply them.
        keyed = self.name in _KEYS and (self.kind, self.name) != ("Job", "conditions")
        return Joining.KEYED if keyed else Joining.ATOMIC

    def keys(self) -> tuple[str, ...]:
        return _KEYS.get(self.name, ())


@dataclass(frozen=True, slots=True)
class SchemaShape:
    schema: Mapping[str, Any] = field(default_factory=dict)

    def child(self, name: str) -> Shape:
        known: Mapping[str, Any] = self.schema.get("properties") or {}
        more = self.schema.get("additionalProperties")
        return SchemaShape(known.get(name) or (more if isinstance(more, Mapping) else {}))

    def item(self) -> Shape:
        return SchemaShape(self.schema.get("items") or {})

    def joining(self, value: Any) -> Joining:
        if isinstance(value, dict):
            return Joining.ATOMIC if self.schema.get("x-kubernetes-map-type") == "atomic" else Joining.FIELDS
        styles = {"map": Joining.KEYED, "set": Joining.SET}
        return styles.get(self.schema.get("x-kubernetes-list-type", ""), Joining.ATOMIC)

    def keys(self) -> tuple[str, ...]:
        return tuple(self.schema.get("x-kubernetes-list-map-keys") or ())


@dataclass(frozen=True, slots=True)
class CustomShape:
    """A custom object: its metadata is everybody's metadata, the rest is as its schema says."""

    schema: Mapping[str, Any]

    def child(self, name: str) -> Shape:
        return BuiltInShape("", "metadata") if name == "metadata" else SchemaShape(self.schema).child(name)

    def item(self) -> Shape:
        return self

    def joining(self, value: Any) -> Joining:
        return SchemaShape(self.schema).joining(value)

    def keys(self) -> tuple[str, ...]:
        return ()


def shape_of(kind: Kind) -> Shape:
    return CustomShape(kind.schema) if kind.custom else BuiltInShape(kind.name)


def key_of(item: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """What tells an item of a keyed list from the others."""
    values = {key: item.get(key, _KEY_DEFAULTS.get(key)) for key in keys}
    return {key: value for key, value in values.items() if value is not None}
