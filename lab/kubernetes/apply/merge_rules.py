"""How server-side apply merges each part of an object: lists by key, lists as sets, or as one value.

For built-in kinds a table by field name decides, for custom kinds the schema of their definition.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from lab.kubernetes.api.kinds import Kind


class MergeRule(Enum):
    """Field by field, as a set, by key, or as one value."""

    FIELDS = "fields"
    SET = "set"
    KEYED = "keyed"
    ATOMIC = "atomic"


class Shape(Protocol):
    """The merge rules of one field and of the fields below it."""

    def child(self, name: str) -> "Shape": ...

    def item(self) -> "Shape": ...

    def merge_rule(self, value: Any) -> MergeRule: ...

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
# The value of a key that an item omits.
_KEY_DEFAULTS = {"protocol": "TCP"}


@dataclass(frozen=True, slots=True)
class BuiltInShape:
    kind: str
    name: str = ""

    def child(self, name: str) -> "BuiltInShape":
        return BuiltInShape(self.kind, name)

    def item(self) -> "BuiltInShape":
        return BuiltInShape(self.kind, "ownerReference" if self.name == "ownerReferences" else "")

    def merge_rule(self, value: Any) -> MergeRule:
        if isinstance(value, dict):
            return (
                MergeRule.ATOMIC if self.name in _ATOMIC_OBJECTS or self.name == "ownerReference" else MergeRule.FIELDS
            )
        if self.name in _SETS:
            return MergeRule.SET
        # The Job API declares no list type for its conditions, so apply treats them as one value.
        keyed = self.name in _KEYS and (self.kind, self.name) != ("Job", "conditions")
        return MergeRule.KEYED if keyed else MergeRule.ATOMIC

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

    def merge_rule(self, value: Any) -> MergeRule:
        if isinstance(value, dict):
            return MergeRule.ATOMIC if self.schema.get("x-kubernetes-map-type") == "atomic" else MergeRule.FIELDS
        styles = {"map": MergeRule.KEYED, "set": MergeRule.SET}
        return styles.get(self.schema.get("x-kubernetes-list-type", ""), MergeRule.ATOMIC)

    def keys(self) -> tuple[str, ...]:
        return tuple(self.schema.get("x-kubernetes-list-map-keys") or ())


@dataclass(frozen=True, slots=True)
class CustomShape:
    """A custom object: metadata follows the built-in rules, everything else the schema."""

    schema: Mapping[str, Any]

    def child(self, name: str) -> Shape:
        return BuiltInShape("", "metadata") if name == "metadata" else SchemaShape(self.schema).child(name)

    def item(self) -> Shape:
        return self

    def merge_rule(self, value: Any) -> MergeRule:
        return SchemaShape(self.schema).merge_rule(value)

    def keys(self) -> tuple[str, ...]:
        return ()


def shape_of(kind: Kind) -> Shape:
    return CustomShape(kind.schema) if kind.custom else BuiltInShape(kind.name)


def key_of(item: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """The keys that identify an item of a keyed list."""
    values = {key: item.get(key, _KEY_DEFAULTS.get(key)) for key in keys}
    return {key: value for key, value in values.items() if value is not None}
