"""The one PATCH that puts conditions and data on a Job: pure, from a verdict to the request's body.

Strategic merge, because it merges conditions by type; any other patch would remove the Job controller's own. The data
is an annotation in the same request, which the right to patch `jobs/status` covers.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from shared.model.conditions import Condition
from shared.redaction import redact_message
from status_reporter.settings import RESERVED_TYPES

DATA_ANNOTATION = "hyperfleet.io/adapter-report"
DROPPED_MEMBER = "hyperfleet.io/dropped"
# The HyperFleet API skips a longer reason and cuts a longer message; a Job itself has no limit.
MAX_REASON_BYTES = 256
MAX_MESSAGE_BYTES = 2048
MAX_DATA_BYTES = 64 * 1024
MAX_NAMED_DROPS = 10
MAX_NAME_BYTES = 64
# Reserved for the names of what was dropped; JSON writes one byte of a name with up to six.
NOTE_BYTES = 4 * 1024


class Patch(NamedTuple):
    """The body to send, and the condition types that were left out because they belong to the Job controller."""

    body: dict[str, Any]
    conditions: tuple[Condition, ...]
    refused: tuple[str, ...] = ()


def patch_for(
    conditions: Iterable[Condition],
    data: Mapping[str, Any] | None,
    *,
    present: Mapping[str, Condition],
    now: datetime,
    uid: str | None,
    removed: Iterable[str] = (),
) -> Patch:
    """`present` are the Job's conditions by type; a status that does not change keeps its time.

    `removed` are types of conditions to take off the Job.
    """
    wanted = tuple(conditions)
    kept = tuple(
        _fitting(condition).since(present.get(condition.type), now)
        for condition in wanted
        if condition.type not in RESERVED_TYPES
    )
    metadata: dict[str, Any] = {"uid": uid} if uid else {}
    if data is not None:
        metadata["annotations"] = {DATA_ANNOTATION: fitting_data(data)}
    listed = [condition.to_kubernetes() for condition in kept]
    listed += [{"type": type_, "$patch": "delete"} for type_ in removed]
    body: dict[str, Any] = {"status": {"conditions": listed}}
    if metadata:
        body["metadata"] = metadata
    refused = tuple(condition.type for condition in wanted if condition.type in RESERVED_TYPES)
    return Patch(body=body, conditions=kept, refused=refused)


def fitting_data(data: Mapping[str, Any]) -> str:
    """The data as JSON of at most 64 KiB: the largest members go first, and their names take their place."""
    text = _compact(data)
    if len(text.encode()) <= MAX_DATA_BYTES:
        return text
    sizes = {name: len(_compact({name: value}).encode()) - len("}") for name, value in data.items()}
    excess = sum(sizes.values()) + NOTE_BYTES - MAX_DATA_BYTES
    kept, dropped = dict(data), list[str]()
    for name in sorted(sizes, key=lambda each: sizes[each], reverse=True):
        if excess <= 0:
            break
        excess -= sizes[name]
        dropped.append(name)
        del kept[name]
    return _compact(kept | {DROPPED_MEMBER: _note(dropped)})


def _note(dropped: list[str]) -> list[str]:
    names = [cut(name, MAX_NAME_BYTES) for name in dropped[:MAX_NAMED_DROPS]]
    more = len(dropped) - len(names)
    return [*names, f"and {more} more"] if more else names


def cut(text: str, limit: int) -> str:
    """`text` in at most `limit` bytes, cut between characters."""
    return text.encode()[:limit].decode(errors="ignore")


def _fitting(condition: Condition) -> Condition:
    """The condition as a Job can hold it: no observed generation, no secret, texts that the HyperFleet API takes."""
    return Condition(
        type=condition.type,
        status=condition.status,
        reason=cut(redact_message(condition.reason), MAX_REASON_BYTES),
        message=cut(redact_message(condition.message), MAX_MESSAGE_BYTES),
    )


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
