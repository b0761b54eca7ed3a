"""Whether what a work's status says is about the work as it is now.

The first status after an update may still carry the former generation's conditions. Only a condition whose observed
generation is the work's own generation speaks about it.
"""

from dataclasses import dataclass
from enum import Enum

from shared.conditions import Condition, Status
from shared.manifestwork import ManifestWork


class Application(Enum):
    """Has the agent put the objects of this generation on the management cluster?"""

    APPLIED = "applied"
    NOT_YET = "not yet"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The agent's verdict on this generation, and its words where it gave any."""

    state: Application
    message: str = ""


def applied(work: ManifestWork) -> Applied:
    condition = current(work, "Applied")
    if condition is None or condition.status is Status.UNKNOWN:
        return Applied(state=Application.NOT_YET)
    if condition.status is Status.TRUE:
        return Applied(state=Application.APPLIED, message=condition.message)
    return Applied(state=Application.FAILED, message=_failure(work) or condition.message)


def current(work: ManifestWork, type_: str) -> Condition | None:
    """The work's condition of that type, if it was observed on the work as it is now."""
    condition = work.status.condition(type_)
    if condition is None or condition.observed_generation != work.generation:
        return None
    return condition


def _failure(work: ManifestWork) -> str:
    """The management cluster's own words on each object it refused."""
    refused = [(each, each.condition("Applied")) for each in work.status.manifests]
    return "; ".join(
        f"{manifest.kind} {manifest.namespace}/{manifest.name}: {condition.message}"
        for manifest, condition in refused
        if condition is not None and condition.status is Status.FALSE
    )
