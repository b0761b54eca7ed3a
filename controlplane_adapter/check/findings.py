"""What the works of a management cluster show about it. Pure.

Maestro has no liveness of agents: what no status shows is unknown, not missing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from controlplane_adapter.hostedcluster.model import GROUP, KIND
from controlplane_adapter.status.messages import age
from controlplane_adapter.status.remedies import GCP_MISSING, remedy_for
from controlplane_adapter.work.hosted_cluster_status import reported_at
from shared.maestro import ApplyState, apply_result
from shared.model.conditions import Status
from shared.model.manifestwork import ManifestWork
from shared.redaction import redact_text


class State(StrEnum):
    OK = "ok"
    INVALID = "invalid"
    MISSING = "missing"
    UNREACHABLE = "unreachable"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One prerequisite: whether it is met, what shows that, and what to do."""

    name: str
    state: State
    detail: str = ""
    remedy: str = ""


def newest_status(works: Iterable[ManifestWork], consumer: str, now: datetime) -> Finding:
    """The last report of the agent on any work there."""
    reports = [(moment, work) for work in works if (moment := reported_at(work)) is not None]
    name = "agent"
    if not reports:
        remedy = f"check that the Maestro agent of {consumer} runs and reaches Maestro"
        detail = "no work there has a status yet, and Maestro shows no liveness of agents"
        return Finding(name=name, state=State.UNKNOWN, detail=detail, remedy=remedy)
    moment, work = max(reports, key=lambda each: each[0])
    detail = f"newest status {age(moment, now)} ago, of work {work.name!r}; Maestro shows no liveness of agents"
    return Finding(name=name, state=State.OK, detail=detail)


def gcp_by_works(works: Sequence[ManifestWork], consumer: str) -> Finding:
    """Whether HyperShift there offers GCP, by the HostedClusters that were applied or refused."""
    name = "hypershift"
    ours = [work for work in works if any(each.get("kind") == KIND for each in work.manifests)]
    for work in ours:
        message = redact_text(apply_result(work).message)
        if apply_result(work).state is ApplyState.FAILED and re.search(GCP_MISSING, message):
            detail = f"{consumer} refused {work.name!r}: {message:.300}"
            return Finding(name=name, state=State.MISSING, detail=detail, remedy=remedy_for(message))
    applied = [work for work in ours if apply_result(work).state is ApplyState.APPLIED]
    if applied:
        return Finding(
            name=name, state=State.OK, detail=f"{consumer} accepted the HostedCluster of {applied[0].name!r}"
        )
    detail = "no HostedCluster was applied or refused there yet"
    return Finding(name=name, state=State.UNKNOWN, detail=detail, remedy="ask the management cluster with --probe")


def gcp_by_probe(work: ManifestWork | None, consumer: str) -> Finding:
    """Whether HyperShift there offers GCP, by what a read-only work on its CRD returned."""
    name, crd = "hypershift", f"hostedclusters.{GROUP}"
    status = next(iter(work.status.manifests), None) if work else None
    if work is None or status is None:
        remedy = f"check that the Maestro agent of {consumer} runs and reaches Maestro"
        return Finding(
            name=name, state=State.UNKNOWN, detail="the agent did not answer the probe in time", remedy=remedy
        )
    if status.feedback.get("gcp"):
        return Finding(name=name, state=State.OK, detail=f"the CRD {crd} on {consumer} offers GCP")
    if status.feedback.get("kind"):
        remedy = remedy_for('Unsupported value: "GCP"')
        return Finding(name=name, state=State.MISSING, detail=f"the CRD {crd} on {consumer} lacks GCP", remedy=remedy)
    refusals = [each.message for each in status.conditions if each.status is Status.FALSE and each.message]
    detail = redact_text("; ".join(refusals)) or f"the agent finds no CRD {crd}"
    missing = any("not found" in each or "no matches" in each for each in refusals)
    state = State.MISSING if missing or not refusals else State.UNKNOWN
    return Finding(name=name, state=state, detail=detail, remedy=remedy_for("no matches for kind") if missing else "")
