"""What the Job controller decides: a pure function from a Job, its pods and the time to a plan.

Reasons, messages and order are the real controller's, for Jobs that are not indexed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object
from shared import times

_ENDED_PHASES = ("Failed", "Succeeded")


@dataclass(frozen=True, slots=True)
class Result:
    """How a Job ends, and why."""

    succeeded: bool
    reason: str
    message: str

    @property
    def conditions(self) -> tuple[str, str]:
        """The condition that precedes the end, and the final one."""
        return ("SuccessCriteriaMet", "Complete") if self.succeeded else ("FailureTarget", "Failed")


_COMPLETED = Result(succeeded=True, reason="CompletionsReached", message="Reached expected number of succeeded pods")
_TOO_LATE = Result(succeeded=False, reason="DeadlineExceeded", message="Job was active longer than specified deadline")
_TOO_OFTEN = Result(
    succeeded=False, reason="BackoffLimitExceeded", message="Job has reached the specified backoff limit"
)


@dataclass(frozen=True, slots=True)
class JobPod:
    """A pod of a Job as it was last seen.

    `gone`: it no longer exists; it failed unless it had succeeded. `was_terminating`: it was being deleted earlier.
    """

    document: Object
    gone: bool = False
    was_terminating: bool = False

    @property
    def phase(self) -> str:
        phase = documents.at(self.document, "status", "phase") or "Pending"
        return "Failed" if self.gone and phase != "Succeeded" else str(phase)

    @property
    def ended(self) -> bool:
        return self.phase in _ENDED_PHASES

    @property
    def terminating(self) -> bool:
        return not self.ended and documents.deleting(self.document)

    @property
    def ready(self) -> bool:
        conditions = documents.at(self.document, "status", "conditions") or ()
        return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

    @property
    def restarts(self) -> int:
        return sum(each.get("restartCount", 0) for each in self._container_statuses())

    def exit_codes(self, container: str | None) -> Iterator[tuple[str, int]]:
        """Name and exit code of the containers that ended, of one name or of all."""
        for each in self._container_statuses():
            code = documents.at(each, "state", "terminated", "exitCode")
            if code is not None and container in (None, each["name"]):
                yield each["name"], code

    def _container_statuses(self) -> Iterator[Object]:
        for field_name in ("initContainerStatuses", "containerStatuses"):
            yield from documents.at(self.document, "status", field_name) or ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to do. `status` has the fields to write; `requeue_after` the seconds until the next check."""

    status: Object = field(default_factory=dict)
    create: int = 0
    delete: tuple[Object, ...] = ()
    remove_job: bool = False
    requeue_after: float | None = None


def decide(job: Object, pods: Sequence[JobPod], now: datetime, *, last_failure: datetime | None, retry: float) -> Plan:
    """The next step of a Job; a failed pod is replaced after `retry` seconds."""
    if ended_at := _ended_at(job):
        return _after_end(job, ended_at, now)
    status = job.get("status") or {}
    started = times.parse(status["startTime"]) if "startTime" in status else now
    counts = _counts(job, pods, started)
    result = _announced(status) or _result(job, pods, started, now)
    alive = tuple(each.document for each in pods if not each.ended)
    if result is not None:
        to_delete = tuple(each for each in alive if not documents.deleting(each))
        return Plan(status=_ending(job, result, counts, now, over=not alive), delete=to_delete)
    if job["spec"].get("suspend"):
        return Plan(status=counts, delete=alive)
    missing = _missing(job, pods)
    wait = (last_failure + timedelta(seconds=retry) - now).total_seconds() if last_failure else 0.0
    if missing and wait > 0:
        return Plan(status=counts, requeue_after=wait)
    return Plan(status=counts, create=missing, requeue_after=_until_deadline(job, started, now))


def _ended_at(job: Object) -> datetime | None:
    for each in documents.at(job, "status", "conditions") or ():
        if each["type"] in ("Complete", "Failed") and each["status"] == "True":
            return times.parse(each["lastTransitionTime"])
    return None


def _after_end(job: Object, ended_at: datetime, now: datetime) -> Plan:
    seconds = job["spec"].get("ttlSecondsAfterFinished")
    if seconds is None:
        return Plan()
    left = (ended_at + timedelta(seconds=seconds) - now).total_seconds()
    return Plan(requeue_after=left) if left > 0 else Plan(remove_job=True)


def _counts(job: Object, pods: Sequence[JobPod], started: datetime) -> Object:
    active = [each for each in pods if not each.ended and not each.terminating]
    failed = [each for each in pods if _failed(job, each)]
    return {
        "startTime": times.to_seconds(started),
        "active": len(active),
        "ready": sum(each.ready for each in active),
        "terminating": sum(each.terminating for each in pods),
        "succeeded": _succeeded(job, pods),
        "failed": sum(_policy_action(job, each)[0] != "Ignore" for each in failed),
    }


