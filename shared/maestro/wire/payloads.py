"""Between works and the JSON documents in which Maestro keeps and sends them."""

import json
from typing import Any

from shared import times
from shared.model.manifestwork import ManifestWork, other_metadata
from shared.untrusted_json import as_object, as_objects, as_texts, read_time


def compact(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def metadata_of(work: ManifestWork) -> dict[str, Any]:
    """`ce-metadata`: Maestro keeps exactly this, and replaces all of it with every update."""
    metadata: dict[str, Any] = {
        "name": work.name,
        "namespace": work.consumer,
        "uid": work.uid,
        "resourceVersion": str(work.generation),
        **work.other_metadata,
    }
    if work.generation:
        metadata["generation"] = work.generation
    if work.created_at:
        metadata["creationTimestamp"] = times.to_seconds(work.created_at)
    if work.deleted_at:
        metadata["deletionTimestamp"] = times.to_seconds(work.deleted_at)
    if work.labels:
        metadata["labels"] = dict(work.labels)
    if work.annotations:
        metadata["annotations"] = dict(work.annotations)
    return metadata


def bundle_of(work: ManifestWork) -> dict[str, Any]:
    """The payload; the protocol spells the executor `executer`."""
    bundle: dict[str, Any] = {"manifests": list(work.manifests)}
    if work.delete_option:
        bundle["deleteOption"] = work.delete_option
    if work.manifest_configs:
        bundle["manifestConfigs"] = list(work.manifest_configs)
    if work.executor:
        bundle["executer"] = work.executor
    return bundle


def work_of(metadata: Any, bundle: Any, *, fallback_name: str) -> ManifestWork:
    """The work in what a server sent; parts that are not what they should be count as absent."""
    metadata, bundle = as_object(metadata), as_object(bundle)
    return ManifestWork(
        name=str(metadata.get("name") or fallback_name),
        consumer=str(metadata.get("namespace") or ""),
        manifests=as_objects(bundle.get("manifests")),
        manifest_configs=as_objects(bundle.get("manifestConfigs")),
        delete_option=as_object(bundle.get("deleteOption")) or None,
        executor=as_object(bundle.get("executer")) or None,
        labels=as_texts(metadata.get("labels")),
        annotations=as_texts(metadata.get("annotations")),
        other_metadata=other_metadata(metadata),
        created_at=read_time(metadata.get("creationTimestamp")),
        deleted_at=read_time(metadata.get("deletionTimestamp")),
    )
