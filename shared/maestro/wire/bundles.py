"""Reading Maestro's REST resources, and telling whether a stored work already is what is wanted.

REST shows neither the source of a work nor its executor, and passes all numbers through float64; unknown or empty
members of the manifest configs are dropped. The comparison knows this, so that it finds no difference where none is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from shared.errors import ServerError
from shared.maestro.wire.payloads import work_of
from shared.model.manifestwork import ManifestWork, WorkStatus
from shared.untrusted_json import Json, as_object, read_time


def work_of_bundle(bundle: Json) -> ManifestWork:
    """The work that a resource bundle of the REST API holds; its executor is not shown and stays None."""
    try:
        uid, version = str(bundle["id"]), int(bundle["version"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        why = f"{error!r} in {bundle!r:.120}"
        raise ServerError("Maestro sent something that is no resource bundle", why=why) from error
    status = as_object(bundle.get("status"))
    spec = {
        "manifests": bundle.get("manifests"),
        "manifestConfigs": bundle.get("manifest_configs"),
        "deleteOption": bundle.get("delete_option"),
    }
    return replace(
        work_of(bundle.get("metadata"), spec, fallback_name=uid),
        uid=uid,
        consumer=str(bundle.get("consumer_name") or ""),
        generation=version,
        deleted_at=read_time(bundle.get("deleted_at")),
        updated_at=read_time(bundle.get("updated_at")),
        status=WorkStatus.from_wire(status.get("conditions"), status.get("resourceStatus"), status.get("SequenceID")),
    )


def differences(stored: ManifestWork, wanted: ManifestWork) -> list[str]:
    """The parts in which the stored work is not what is wanted; the executor, which is not shown, aside."""
    pairs = {
        "labels": (stored.labels, wanted.labels),
        "annotations": (stored.annotations, wanted.annotations),
        "metadata": (stored.other_metadata, {**stored.other_metadata, **wanted.other_metadata}),
        "manifests": (stored.manifests, wanted.manifests),
        "manifestConfigs": (_without_empty(stored.manifest_configs), _without_empty(wanted.manifest_configs)),
        "deleteOption": (_without_empty(stored.delete_option), _without_empty(wanted.delete_option)),
    }
    return [name for name, (left, right) in pairs.items() if not _same(left, right)]


def _same(left: Any, right: Any) -> bool:
    match left, right:
        case (bool(), _) | (_, bool()) | (None, _) | (_, None):
            return left is right
        case (int() | float(), int() | float()):
            return float(left) == float(right)
        case (Mapping(), Mapping()):
            return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
        case (str(), str()):
            return bool(left == right)
        case (Sequence(), Sequence()) if not isinstance(left, str) and not isinstance(right, str):
            return len(left) == len(right) and all(map(_same, left, right))
        case _:
            return False


def _without_empty(value: Any) -> Any:
    """What is left after a trip through Go types with `omitempty`: no empty text, list, object, false or zero."""
    match value:
        case Mapping():
            kept = {key: _without_empty(item) for key, item in value.items()}
            return {key: item for key, item in kept.items() if item} or None
        case list() | tuple():
            return [_without_empty(item) for item in value] or None
        case _:
            return value or None
