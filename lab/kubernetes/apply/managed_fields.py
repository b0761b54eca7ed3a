"""Field ownership: the sets of paths that server-side apply compares, and their form in `managedFields`.

A path's steps are written as in the API: `f:name` a field, `k:{"name":"x"}` the item with that key, `v:"x"` a value
of a set.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object
from lab.kubernetes.apply.merge_rules import MergeRule, Shape, key_of

Path = tuple[str, ...]
Paths = frozenset[Path]

_SELF = "."
# Fields that the server sets and no manager owns.
_UNOWNED = frozenset(
    {("f:apiVersion",), ("f:kind",), ("f:metadata",)}
    | {
        ("f:metadata", f"f:{name}")
        for name in (
            *("name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "selfLink"),
            *("deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"),
        )
    }
)
# Parents that every object of a built-in kind has, so no manager owns them.
_ALWAYS_THERE = {"f:spec", "f:status", "f:template", "f:containers"}
_CONTAINER = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """One entry of `managedFields`."""

    manager: str
    operation: str
    api_version: str
    subresource: str
    time: str
    paths: Paths

    @property
    def who(self) -> tuple[str, str, str]:
        return self.manager, self.operation, self.subresource

    def without(self, paths: Iterable[Path]) -> "Owner":
        return replace(self, paths=self.paths - frozenset(paths))

    def document(self) -> Object:
        entry = {
            "manager": self.manager,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "time": self.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": _tree(self.paths),
        }
        return entry | {"subresource": self.subresource} if self.subresource else entry


@dataclass(frozen=True, slots=True)
class Difference:
    """The paths added or changed, and the paths removed, between two states."""

    written: Paths
    removed: Paths


def owners_of(document: Object) -> list[Owner]:
    return [
        Owner(
            manager=entry.get("manager", ""),
            operation=entry["operation"],
            api_version=entry["apiVersion"],
            subresource=entry.get("subresource", ""),
            time=entry["time"],
            paths=frozenset(_paths(entry.get("fieldsV1") or {})),
        )
        for entry in documents.metadata(document).get("managedFields") or ()
    ]


def with_owners(document: Object, owners: Iterable[Owner]) -> Object:
    listed = sorted((each for each in owners if each.paths), key=lambda each: (each.operation, each.time, each.manager))
    return documents.with_metadata(document, managedFields=[each.document() for each in listed] or None)


def applied_paths(document: Object, shape: Shape) -> Paths:
    """The paths that an applier of this document owns: every value, and every item of a keyed list."""
    found = {path for path, value in _values(document, shape, ()) if value is not _CONTAINER or _is_item(path)}
    return frozenset(found) - _UNOWNED


def difference(before: Object, after: Object, shape: Shape) -> Difference:
    old, new = dict(_values(before, shape, ())), dict(_values(after, shape, ()))
    written = {path for path, value in new.items() if path not in old or old[path] != value}
    written = {path for path in written if new[path] is not _CONTAINER or path[-1] not in _ALWAYS_THERE}
    return Difference(frozenset(written) - _UNOWNED, frozenset(old.keys() - new.keys()))


def shown(path: Path) -> str:
    """A path as a conflict message shows it."""
    steps = []
    for step in path:
        form, _, text = step.partition(":")
        if form == "f":
            steps.append(f".{text}")
        elif form == "k":
            keys = ",".join(f"{key}={json.dumps(value)}" for key, value in json.loads(text).items())
            steps.append(f"[{keys}]")
        else:
            steps.append(f"[={text}]")
    return "".join(steps)


def key_step(item: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return "k:" + json.dumps(key_of(item, keys), separators=(",", ":"), sort_keys=True)


def value_step(value: Any) -> str:
    return "v:" + json.dumps(value)


def _values(value: Any, shape: Shape, path: Path) -> Iterator[tuple[Path, Any]]:
    """Every path with its value; a path with fields below it has a marker instead."""
    merge_rule = shape.merge_rule(value) if isinstance(value, (dict, list)) else MergeRule.ATOMIC
    if merge_rule is MergeRule.ATOMIC or value in ({}, []):
        yield path, value
        return
    if path:
        yield path, _CONTAINER
    if merge_rule is MergeRule.FIELDS:
        for name, below in value.items():
            yield from _values(below, shape.child(name), (*path, f"f:{name}"))
    elif merge_rule is MergeRule.SET:
        yield from (((*path, value_step(each)), each) for each in value)
    else:
        for each in value:
            yield from _values(each, shape.item(), (*path, key_step(each, shape.keys())))


def _is_item(path: Path) -> bool:
    return path[-1].startswith("k:")


def _tree(paths: Paths) -> Object:
    tree: Object = {}
    for path in sorted(paths):
        place = tree
        for step in path:
            place = place.setdefault(step, {})
        place[_SELF] = {}
    return _pruned(tree)


def _pruned(tree: Object) -> Object:
    """An owned path with nothing below it is written as an empty object."""
    return {} if tree.keys() == {_SELF} else {step: _pruned(below) for step, below in tree.items()}


def _paths(tree: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    if path and (not tree or _SELF in tree):
        yield path
    for step, below in tree.items():
        if step != _SELF:
            yield from _paths(below, (*path, step))
