"""Whether a work's status is about its current generation.

The first status after an update may still carry the previous generation's conditions. Only a condition whose observed
generation is the work's own generation is current. An agent whose write conflicted with another's has not failed: it
reports the conflict and writes again.
"""

from dataclasses import dataclass
from enum import Enum

from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestWork

# The API server's message for a write that was based on an older resourceVersion.
CONFLICT = "the object has been modified; please apply your changes to the latest version"


class ApplyState(Enum):
    """Has the agent put the objects of this generation on the management cluster?"""

    APPLIED = "applied"
    NOT_YET = "not yet"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyResult:
    """The agent's result for this generation, with its message: of NOT_YET, a conflict after which it writes again."""

    state: ApplyState
    message: str = ""


def apply_result(work: ManifestWork) -> ApplyResult:
    condition = current(work, "Applied")
    if condition is None or condition.status is Status.UNKNOWN:
        return ApplyResult(state=ApplyState.NOT_YET)
    if condition.status is Status.TRUE:
        return ApplyResult(state=ApplyState.APPLIED, message=condition.message)
    refusals = _refusals(work)
    conflicted = bool(refusals) and all(CONFLICT in each for each in refusals)
    state = ApplyState.NOT_YET if conflicted else ApplyState.FAILED
    return ApplyResult(state=state, message="; ".join(refusals) or condition.message)


def current(work: ManifestWork, type_: str) -> Condition | None:
    """The work's condition of that type, if it was observed on the work as it is now."""
    condition = work.status.condition(type_)
    if condition is None or condition.observed_generation != work.generation:
        return None
    return condition


def _refusals(work: ManifestWork) -> list[str]:
    """The management cluster's message for each object it refused."""
    refused = [(each, each.condition("Applied")) for each in work.status.manifests]
    return [
        f"{manifest.kind} {manifest.namespace}/{manifest.name}: {condition.message}"
        for manifest, condition in refused
        if condition is not None and condition.status is Status.FALSE
    ]