def _announced(status: Object) -> Result | None:
    for each in status.get("conditions") or ():
        if each["type"] in ("SuccessCriteriaMet", "FailureTarget") and each["status"] == "True":
            succeeded = each["type"] == "SuccessCriteriaMet"
            return Result(succeeded=succeeded, reason=each["reason"], message=each["message"])
    return None


def _result(job: Object, pods: Sequence[JobPod], started: datetime, now: datetime) -> Result | None:
    spec = job["spec"]
    actions = [_policy_action(job, each) for each in pods if _failed(job, each)]
    for action, why in actions:
        if action == "FailJob":
            return Result(succeeded=False, reason="PodFailurePolicy", message=why)
    if sum(action != "Ignore" for action, _ in actions) > spec["backoffLimit"] or _restarted_too_often(spec, pods):
        return _TOO_OFTEN
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and now >= started + timedelta(seconds=deadline):
        return _TOO_LATE
    wanted = spec.get("completions")
    succeeded = _succeeded(job, pods)
    if wanted is None:
        return _COMPLETED if succeeded and all(each.ended for each in pods) else None
    return _COMPLETED if succeeded >= wanted else None


def _restarted_too_often(spec: Object, pods: Sequence[JobPod]) -> bool:
    """With restartPolicy OnFailure the restarts of containers count against the limit."""
    if spec["template"]["spec"].get("restartPolicy") != "OnFailure":
        return False
    restarts = sum(each.restarts for each in pods if not each.ended)
    return restarts > 0 if spec["backoffLimit"] == 0 else restarts >= spec["backoffLimit"]


def _failed(job: Object, pod: JobPod) -> bool:
    """A terminating pod counts as failed, unless podReplacementPolicy is Failed."""
    waits = job["spec"].get("podReplacementPolicy") == "Failed"
    return pod.phase == "Failed" or (not waits and (pod.terminating or pod.was_terminating))


def _succeeded(job: Object, pods: Sequence[JobPod]) -> int:
    return sum(each.phase == "Succeeded" and not _failed(job, each) for each in pods)


def _policy_action(job: Object, pod: JobPod) -> tuple[str, str]:
    """The action of the pod failure policy for a failed pod, and the message if it fails the Job."""
    rules = documents.at(job, "spec", "podFailurePolicy", "rules") or ()
    name = f"{documents.namespace(pod.document)}/{documents.name(pod.document)}"
    for at, rule in enumerate(rules):
        why = _match(rule, pod)
        if why is not None:
            return rule["action"], why.format(pod=name) + f" matching {rule['action']} rule at index {at}"
    return "Count", ""


def _match(rule: Object, pod: JobPod) -> str | None:
    if codes := rule.get("onExitCodes"):
        for container, code in pod.exit_codes(codes.get("containerName")):
            if code and (code in codes["values"]) == (codes["operator"] == "In"):
                return f"Container {container} for pod {{pod}} failed with exit code {code}"
    present = {(each["type"], each["status"]) for each in documents.at(pod.document, "status", "conditions") or ()}
    for wanted in rule.get("onPodConditions") or ():
        if (wanted["type"], wanted.get("status", "True")) in present:
            return f"Pod {{pod}} has condition {wanted['type']}"
    return None


def _ending(job: Object, result: Result, counts: Object, now: datetime, *, over: bool) -> Object:
    present = {each["type"] for each in documents.at(job, "status", "conditions") or ()}
    announcement, end = result.conditions
    wanted = (announcement, end) if over else (announcement,)
    moment = times.to_seconds(now)
    common = {"status": "True", "lastProbeTime": moment, "lastTransitionTime": moment}
    why = {"reason": result.reason, "message": result.message}
    status: dict[str, Any] = {
        **counts,
        "conditions": [{"type": e, **common, **why} for e in wanted if e not in present],
    }
    if over:
        status |= {"active": 0, "ready": 0, "terminating": 0}
        if result.succeeded:
            status["completionTime"] = moment
    return status


def _missing(job: Object, pods: Sequence[JobPod]) -> int:
    """How many pods to create."""
    spec = job["spec"]
    parallelism: int = spec["parallelism"]
    completions: int | None = spec.get("completions")
    alive = sum(not each.ended and not _failed(job, each) for each in pods)
    succeeded = _succeeded(job, pods)
    if completions is None:
        return 0 if succeeded else max(0, parallelism - alive)
    return max(0, min(parallelism, completions - succeeded) - alive)


def _until_deadline(job: Object, started: datetime, now: datetime) -> float | None:
    seconds = job["spec"].get("activeDeadlineSeconds")
    return None if seconds is None else max(0.0, (started + timedelta(seconds=seconds) - now).total_seconds())
