"""What the Job controller decides: pure, from a Job, its pods and the clock, to a plan.

Reasons, messages and the order of things are those of the real controller, for Jobs that are not indexed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from lab.kubernetes import documents
from lab.kubernetes.documents import Object
from shared import times

_ENDED_PHASES = ("Failed", "Succeeded")


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a Job ends, and why."""

    succeeded: bool
    reason: str
    message: str

    @property
    def conditions(self) -> tuple[str, str]:
        """The condition that announces the end, and the one that is it."""
        return ("SuccessCriteriaMet", "Complete") if self.succeeded else ("FailureTarget", "Failed")


_COMPLETED = Verdict(succeeded=True, reason="CompletionsReached", message="Reached expected number of succeeded pods")
_TOO_LATE = Verdict(succeeded=False, reason="DeadlineExceeded", message="Job was active longer than specified deadline")
_TOO_OFTEN = Verdict(
    succeeded=False, reason="BackoffLimitExceeded", message="Job has reached the specified backoff limit"
)


@dataclass(frozen=True, slots=True)
class JobPod:
    """A pod of a Job as it was last seen.

    `gone`: it is no longer there, and has failed unless it had succeeded. `doomed`: it was on its way out before.
    """

    document: Object
    gone: bool = False
    doomed: bool = False

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
    """What is to be done. `status` holds the fields to write; `look_again` the seconds until time alone may matter."""

    status: Object = field(default_factory=dict)
    create: int = 0
    delete: tuple[Object, ...] = ()
    remove_job: bool = False
    look_again: float | None = None


def decide(job: Object, pods: Sequence[JobPod], now: datetime, *, last_failure: datetime | None, retry: float) -> Plan:
    """The next step of a Job; `retry` is the time in seconds that passes before a failed pod is replaced."""
    if ended_at := _ended_at(job):
        return _after_end(job, ended_at, now)
    status = job.get("status") or {}
    started = times.parse(status["startTime"]) if "startTime" in status else now
    counts = _counts(job, pods, started)
    verdict = _announced(status) or _verdict(job, pods, started, now)
    living = tuple(each.document for each in pods if not each.ended)
    if verdict is not None:
        to_delete = tuple(each for each in living if not documents.deleting(each))
        return Plan(status=_ending(job, verdict, counts, now, over=not living), delete=to_delete)
    if job["spec"].get("suspend"):
        return Plan(status=counts, delete=living)
    missing = _missing(job, pods)
    wait = (last_failure + timedelta(seconds=retry) - now).total_seconds() if last_failure else 0.0
    if missing and wait > 0:
        return Plan(status=counts, look_again=wait)
    return Plan(status=counts, create=missing, look_again=_until_deadline(job, started, now))


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
    return Plan(look_again=left) if left > 0 else Plan(remove_job=True)


def _counts(job: Object, pods: Sequence[JobPod], started: datetime) -> Object:
    active = [each for each in pods if not each.ended and not each.terminating]
    failed = [each for each in pods if _failed(job, each)]
    return {
        "startTime": times.to_seconds(started),
        "active": len(active),
        "ready": sum(each.ready for each in active),
        "terminating": sum(each.terminating for each in pods),
        "succeeded": _succeeded(job, pods),
        "failed": sum(_judged(job, each)[0] != "Ignore" for each in failed),
    }


def _announced(status: Object) -> Verdict | None:
    for each in status.get("conditions") or ():
        if each["type"] in ("SuccessCriteriaMet", "FailureTarget") and each["status"] == "True":
            succeeded = each["type"] == "SuccessCriteriaMet"
            return Verdict(succeeded=succeeded, reason=each["reason"], message=each["message"])
    return None


def _verdict(job: Object, pods: Sequence[JobPod], started: datetime, now: datetime) -> Verdict | None:
    spec = job["spec"]
    judged = [_judged(job, each) for each in pods if _failed(job, each)]
    for action, why in judged:
        if action == "FailJob":
            return Verdict(succeeded=False, reason="PodFailurePolicy", message=why)
    if sum(action != "Ignore" for action, _ in judged) > spec["backoffLimit"] or _restarted_too_often(spec, pods):
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
    """Where containers restart in their pod, it is their restarts that count."""
    if spec["template"]["spec"].get("restartPolicy") != "OnFailure":
        return False
    restarts = sum(each.restarts for each in pods if not each.ended)
    return restarts > 0 if spec["backoffLimit"] == 0 else restarts >= spec["backoffLimit"]


def _failed(job: Object, pod: JobPod) -> bool:
    """A pod on its way out has failed already, unless the Job waits for the end of it before it is replaced."""
    waits = job["spec"].get("podReplacementPolicy") == "Failed"
    return pod.phase == "Failed" or (not waits and (pod.terminating or pod.doomed))


def _succeeded(job: Object, pods: Sequence[JobPod]) -> int:
    return sum(each.phase == "Succeeded" and not _failed(job, each) for each in pods)


def _judged(job: Object, pod: JobPod) -> tuple[str, str]:
    """What the pod failure policy makes of a failed pod: an action, and why where it ends the Job."""
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


def _ending(job: Object, verdict: Verdict, counts: Object, now: datetime, *, over: bool) -> Object:
    present = {each["type"] for each in documents.at(job, "status", "conditions") or ()}
    announcement, end = verdict.conditions
    wanted = (announcement, end) if over else (announcement,)
    moment = times.to_seconds(now)
    common = {"status": "True", "lastProbeTime": moment, "lastTransitionTime": moment}
    why = {"reason": verdict.reason, "message": verdict.message}
    status: dict[str, Any] = {
        **counts,
        "conditions": [{"type": e, **common, **why} for e in wanted if e not in present],
    }
    if over:
        status |= {"active": 0, "ready": 0, "terminating": 0}
        if verdict.succeeded:
            status["completionTime"] = moment
    return status


def _missing(job: Object, pods: Sequence[JobPod]) -> int:
    """How many pods are to be made."""
    spec = job["spec"]
    parallelism: int = spec["parallelism"]
    completions: int | None = spec.get("completions")
    living = sum(not each.ended and not _failed(job, each) for each in pods)
    succeeded = _succeeded(job, pods)
    if completions is None:
        return 0 if succeeded else max(0, parallelism - living)
    return max(0, min(parallelism, completions - succeeded) - living)


def _until_deadline(job: Object, started: datetime, now: datetime) -> float | None:
    seconds = job["spec"].get("activeDeadlineSeconds")
    return None if seconds is None else max(0.0, (started + timedelta(seconds=seconds) - now).total_seconds())
