"""Applied, Available and Health of a cluster, from its work and the status of its HostedCluster.

Pure: the work, the observed status, the time and the thresholds go in, conditions come out.

* **Applied** is the agent's result for this generation of the work. A work that was sent and not yet confirmed is True,
  and the message says so, until the agent has been silent for too long. A refused one is False, with the API server's
  own message.
* **Available** is the HostedCluster's own `Available` and nothing else, so it stays True during an upgrade. The reason
  names what a person can fix, otherwise whether the control plane was ever up. An unknown state is False, because the
  HyperFleet API discards Unknown.
* **Health** turns False when an issue outlasts its grace period: every rollout makes `Degraded` True for a while. A new
  control plane has no issues until its status is overdue; then Health is **Unknown**, because True would claim a health
  that nobody observed, and the API stores Unknown for this condition.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from controlplane_adapter.status.deletion import deletion_conditions
from controlplane_adapter.status.messages import age, describe, duration, join_parts, seconds_since
from controlplane_adapter.status.remedies import remedy_for
from controlplane_adapter.status.thresholds import Thresholds
from controlplane_adapter.status.upgrade import BLOCKED_REASON, UpgradeState, upgrade_of
from controlplane_adapter.work.feedback import AVAILABLE, DEGRADED, PROGRESSING, USER_ACTIONABLE
from controlplane_adapter.work.hosted_cluster_status import HostedClusterStatus
from shared import times
from shared.maestro import Action, ApplyResult, ApplyState, apply_result
from shared.model.conditions import Condition, Status
from shared.model.damping import GracePeriods, outlasts
from shared.model.manifestwork import ManifestWork
from shared.redaction import redact_text

_APPLIED_REASONS = {
    Action.CREATED: "ManifestWorkCreated",
    Action.UPDATED: "ManifestWorkUpdated",
    Action.UNCHANGED: "ManifestWorkExists",
}
AGENT_SILENT = "AgentSilent"
_PROVISIONING = "Provisioning"
_NO_ISSUES = Condition(type="Health", status=Status.TRUE, reason="NoIssues", message="No degradation detected")


def conditions_for(
    work: ManifestWork,
    status: HostedClusterStatus,
    now: datetime,
    thresholds: Thresholds,
    *,
    action: Action = Action.UNCHANGED,
) -> tuple[Condition, ...]:
    """The conditions of a work that is in Maestro; `action` is what this run did to it."""
    if work.deleting:
        return deletion_conditions(work, status, now, thresholds)
    context = _Context(
        work=work, status=status, now=now, thresholds=thresholds, action=action, result=apply_result(work)
    )
    return _applied(context), _available(context), _health(context)


def report_data(work: ManifestWork, status: HostedClusterStatus) -> dict[str, Any]:
    """The data for the HyperFleet API beside the conditions; "" is what is not known yet."""
    known: dict[str, Any] = {
        "control_plane_endpoint": status.endpoint or "",
        "version": status.version or "",
        "desired_version": status.desired_version or "",
    }
    upgrade = upgrade_of(work, status)
    return known | ({"upgrade": upgrade.to_data()} if upgrade else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    work: ManifestWork
    status: HostedClusterStatus
    now: datetime
    thresholds: Thresholds
    action: Action
    result: ApplyResult

    @property
    def silence(self) -> str:
        """The message about an agent whose answer is overdue; "" where it is not."""
        since = self.status.reported_at or self.work.created_at
        answered = self.result.state is not ApplyState.NOT_YET
        if answered or self.action is not Action.UNCHANGED or since is None:
            return ""
        if seconds_since(since, self.now) < self.thresholds.agent_silence:
            return ""
        last = f"last report at {times.to_seconds(since)}" if self.status.reported_at else "no report yet"
        silent = f"the agent of {self.work.consumer} has been silent for {age(since, self.now)} ({last})"
        return join_parts(f"{silent}: check that it runs and reaches Maestro", self.conflict)

    @property
    def conflict(self) -> str:
        """The message of a write that the agent tries again; "" where there is none."""
        return redact_text(self.result.message) if self.result.state is ApplyState.NOT_YET else ""

    @property
    def overdue(self) -> bool:
        """Whether a status should have come by now."""
        since = self.work.created_at
        return since is not None and seconds_since(since, self.now) >= self.thresholds.agent_silence


def _applied(context: _Context) -> Condition:
    if context.result.state is ApplyState.FAILED:
        refusal = redact_text(context.result.message) or "the management cluster refused the HostedCluster"
        message = join_parts(refusal, remedy=remedy_for(refusal))
        return Condition(type="Applied", status=Status.FALSE, reason="AppliedManifestWorkFailed", message=message)
    if context.silence:
        return Condition(type="Applied", status=Status.FALSE, reason=AGENT_SILENT, message=context.silence)
    if context.status.present is False and context.result.state is ApplyState.APPLIED:
        reason, message = _missing(context)
        return Condition(type="Applied", status=Status.FALSE, reason=reason, message=message)
    if context.result.state is ApplyState.NOT_YET:
        sent = f"HostedCluster was sent to {context.work.consumer}, not yet confirmed by its agent"
        message = join_parts(sent, context.conflict)
    else:
        message = f"HostedCluster exists on {context.work.consumer}"
    return Condition(type="Applied", status=Status.TRUE, reason=_APPLIED_REASONS[context.action], message=message)


def _available(context: _Context) -> Condition:
    available = context.status.condition(AVAILABLE)
    if not context.status.has_feedback:
        return _not_available(*_without_feedback(context))
    if context.status.present is False:
        return _not_available(*_missing(context))
    if available is not None and available.status is Status.TRUE:
        return _ready(context)
    if failures := list(_user_failures(context.status)):
        return _not_available(failures[0].reason or "NotReady", *map(describe, failures))
    progressing = context.status.condition(PROGRESSING)
    if progressing is not None and progressing.status is Status.FALSE and progressing.reason == BLOCKED_REASON:
        return _not_available(BLOCKED_REASON, describe(progressing))
    if available is None and context.status.conditions:
        return _not_available("Unknown", "Control plane status unknown", "HyperShift does not report Available")
    if available is None and context.overdue:
        return _not_available(*_feedback_missing(context))
    waiting = describe(available) if available else "the HyperShift operator has not reported yet"
    if context.status.was_up:
        return _not_available("NotReady", "Control plane not ready", waiting, context.silence)
    return _not_available("Provisioning", "Control plane provisioning in progress", waiting, context.silence)


def _not_available(reason: str, *parts: str) -> Condition:
    return Condition(type="Available", status=Status.FALSE, reason=reason, message=join_parts(*parts))


def _ready(context: _Context) -> Condition:
    upgrade = upgrade_of(context.work, context.status)
    in_progress = upgrade.summary if upgrade and upgrade.state is not UpgradeState.COMPLETED else ""
    failures = map(describe, _user_failures(context.status))
    message = join_parts("Control plane is ready and operational", in_progress, *failures, context.silence)
    return Condition(type="Available", status=Status.TRUE, reason="ControlPlaneReady", message=message)


def _without_feedback(context: _Context) -> tuple[str, ...]:
    """Why there is no status: reason and message. A new control plane is provisioning until an answer is overdue."""
    if context.result.state is ApplyState.FAILED:
        kept = "" if context.status.present is False else "a previous generation, if there is one, stays in place"
        return "NotApplied", f"{context.work.consumer} refused the HostedCluster", kept
    if context.silence:
        return AGENT_SILENT, "Control plane status unknown", context.silence
    if context.result.state is ApplyState.NOT_YET or not (context.overdue or context.status.feedback_problem):
        return _PROVISIONING, "Control plane provisioning in progress", "the agent has not reported a status yet"
    return _feedback_missing(context)


def _feedback_missing(context: _Context) -> tuple[str, ...]:
    silent = (
        "the HyperShift operator has reported no status" if context.status.has_feedback else "no status was returned"
    )
    check = f"check that the HyperShift operator of {context.work.consumer} runs"
    problem = redact_text(context.status.feedback_problem) or f"{silent} since the cluster was created: {check}"
    return "FeedbackMissing", "Control plane status unknown", problem


def _missing(context: _Context) -> tuple[str, str]:
    consumer = context.work.consumer
    return "HostedClusterMissing", f"The agent finds no HostedCluster on {consumer}: somebody removed it there"


def _health(context: _Context) -> Condition:
    if not context.status.has_feedback:
        reason, *parts = _without_feedback(context)
        if reason == _PROVISIONING:
            return _NO_ISSUES
        return Condition(type="Health", status=Status.UNKNOWN, reason=reason, message=join_parts(*parts))
    if context.status.present is False:
        reason, missing = _missing(context)
        return Condition(type="Health", status=Status.FALSE, reason=reason, message=missing)
    issues = list(_issues(context))
    if lasting := [each for each in issues if each.lasting]:
        message = join_parts(*(each.message for each in lasting))
        return Condition(type="Health", status=Status.FALSE, reason=lasting[0].reason, message=message)
    if issues:
        message = join_parts(*(each.message for each in issues))
        return Condition(type="Health", status=Status.TRUE, reason="TransientIssues", message=message)
    return _no_issues(context)


def _no_issues(context: _Context) -> Condition:
    degraded = context.status.condition(DEGRADED)
    if degraded is None and not context.status.conditions:
        if not context.overdue:
            return _NO_ISSUES
        reason, *parts = _feedback_missing(context)
        return Condition(type="Health", status=Status.UNKNOWN, reason=reason, message=join_parts(*parts))
    if degraded is not None and degraded.status is Status.UNKNOWN and not context.overdue:
        return _NO_ISSUES
    if degraded is None or degraded.status is Status.UNKNOWN:
        message = describe(degraded) if degraded else "HyperShift does not report Degraded"
        return Condition(type="Health", status=Status.UNKNOWN, reason="Unknown", message=message)
    return _NO_ISSUES


@dataclass(frozen=True, slots=True, kw_only=True)
class _Issue:
    """`lasting` once its grace period is over."""

    reason: str
    message: str
    lasting: bool


def _issues(context: _Context) -> Iterator[_Issue]:
    """All that is wrong now, the most severe first."""
    degraded = context.status.condition(DEGRADED)
    if degraded is not None and degraded.status is Status.TRUE:
        yield _issue("Degraded", degraded, "Degraded", _degraded_grace_period(context), context.now)
    upgrade = upgrade_of(context.work, context.status)
    if upgrade is not None and upgrade.state is UpgradeState.BLOCKED:
        yield _Issue(reason=upgrade.state.value, message=upgrade.summary, lasting=True)
    for failure in _user_failures(context.status):
        reason, state = failure.reason or failure.type, f"{failure.type} is False"
        yield _issue(reason, failure, state, context.thresholds.degraded, context.now)


def _issue(reason: str, condition: Condition, state: str, grace_period: float, now: datetime) -> _Issue:
    since = condition.last_transition_time
    dated = f"{state} for {age(since, now)}" if since is not None else state
    if outlasts(condition, grace_period, now):
        return _Issue(reason=reason, message=describe(condition, dated), lasting=True)
    dated += f", within its {duration(grace_period)} grace period"
    return _Issue(reason=reason, message=describe(condition, dated), lasting=False)


def _degraded_grace_period(context: _Context) -> float:
    periods = GracePeriods(degraded=context.thresholds.degraded, install=context.thresholds.install)
    available = context.status.condition_is(AVAILABLE, Status.TRUE)
    return periods.of_degraded(available=available, was_up=context.status.was_up)


def _user_failures(status: HostedClusterStatus) -> Iterator[Condition]:
    found = (status.condition(type_) for type_ in USER_ACTIONABLE)
    yield from (each for each in found if each is not None and each.status is Status.FALSE)
