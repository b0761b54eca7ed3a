"""The state of the adapter's container: pure, from the pod's JSON.

The adapter is the container that is named, or the only one that is not this reporter. Init containers and native
sidecars have their own list in a pod and are never it.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from shared import times
from shared.errors import Misconfigured, Problem

SELF = "status-reporter"
# Reasons for which a container waits until somebody changes something. The kubelet goes on trying for all of them.
CANNOT_START_REASONS = frozenset(
    {
        *("ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName"),
        *("CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff"),
    }
)

Json = Mapping[str, Any]


class Unknown(NamedTuple):
    """Nothing is known. `observable` is False where the API server does not let us read the pod."""

    observable: bool = True
    attempt_began: datetime | None = None


class Running(NamedTuple):
    """It runs, or is about to. `attempt_began` is the start of this attempt, None for the first."""

    attempt_began: datetime | None = None


class CannotStart(NamedTuple):
    """It waits for something that somebody must correct."""

    reason: str
    message: str
    attempt_began: datetime | None = None


class Terminated(NamedTuple):
    """It ended. `final` is False where the kubelet will start it again."""

    exit_code: int
    reason: str
    message: str
    signal: int = 0
    final: bool = True
    attempt_began: datetime | None = None


class PodFailed(NamedTuple):
    """Kubernetes failed the whole pod: evicted, or over its deadline."""

    reason: str
    message: str
    attempt_began: datetime | None = None


State = Unknown | Running | CannotStart | Terminated | PodFailed


def name_of_adapter(pod: Json, configured: str | None) -> str:
    """Which container is the adapter. Raises Misconfigured, naming the candidates, where that is not clear."""
    names = [str(each.get("name")) for each in (pod.get("spec") or {}).get("containers") or ()]
    if configured is not None:
        if configured in names:
            return configured
        raise _unclear(f"the pod has no container {configured!r}", names)
    candidates = [name for name in names if name != SELF]
    if len(candidates) == 1:
        return candidates[0]
    raise _unclear("it is not clear which container is the adapter", candidates)


def _unclear(why: str, names: list[str]) -> Misconfigured:
    problem = Problem("ADAPTER_CONTAINER_NAME", f"{why}; set it to one of: {', '.join(names) or 'none'}")
    return Misconfigured("the adapter's container cannot be found", [problem])


def state_of(pod: Json, container: str) -> State:
    status = pod.get("status") or {}
    found: Json = next((each for each in status.get("containerStatuses") or () if each.get("name") == container), {})
    began = _attempt_began(found)
    if status.get("phase") == "Failed" and status.get("reason"):
        return PodFailed(reason=str(status["reason"]), message=str(status.get("message") or ""), attempt_began=began)
    state = found.get("state") or {}
    if ended := state.get("terminated"):
        return _terminated(ended, _is_final(pod, ended), began)
    waiting = state.get("waiting") or {}
    if waiting.get("reason") in CANNOT_START_REASONS:
        return CannotStart(reason=waiting["reason"], message=str(waiting.get("message") or ""), attempt_began=began)
    return Running(attempt_began=began)


def _terminated(state: Json, final: bool, began: datetime | None) -> Terminated:  # noqa: FBT001 - one of three plain facts
    return Terminated(
        exit_code=int(state.get("exitCode") or 0),
        reason=str(state.get("reason") or ""),
        message=str(state.get("message") or ""),
        signal=int(state.get("signal") or 0),
        final=final,
        attempt_began=began,
    )


def _is_final(pod: Json, ended: Json) -> bool:
    match (pod.get("spec") or {}).get("restartPolicy"):
        case "Always":
            return False
        case "OnFailure":
            over = (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded")
            return over or not ended.get("exitCode")
        case _:
            return True


def _attempt_began(status: Json) -> datetime | None:
    """When a second or later attempt started; a report older than that belongs to an earlier attempt."""
    if not status.get("restartCount"):
        return None
    state = status.get("state") or {}
    started = (state.get("running") or state.get("terminated") or {}).get("startedAt")
    try:
        return times.parse(started) if isinstance(started, str) else None
    except ValueError:
        return None
