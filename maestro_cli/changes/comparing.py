"""What applying a work would change: deep, sorted, and without showing a Secret's values.

Manifests are matched by group, kind, namespace and name, manifest configs by their resource identifier, so that an
order means nothing. What a server adds to an object is left out of the comparison.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from maestro_cli.changes.identity import ManifestId, config_key, manifest_id
from shared.model.manifestwork import ManifestWork

_SERVER_SIDE_METADATA: Final = frozenset(
    {"resourceVersion", "uid", "generation", "creationTimestamp", "managedFields", "selfLink"}
)
_REDACTED: Final = "<redacted>"
_SECRET_MEMBERS: Final = frozenset({"data", "stringData"})
_NOTHING: Final = object()


class Kind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """`subject` is what it is about (`Job/ns/name`, `labels`, …), `path` where in it; None stands for nothing there."""

    kind: Kind
    subject: str
    path: str = ""
    before: Any = None
    after: Any = None

    def to_json(self) -> dict[str, Any]:
        shown = {"kind": self.kind.value, "subject": self.subject, "path": self.path}
        if self.kind is not Kind.ADDED:
            shown["before"] = self.before
        if self.kind is not Kind.REMOVED:
            shown["after"] = self.after
        return shown


def compare(stored: ManifestWork, wanted: ManifestWork) -> list[Difference]:
    """All that would change, sorted by subject and path."""
    found = [
        *_manifests(stored, wanted),
        *_by_key(
            "manifestConfigs",
            {config_key(each): _without_empty(each) for each in stored.manifest_configs},
            {config_key(each): _without_empty(each) for each in wanted.manifest_configs},
        ),
        *_values("deleteOption", "", _option(stored), _option(wanted)),
        *_values("labels", "", dict(stored.labels), dict(wanted.labels)),
        *_values("annotations", "", dict(stored.annotations), dict(wanted.annotations)),
    ]
    return sorted(found, key=lambda each: (each.subject, each.path, each.kind))


def _manifests(stored: ManifestWork, wanted: ManifestWork) -> Iterator[Difference]:
    before = {manifest_id(each): each for each in stored.manifests}
    after = {manifest_id(each): each for each in wanted.manifests}
    for identity in sorted({*before, *after}, key=str):
        subject = str(identity)
        old, new = before.get(identity), after.get(identity)
        if old is None:
            yield Difference(kind=Kind.ADDED, subject=subject, after=_shown(identity, _comparable(new or {})))
        elif new is None:
            yield Difference(kind=Kind.REMOVED, subject=subject, before=_shown(identity, _comparable(old)))
        else:
            for each in _values(subject, "", _comparable(old), _comparable(new)):
                yield _without_secrets(identity, each)


def _option(work: ManifestWork) -> Any:
    return _without_empty(work.delete_option or {}) or _NOTHING


def _without_empty(value: Any) -> Any:
    """Maestro leaves out some empty members, false and zero among them, and adds others: they say nothing."""
    match value:
        case Mapping():
            kept = {key: _without_empty(each) for key, each in value.items()}
            return {key: each for key, each in kept.items() if each}
        case list() | tuple():
            return [_without_empty(each) for each in value]
    return value


def _by_key(subject: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    for key in sorted({*before, *after}):
        yield from _values(f"{subject}/{key}", "", before.get(key, _NOTHING), after.get(key, _NOTHING))


def _values(subject: str, path: str, before: Any, after: Any) -> Iterator[Difference]:
    if before is _NOTHING and after is _NOTHING:
        return
    if before is _NOTHING:
        yield Difference(kind=Kind.ADDED, subject=subject, path=path, after=after)
    elif after is _NOTHING:
        yield Difference(kind=Kind.REMOVED, subject=subject, path=path, before=before)
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*map(str, before), *map(str, after)}):
            inner = f"{path}.{key}" if path else key
            yield from _values(subject, inner, before.get(key, _NOTHING), after.get(key, _NOTHING))
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            old = before[index] if index < len(before) else _NOTHING
            new = after[index] if index < len(after) else _NOTHING
            yield from _values(subject, f"{path}[{index}]", old, new)
    elif not _same(before, after):
        yield Difference(kind=Kind.CHANGED, subject=subject, path=path, before=before, after=after)


def _same(before: Any, after: Any) -> bool:
    """Maestro passes numbers through float64: 1.0 comes back as 1."""
    if isinstance(before, bool) or isinstance(after, bool) or not isinstance(before, int | float):
        return type(before) is type(after) and bool(before == after)
    return isinstance(after, int | float) and float(before) == float(after)


def _comparable(manifest: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in manifest.items() if key != "status"}
    metadata = kept.get("metadata")
    if isinstance(metadata, Mapping):
        kept["metadata"] = {key: value for key, value in metadata.items() if key not in _SERVER_SIDE_METADATA}
    return kept


def _without_secrets(identity: ManifestId, difference: Difference) -> Difference:
    if not identity.is_secret or difference.path.split(".")[0].split("[")[0] not in _SECRET_MEMBERS:
        return difference
    return Difference(
        kind=difference.kind, subject=difference.subject, path=difference.path, before=_REDACTED, after=_REDACTED
    )


def _shown(identity: ManifestId, manifest: dict[str, Any]) -> dict[str, Any]:
    if not identity.is_secret:
        return manifest
    return {key: _REDACTED if key in _SECRET_MEMBERS else value for key, value in manifest.items()}
