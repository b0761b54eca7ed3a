"""What the adapter says of a cluster: Applied, Available and Health, from the work and what is known of its object.

Pure: the work, the observed status, the clock and the limits go in, conditions come out.

* **Applied** is the agent's verdict on this generation of the work. Sent and not yet confirmed is True, with words that
  say so, until the agent has been silent for too long; refused is False, in the API server's own words.
* **Available** is the HostedCluster's own `Available` and nothing else, so it stays True during an upgrade. The reason
  comes from what a person can put right, else from whether the control plane was ever up. Not knowing is False,
  because the HyperFleet API discards Unknown.
* **Health** turns False when trouble has lasted: `Degraded` is True during every roll-out, so it is damped. Without
  knowledge Health is **Unknown**: "True" would claim a health nobody has seen, "False" would raise an alarm about every
  new cluster, and the API stores Unknown for this condition.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from controlplane_adapter.feedback import AVAILABLE, DEGRADED, PROGRESSING, USER_ACTIONABLE
from controlplane_adapter.finalizing import judge_deletion
from controlplane_adapter.limits import Limits
from controlplane_adapter.observing import HostedClusterStatus
from controlplane_adapter.refusing import remedy_for
from controlplane_adapter.upgrading import BLOCKED_REASON, UpgradeState, upgrade_of
from controlplane_adapter.wording import how_long, seconds_since, sentence, words_of
from shared import times
from shared.conditions import Condition, Status
from shared.maestro.freshness import Application, Applied, applied
from shared.maestro.works import Action
from shared.manifestwork import ManifestWork

_APPLIED_REASONS = {
    Action.CREATED: "ManifestWorkCreated",
    Action.UPDATED: "ManifestWorkUpdated",
    Action.UNCHANGED: "ManifestWorkExists",
}
AGENT_SILENT = "AgentSilent"


def judge(
    work: ManifestWork,
    status: HostedClusterStatus,
    now: datetime,
    limits: Limits,
    *,
    action: Action = Action.UNCHANGED,
) -> tuple[Condition, ...]:
    """The conditions of a work that is in Maestro; `action` is what this run has done to it."""
    if work.deleting:
        return judge_deletion(work, status, now, limits)
    case = _Case(work=work, status=status, now=now, limits=limits, action=action, verdict=applied(work))
    return _applied(case), _available(case), _health(case)


def data(work: ManifestWork, status: HostedClusterStatus) -> dict[str, Any]:
    """What travels to the HyperFleet API beside the conditions; "" is what is not known yet."""
    known: dict[str, Any] = {
        "control_plane_endpoint": status.endpoint or "",
        "version": status.version or "",
        "desired_version": status.desired_version or "",
    }
    upgrade = upgrade_of(work, status)
    return known | ({"upgrade": upgrade.to_data()} if upgrade else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    work: ManifestWork
    status: HostedClusterStatus
    now: datetime
    limits: Limits
    action: Action
    verdict: Applied

    @property
    def silence(self) -> str:
        """That the agent owes an answer for too long, in words; "" where it does not."""
        last_word = self.status.said_at or self.work.created_at
        answered = self.verdict.state is not Application.NOT_YET
        if answered or self.action is not Action.UNCHANGED or last_word is None:
            return ""
        if seconds_since(last_word, self.now) < self.limits.agent_silence:
            return ""
        spoken = f"its last word is of {times.to_seconds(last_word)}" if self.status.said_at else "it never spoke of it"
        silent = f"the agent of {self.work.consumer} has not answered for {how_long(last_word, self.now)} ({spoken})"
        return f"{silent}: check that it runs and reaches Maestro"


def _applied(case: _Case) -> Condition:
    if case.verdict.state is Application.FAILED:
        words = case.verdict.message or "the management cluster refused the HostedCluster"
        message = sentence(words, remedy=remedy_for(words))
        return Condition(type="Applied", status=Status.FALSE, reason="AppliedManifestWorkFailed", message=message)
    if case.silence:
        return Condition(type="Applied", status=Status.FALSE, reason=AGENT_SILENT, message=case.silence)
    if case.status.present is False and case.verdict.state is Application.APPLIED:
        reason, words = _missing(case)
        return Condition(type="Applied", status=Status.FALSE, reason=reason, message=words)
    if case.verdict.state is Application.NOT_YET:
        message = f"HostedCluster was sent to {case.work.consumer}, not yet confirmed by its agent"
    else:
        message = f"HostedCluster exists on {case.work.consumer}"
    return Condition(type="Applied", status=Status.TRUE, reason=_APPLIED_REASONS[case.action], message=message)


def _available(case: _Case) -> Condition:
    available = case.status.condition(AVAILABLE)
    if not case.status.told:
        return _not_available(*_without_feedback(case))
    if case.status.present is False:
        return _not_available(*_missing(case))
    if available is not None and available.status is Status.TRUE:
        return _ready(case)
    if failures := list(_user_failures(case.status)):
        return _not_available(failures[0].reason or "NotReady", *map(words_of, failures))
    progressing = case.status.condition(PROGRESSING)
    if progressing is not None and progressing.status is Status.FALSE and progressing.reason == BLOCKED_REASON:
        return _not_available(BLOCKED_REASON, words_of(progressing))
    if available is None and case.status.conditions:
        return _not_available("Unknown", "Control plane status unknown", "HyperShift does not report Available")
    waiting = words_of(available) if available else "the HyperShift operator has not reported yet"
    if case.status.was_up:
        return _not_available("NotReady", "Control plane not ready", waiting, case.silence)
    return _not_available("Provisioning", "Control plane provisioning in progress", waiting, case.silence)


def _not_available(reason: str, *words: str) -> Condition:
    return Condition(type="Available", status=Status.FALSE, reason=reason, message=sentence(*words))


def _ready(case: _Case) -> Condition:
    upgrade = upgrade_of(case.work, case.status)
    under_way = upgrade.words if upgrade and upgrade.state is not UpgradeState.COMPLETED else ""
    failures = map(words_of, _user_failures(case.status))
    message = sentence("Control plane is ready and operational", under_way, *failures, case.silence)
    return Condition(type="Available", status=Status.TRUE, reason="ControlPlaneReady", message=message)


def _without_feedback(case: _Case) -> tuple[str, ...]:
    if case.verdict.state is Application.FAILED:
        return "NotApplied", f"{case.work.consumer} refused the HostedCluster, so there is no control plane"
    if case.silence:
        return AGENT_SILENT, "Control plane status unknown", case.silence
    if case.verdict.state is Application.NOT_YET:
        return "Provisioning", "Control plane provisioning in progress", "no status has come back yet"
    problem = case.status.feedback_problem or "the agent has returned no status of the HostedCluster yet"
    return "FeedbackMissing", "Control plane status unknown", problem


def _missing(case: _Case) -> tuple[str, str]:
    consumer = case.work.consumer
    return "HostedClusterMissing", f"The agent finds no HostedCluster on {consumer}: it was removed there, not by us"


def _health(case: _Case) -> Condition:
    if not case.status.told:
        reason, *words = _without_feedback(case)
        unknown = "FeedbackMissing" if reason == "Provisioning" else reason
        return Condition(type="Health", status=Status.UNKNOWN, reason=unknown, message=sentence(*words))
    if case.status.present is False:
        reason, missing = _missing(case)
        return Condition(type="Health", status=Status.FALSE, reason=reason, message=missing)
    troubles = list(_troubles(case))
    if lasting := [each for each in troubles if each.has_lasted]:
        message = sentence(*(each.words for each in lasting))
        return Condition(type="Health", status=Status.FALSE, reason=lasting[0].reason, message=message)
    if troubles:
        message = sentence("Not told as an issue before it has lasted", *(each.words for each in troubles))
        return Condition(type="Health", status=Status.TRUE, reason="TransientIssues", message=message)
    return _sound(case)


def _sound(case: _Case) -> Condition:
    degraded = case.status.condition(DEGRADED)
    if degraded is None or degraded.status is Status.UNKNOWN:
        words = words_of(degraded) if degraded else "HyperShift does not report Degraded yet"
        return Condition(type="Health", status=Status.UNKNOWN, reason="Unknown", message=words)
    return Condition(type="Health", status=Status.TRUE, reason="NoIssues", message="No degradation detected")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trouble:
    reason: str
    words: str
    has_lasted: bool


def _troubles(case: _Case) -> Iterator[_Trouble]:
    """All that is wrong now, the gravest first."""
    degraded = case.status.condition(DEGRADED)
    if degraded is not None and degraded.status is Status.TRUE:
        words = f"Control plane is degraded: {words_of(degraded)}"
        yield _Trouble(reason="Degraded", words=words, has_lasted=_has_lasted(degraded, case, _damping(case)))
    upgrade = upgrade_of(case.work, case.status)
    if upgrade is not None and upgrade.state is UpgradeState.BLOCKED:
        yield _Trouble(reason=upgrade.state.value, words=upgrade.words, has_lasted=True)
    for failure in _user_failures(case.status):
        reason = failure.reason or failure.type
        has_lasted = _has_lasted(failure, case, case.limits.degraded)
        yield _Trouble(reason=reason, words=words_of(failure), has_lasted=has_lasted)


def _damping(case: _Case) -> float:
    """How long Degraded is borne: not at all where it explains why a control plane that was up is not available."""
    if case.status.says(AVAILABLE, Status.TRUE):
        return case.limits.degraded
    return 0.0 if case.status.was_up else case.limits.install


def _has_lasted(condition: Condition, case: _Case, limit: float) -> bool:
    """A condition that does not say since when is taken as old: better told once too early than never."""
    since = condition.last_transition_time
    return since is None or seconds_since(since, case.now) >= limit


def _user_failures(status: HostedClusterStatus) -> Iterator[Condition]:
    found = (status.condition(type_) for type_ in USER_ACTIONABLE)
    yield from (each for each in found if each is not None and each.status is Status.FALSE)
