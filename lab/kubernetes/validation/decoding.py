"""Decodes a built-in object as the server reads it into its Go types.

A value of the wrong type is rejected, a time is stored in whole seconds UTC, and unknown fields of a status are
dropped. Only the parts that clients write have a schema here; everything else is kept as it is.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import JOB, POD, Kind
from lab.kubernetes.validation import schemas
from shared import times

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_SWITCH = {"type": "boolean"}
_TIME = {"type": "string", "format": "date-time"}
_TIME_OR_NULL = _TIME | {"default": None}
_TEXTS = {"type": "array", "items": _TEXT}
_TEXT_MAP = {"type": "object", "additionalProperties": _TEXT}


def _open(**properties: Any) -> Object:
    return {"type": "object", "properties": properties, "x-kubernetes-preserve-unknown-fields": True}


def _closed(**properties: Any) -> Object:
    return {"type": "object", "properties": properties}


def _list(items: Object) -> Object:
    return {"type": "array", "items": items}


_METADATA = _open(
    name=_TEXT,
    namespace=_TEXT,
    uid=_TEXT,
    resourceVersion=_TEXT,
    generateName=_TEXT,
    labels=_TEXT_MAP,
    annotations=_TEXT_MAP,
    finalizers=_TEXTS,
    ownerReferences=_list(_open(uid=_TEXT, name=_TEXT, kind=_TEXT, apiVersion=_TEXT)),
)
_CONDITION = _closed(
    type=_TEXT,
    status=_TEXT,
    lastProbeTime=_TIME_OR_NULL,
    lastTransitionTime=_TIME_OR_NULL,
    reason=_TEXT,
    message=_TEXT,
)
_POD_CONDITION = _CONDITION | {"properties": {**_CONDITION["properties"], "observedGeneration": _NUMBER}}
_CONTAINERS = _list(
    _open(name=_TEXT, image=_TEXT, command=_TEXTS, args=_TEXTS, env=_list(_open(name=_TEXT, value=_TEXT)))
)
_POD_SPEC = _open(
    containers=_CONTAINERS,
    initContainers=_CONTAINERS,
    restartPolicy=_TEXT,
    activeDeadlineSeconds=_NUMBER,
    terminationGracePeriodSeconds=_NUMBER,
    volumes=_list(_open(name=_TEXT)),
)
_JOB_SPEC = _open(
    activeDeadlineSeconds=_NUMBER,
    backoffLimit=_NUMBER,
    completions=_NUMBER,
    parallelism=_NUMBER,
    suspend=_SWITCH,
    ttlSecondsAfterFinished=_NUMBER,
    template=_open(metadata=_METADATA, spec=_POD_SPEC),
)
_JOB_STATUS = _closed(
    active=_NUMBER,
    completedIndexes=_TEXT,
    completionTime=_TIME,
    conditions=_list(_CONDITION),
    failed=_NUMBER,
    failedIndexes=_TEXT,
    ready=_NUMBER,
    startTime=_TIME,
    succeeded=_NUMBER,
    terminating=_NUMBER,
    uncountedTerminatedPods=_open(),
)
_POD_STATUS = _open(
    phase=_TEXT,
    reason=_TEXT,
    message=_TEXT,
    startTime=_TIME,
    conditions=_list(_POD_CONDITION),
    containerStatuses=_list(_open(name=_TEXT, ready=_SWITCH, restartCount=_NUMBER)),
)
_SCHEMAS = {
    JOB: _open(metadata=_METADATA, spec=_JOB_SPEC, status=_JOB_STATUS),
    POD: _open(metadata=_METADATA, spec=_POD_SPEC, status=_POD_STATUS),
}
_OTHERS = _open(metadata=_METADATA)
# Counters of a status that are omitted when zero.
_OMITTED_ZEROS = ("active", "failed", "succeeded")


class Undecodable(ValueError):
    """A value has another type than its field."""


def decoded(kind: Kind, document: Object) -> Object:
    """The object as the server stores it. Raises Undecodable."""
    schema = _SCHEMAS.get(kind, _OTHERS)
    known = _without_nulls(document)
    if causes := schemas.problems(known, schema):
        raise Undecodable(f"{causes[0].field}: {causes[0].message}")
    if kind.custom:
        return document
    result: Object = _timed("", schemas.fit(known, schema), schema)
    if kind == JOB and isinstance(status := result.get("status"), dict):
        for counter in _OMITTED_ZEROS:
            if status.get(counter) == 0:
                del status[counter]
    return result


def _without_nulls(value: Any) -> Any:
    """Go's types treat null as absent."""
    if isinstance(value, dict):
        return {key: _without_nulls(below) for key, below in value.items() if below is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def _timed(path: str, value: Any, schema: Mapping[str, Any]) -> Any:
    """Times in the server's format."""
    if schema.get("format") == "date-time" and isinstance(value, str):
        try:
            return times.to_seconds(times.parse(value))
        except ValueError as error:
            raise Undecodable(f"{path}: {error}") from None
    if isinstance(value, dict):
        return dict(_timed_fields(path, value, schema))
    if isinstance(value, list) and (items := schema.get("items")):
        return [_timed(f"{path}[{at}]", each, items) for at, each in enumerate(value)]
    return value


def _timed_fields(path: str, value: Object, schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, below in value.items():
        place = (schema.get("properties") or {}).get(name) or {}
        yield name, _timed(f"{path}.{name}" if path else name, below, place)
