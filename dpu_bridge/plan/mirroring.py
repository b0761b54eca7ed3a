"""A HostedCluster's conditions under the names of the document. One that HyperShift does not report is Unknown."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from dpu_bridge.api.conditions import MIRRORED
from shared.errors import Invalid
from shared.model.conditions import Condition, Status
from shared.model.damping import GracePeriods, outlasts

HAS_BEEN_AVAILABLE = "hypershift.openshift.io/HasBeenAvailable"


def mirrored(cluster: Mapping[str, Any] | None) -> tuple[Condition, ...]:
    """With HyperShift's reasons and messages."""
    found = {each.type: each for each in reported(cluster)}
    return tuple(_mirror(name, found.get(type_), cluster is None) for type_, name in MIRRORED.items())


def reported(cluster: Mapping[str, Any] | None) -> list[Condition]:
    """The conditions that can be understood."""
    conditions = []
    for wire in ((cluster or {}).get("status") or {}).get("conditions") or ():
        try:
            conditions.append(Condition.from_kubernetes(wire))
        except Invalid:
            continue
    return conditions


def lasting_degradation(cluster: Mapping[str, Any] | None, periods: GracePeriods, now: datetime) -> tuple[str, float]:
    """What lasts too long, or nothing; and in how many seconds to look again while it does not."""
    found = {each.type: each for each in reported(cluster)}
    degraded = found.get("Degraded")
    if cluster is None or degraded is None or degraded.status is not Status.TRUE:
        return "", 0.0
    available = "Available" in found and found["Available"].status is Status.TRUE
    was_up = HAS_BEEN_AVAILABLE in (cluster["metadata"].get("annotations") or {})
    period = periods.of_degraded(available=available, was_up=was_up)
    if outlasts(degraded, period, now):
        return f"{degraded.reason}: {degraded.message}", 0.0
    assert degraded.last_transition_time is not None
    return "", period - (now - degraded.last_transition_time).total_seconds()


def version_of(cluster: Mapping[str, Any] | None) -> str:
    """The newest version that the control plane has completely rolled out."""
    history = (((cluster or {}).get("status") or {}).get("controlPlaneVersion") or {}).get("history") or ()
    return next((str(each.get("version") or "") for each in history if each.get("state") == "Completed"), "")


def _mirror(name: str, found: Condition | None, is_missing: bool) -> Condition:  # noqa: FBT001 - a fact of a row
    if found is None:
        message = "There is no HostedCluster" if is_missing else "HyperShift does not report this condition"
        return Condition(type=name, status=Status.UNKNOWN, reason="NotReported", message=message)
    return Condition(type=name, status=found.status, reason=found.reason or "AsReported", message=found.message)
