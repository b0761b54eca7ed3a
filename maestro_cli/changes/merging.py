"""How the work that is there becomes the work that is wanted without taking away what others put into it.

`apply` remembers in an annotation which manifests it brought. A writer that has a name has an annotation of its own: a
later `apply` under that name removes what it brought and no longer wants, and keeps what other names brought. Writers
without a name share one annotation, which cannot say whose a manifest is: what it lists is removed only on request.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from maestro_cli.changes.identity import ManifestId, config_key, manifest_id
from maestro_cli.exits import UsageError
from shared.model.manifestwork import ManifestWork

APPLIED_ANNOTATION: Final = "maestro-cli.hyperfleet.io/applied-manifests"
# With the annotation's own, the name has at most 63 characters.
_WRITER = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,43}[A-Za-z0-9])?")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The work to send. What it keeps although the file lacks it:

    `unnamed` was brought by an apply without a name, perhaps by this writer; `foreign` by nobody that we know of.
    """

    work: ManifestWork
    removed: tuple[ManifestId, ...] = ()
    unnamed: tuple[ManifestId, ...] = ()
    foreign: tuple[ManifestId, ...] = ()


def merge(stored: ManifestWork, wanted: ManifestWork, *, writer: str = "", prune: bool = False) -> Merged:
    """Three-way: what this writer brought before, what is there, what is wanted. What others brought stays.

    With `prune` what applies without a name brought counts as this writer's.
    """
    unnamed = brought_before(stored)
    ours = (brought_before(stored, writer) if writer else set()) | (unnamed if prune else set())
    others = _brought_by_named(stored, besides=writer) | (unnamed if writer and not prune else set())
    wanted_ids = {manifest_id(each) for each in wanted.manifests}
    leftover = [manifest_id(each) for each in stored.manifests if manifest_id(each) not in wanted_ids]
    removed = tuple(each for each in leftover if each in ours - others)
    unclaimed = [each for each in leftover if each not in ours | others]
    manifests = _in_stored_order(stored, wanted, kept={*leftover} - {*removed})
    remembered = remember(wanted, writer)
    taken_over = {APPLIED_ANNOTATION} if prune else set()
    annotations = {key: value for key, value in stored.annotations.items() if key not in taken_over}
    work = replace(
        remembered,
        manifests=manifests,
        manifest_configs=_configs(stored.manifest_configs, wanted.manifest_configs, manifests),
        delete_option=wanted.delete_option or stored.delete_option,
        labels={**stored.labels, **wanted.labels},
        annotations={**annotations, **remembered.annotations},
        other_metadata=stored.other_metadata,
        generation=stored.generation,
    )
    return Merged(
        work=work,
        removed=removed,
        unnamed=tuple(each for each in unclaimed if each in unnamed),
        foreign=tuple(each for each in unclaimed if each not in unnamed),
    )


def build(
    stored: ManifestWork, added: ManifestWork, *, removed: Collection[ManifestId], writer: str = ""
) -> ManifestWork:
    """The stored work with these manifests put in or replaced, and those taken out."""
    gone = {
        identity
        for each in stored.manifests
        for identity in (manifest_id(each),)
        if any(named.means(identity) for named in removed)
    }
    added_ids = {manifest_id(each) for each in added.manifests}
    kept = [each for each in map(manifest_id, stored.manifests) if each not in gone | added_ids]
    manifests = _in_stored_order(stored, added, kept=kept)
    return replace(
        stored,
        manifests=manifests,
        manifest_configs=_configs(stored.manifest_configs, added.manifest_configs, manifests),
        delete_option=added.delete_option or stored.delete_option,
        labels={**stored.labels, **added.labels},
        annotations={
            **stored.annotations,
            **added.annotations,
            **_memory(brought_before(stored, writer) - gone | added_ids, writer),
        },
    )


def remember(work: ManifestWork, writer: str = "") -> ManifestWork:
    """The work with the annotation that names its manifests as brought by this writer."""
    annotations = {key: value for key, value in work.annotations.items() if not key.startswith(APPLIED_ANNOTATION)}
    return replace(work, annotations={**annotations, **_memory(map(manifest_id, work.manifests), writer)})


def brought_before(work: ManifestWork, writer: str = "") -> set[ManifestId]:
    """The manifests that this writer brought; none where the annotation is missing or was written by hand."""
    return _listed(work.annotations.get(_annotation(writer), "[]"))


def _brought_by_named(work: ManifestWork, *, besides: str) -> set[ManifestId]:
    annotations = {each for each in work.annotations if each.startswith(f"{APPLIED_ANNOTATION}.")}
    others = annotations - {_annotation(besides)}
    return {identity for each in others for identity in _listed(work.annotations[each])}


def _listed(text: str) -> set[ManifestId]:
    try:
        return {ManifestId(*map(str, each)) for each in json.loads(text)}
    except (TypeError, ValueError, RecursionError):
        return set()


def _memory(identities: Iterable[ManifestId], writer: str) -> dict[str, str]:
    listed = [[each.kind, each.namespace, each.name, each.group] for each in sorted(set(identities))]
    return {_annotation(writer): json.dumps(listed, separators=(",", ":"))}


def _annotation(writer: str) -> str:
    if writer and not _WRITER.fullmatch(writer):
        raise UsageError(f"--field-manager {writer!r} must be letters, digits, '-', '_' and '.', at most 45 of them")
    return f"{APPLIED_ANNOTATION}.{writer}" if writer else APPLIED_ANNOTATION


def _in_stored_order(stored: ManifestWork, wanted: ManifestWork, *, kept: Collection[ManifestId]) -> tuple[Json, ...]:
    """Manifests keep their place, because a changed order is a change of the work; new ones follow."""
    new = {manifest_id(each): each for each in wanted.manifests}
    ordered: list[Json] = []
    for each in stored.manifests:
        identity = manifest_id(each)
        if identity in new:
            ordered.append(new.pop(identity))
        elif identity in kept:
            ordered.append(each)
    return (*ordered, *new.values())


def _configs(stored: Iterable[Json], wanted: Iterable[Json], manifests: Iterable[Json]) -> tuple[Json, ...]:
    """Wanted configs replace stored ones of the same object; those of objects that are gone go too."""
    names = {(identity.namespace, identity.name) for identity in map(manifest_id, manifests)}
    by_key = {config_key(each): each for each in stored}
    by_key |= {config_key(each): each for each in wanted}
    return tuple(each for each in by_key.values() if _identified(each) in names)


def _identified(config: Json) -> tuple[str, str]:
    identifier = config.get("resourceIdentifier")
    parts: Json = identifier if isinstance(identifier, Mapping) else {}
    return str(parts.get("namespace") or ""), str(parts.get("name") or "")
