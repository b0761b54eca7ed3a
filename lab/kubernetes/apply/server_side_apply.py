"""Server-side apply: a manager sends all fields it wants, and owns them.

A field it no longer sends is removed, unless another manager owns it. A field that another manager owns with a
different value is a conflict; `force` overrides it. All other writes are recorded as updates, so that apply sees them.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lab.kubernetes.api import documents, refusals
from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import Kind
from lab.kubernetes.apply import managed_fields
from lab.kubernetes.apply.managed_fields import Owner, Path, Paths
from lab.kubernetes.apply.merge_rules import MergeRule, Shape, key_of, shape_of
from shared import times

_APPLY, _UPDATE = "Apply", "Update"


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """The field manager, the subresource it writes through, and whether it forces conflicts."""

    kind: Kind
    manager: str
    subresource: str = ""
    force: bool = False

    def owner(self, operation: str, paths: Paths) -> Owner:
        return Owner(
            manager=self.manager,
            operation=operation,
            api_version=self.kind.api_version,
            subresource=self.subresource,
            time=times.to_seconds(times.now()),
            paths=paths,
        )


def recorded(writer: Writer, before: Object, after: Object) -> Object:
    """The object after a write other than apply; the writer owns what it changed."""
    owners = managed_fields.owners_of(before)
    changes = managed_fields.difference(before, after, shape_of(writer.kind))
    mine = writer.owner(_UPDATE, changes.written)
    earlier = next((each for each in owners if each.who == mine.who), None)
    others = [each.without(changes.written | changes.removed) for each in owners if each is not earlier]
    if earlier is not None:
        paths = (earlier.paths | changes.written) - changes.removed
        mine = earlier if paths == earlier.paths else writer.owner(_UPDATE, paths)
    return managed_fields.with_owners(after, [*others, mine])


def applied(writer: Writer, before: Object, wanted: Object, prepare: Callable[[Object], Object]) -> Object:
    """The object after an apply; `prepare` adds what the server adds to any write. Raises on conflicts."""
    shape, owners = shape_of(writer.kind), managed_fields.owners_of(before)
    stated = _stated(writer, wanted)
    mine = writer.owner(_APPLY, managed_fields.applied_paths(stated, shape))
    earlier = next((each for each in owners if each.who == mine.who), None)
    others = [each for each in owners if each is not earlier]
    merged = _merged(before, stated, shape)
    kept = mine.paths.union(*(each.paths for each in others))
    merged = _without(merged, (earlier.paths if earlier else frozenset()) - kept, kept, shape)
    written = managed_fields.difference(before, merged, shape).written
    if not writer.force:
        _refuse_conflicts(others, written)
    if earlier is not None and earlier.paths == mine.paths:
        mine = earlier
    return managed_fields.with_owners(prepare(merged), [*(each.without(written) for each in others), mine])


def _stated(writer: Writer, wanted: Object) -> Object:
    """The part of the applied object that a write through this subresource can change."""
    if documents.metadata(wanted).get("managedFields"):
        raise refusals.bad_request("metadata.managedFields must be nil")
    if writer.subresource == "status":
        reach = ("apiVersion", "kind", "metadata", "status")
        return {key: value for key, value in wanted.items() if key in reach}
    apart = ("status",) if writer.kind.has_status else ()
    return {key: value for key, value in wanted.items() if key not in apart}


def _refuse_conflicts(others: list[Owner], written: Paths) -> None:
    conflicts = [
        (each, sorted(map(managed_fields.shown, each.paths & written))) for each in others if each.paths & written
    ]
    if not conflicts:
        return
    count = sum(len(fields) for _, fields in conflicts)
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {_named(each)}", "field": field}
        for each, fields in conflicts
        for field in fields
    ]
    if count == 1:
        owner, [field] = conflicts[0]
        message = f"Apply failed with 1 conflict: conflict with {_named(owner)}: {field}"
    else:
        listed = "\n".join(
            f"conflicts with {_named(owner)}:\n" + "\n".join(f"- {field}" for field in fields)
            for owner, fields in conflicts
        )
        message = f"Apply failed with {count} conflicts: {listed}"
    raise refusals.Refusal(409, "Conflict", message, causes=causes)


def _named(owner: Owner) -> str:
    part = f' with subresource "{owner.subresource}"' if owner.subresource else ""
    since = f" using {owner.api_version} at {owner.time}" if owner.operation == _UPDATE else ""
    return f'"{owner.manager}"{part}{since}'


def _merged(live: Any, stated: Any, shape: Shape) -> Any:
    merge_rule = shape.merge_rule(stated) if isinstance(stated, (dict, list)) else MergeRule.ATOMIC
    if merge_rule is MergeRule.ATOMIC or not isinstance(live, type(stated)):
        return copy.deepcopy(stated)
    if merge_rule is MergeRule.FIELDS:
        both = {name: _merged(live[name], value, shape.child(name)) for name, value in stated.items() if name in live}
        return {**live, **copy.deepcopy(stated), **both}
    if merge_rule is MergeRule.SET:
        return [*live, *(each for each in stated if each not in live)]
    keys = shape.keys()
    items = {str(key_of(each, keys)): each for each in live}
    for each in stated:
        key = str(key_of(each, keys))
        items[key] = _merged(items.get(key), each, shape.item())
    return list(items.values())


def _without(document: Object, gone: Paths, kept: Paths, shape: Shape) -> Object:
    """Remove paths, and with an item or a map everything below it that no manager owns."""
    result: Object = copy.deepcopy(document)
    for path in sorted(gone, key=len):
        if not any(other[: len(path)] == path for other in kept):
            _remove(result, path, shape)
    return result


def _remove(holder: Any, path: Path, shape: Shape) -> None:
    step, rest = path[0], path[1:]
    form, _, name = step.partition(":")
    if isinstance(holder, dict) and form == "f" and name in holder:
        if rest:
            _remove(holder[name], rest, shape.child(name))
        if not rest or holder[name] in ({}, []):
            del holder[name]
    elif isinstance(holder, list) and form == "v":
        holder[:] = [each for each in holder if managed_fields.value_step(each) != step]
    elif isinstance(holder, list):
        for at, each in enumerate(holder):
            if managed_fields.key_step(each, shape.keys()) == step:
                if rest:
                    _remove(each, rest, shape.item())
                else:
                    del holder[at]
                return
