"""When a status is better not sent, because it would say less than what the API already knows.

A Job that a re-poll has just created has no conditions; to report that would turn Available to False until the Job
reports by itself, seconds later. A run that no event woke and whose preconditions are not met has nothing new to say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from dispatcher.config.compiled import Resource
from dispatcher.engine.ports import Object
from dispatcher.engine.resources.stamping import creation_time, deletion_time
from dispatcher.engine.runs import Cause, Operation, ResourceRecord
from shared import times

_NEW = frozenset({Operation.CREATE, Operation.RECREATE})
_SILENT = frozenset({Operation.CREATE, Operation.RECREATE, Operation.WAIT})
_PERHAPS_SILENT = frozenset({Operation.SKIP, Operation.UPDATE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """A watched resource that has said nothing yet, and for how many seconds more that is expected.

    `waits` where a deletion is in its way, so that it is still to be created.
    """

    resource: str
    remaining: float
    waits: bool = False


def nothing_new(cause: Cause, *, unmet: bool) -> str:
    """Why a run of this cause has nothing to report; "" where it has."""
    if unmet and cause is not Cause.EVENT:
        return f"preconditions are not met, and no event but a {cause} woke the object"
    return ""


def silence_of(
    resources: Sequence[Resource],
    records: Sequence[ResourceRecord],
    objects: Mapping[str, Object],
    now: datetime,
    limit: float,
) -> Silence | None:
    """The first watched resource that is expected to report by itself within `limit` seconds of its beginning."""
    operations = {record.name: record.operation for record in records}
    for resource in resources:
        operation, found = operations.get(resource.name), objects.get(resource.name)
        if operation is None or not resource.watch or not _is_silent(operation, found):
            continue
        remaining = limit - _age(operation, found, now)
        if remaining > 0:
            return Silence(resource=resource.name, remaining=remaining, waits=operation is Operation.WAIT)
    return None


def _is_silent(operation: Operation, found: Object | None) -> bool:
    if operation in _PERHAPS_SILENT:
        return found is not None and not has_conditions(found)
    return operation in _SILENT


def has_conditions(found: Object) -> bool:
    status = found.get("status")
    return isinstance(status, dict) and bool(status.get("conditions"))


def _age(operation: Operation, found: Object | None, now: datetime) -> float:
    """Seconds since the object was created, or since its deletion was asked for."""
    if found is None or operation in _NEW:
        return 0.0
    try:
        since = times.parse(deletion_time(found) or creation_time(found))
    except ValueError:
        return 0.0
    return (now - since).total_seconds()
