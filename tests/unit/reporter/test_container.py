"""From a pod's JSON to the adapter's container: which one it is, and how it stands."""

from datetime import UTC, datetime
from typing import Any

import pytest

from shared.errors import Misconfigured
from status_reporter.pod.container import (
    CANNOT_START_REASONS,
    CannotStart,
    PodFailed,
    Running,
    State,
    Terminated,
    name_of_adapter,
    state_of,
)

RUNNING = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
LATER = datetime(2026, 1, 1, 0, 5, tzinfo=UTC)
LATER_TEXT = "2026-01-01T00:05:00Z"


def pod(state: Any = None, *, restarts: int = 0, policy: str = "Never", **status: Any) -> dict[str, Any]:
    own = {"name": "status-reporter", "state": RUNNING, "restartCount": 0}
    adapter = {"name": "adapter", "state": state or {}, "restartCount": restarts}
    containers = [{"name": "adapter"}, {"name": "status-reporter"}]
    return {
        "spec": {"restartPolicy": policy, "containers": containers},
        "status": {"phase": "Running", "containerStatuses": [own, adapter], **status},
    }


def ended(exit_code: int, **more: Any) -> dict[str, Any]:
    return {"terminated": {"exitCode": exit_code, "startedAt": LATER_TEXT, **more}}


def named(*containers: str, init: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "spec": {
            "containers": [{"name": name} for name in containers],
            "initContainers": [{"name": name, "restartPolicy": "Always"} for name in init],
        }
    }


@pytest.mark.parametrize(
    ("shown", "configured", "adapter"),
    [
        pytest.param(named("adapter", "status-reporter"), None, "adapter", id="the only other container"),
        pytest.param(named("status-reporter", "main"), None, "main", id="whatever its name and place"),
        pytest.param(
            named("adapter", "status-reporter", init=("istio-proxy", "setup")),
            None,
            "adapter",
            id="init containers and native sidecars are never it",
        ),
        pytest.param(named("adapter", init=("status-reporter",)), None, "adapter", id="the reporter as native sidecar"),
        pytest.param(named("adapter", "proxy", "status-reporter"), "adapter", "adapter", id="the named one of several"),
        pytest.param(
            named("adapter", "my-reporter"), "adapter", "adapter", id="the named one beside a renamed reporter"
        ),
    ],
)
def test_the_adapter_is_the_named_container_or_the_only_other_one(
    shown: dict[str, Any], configured: str | None, adapter: str
) -> None:
    assert name_of_adapter(shown, configured) == adapter


@pytest.mark.parametrize(
    ("shown", "configured", "expected"),
    [
        pytest.param(named("a", "b", "status-reporter"), None, "set it to one of: a, b", id="several candidates"),
        pytest.param(named("status-reporter", init=("a",)), None, "set it to one of: none", id="no candidate"),
        pytest.param(
            named("a", "status-reporter"),
            "c",
            "no container 'c'; set it to one of: a, status-reporter",
            id="a name the pod lacks",
        ),
        pytest.param(named("a", init=("setup",)), "setup", "no container 'setup'", id="a name of an init container"),
        pytest.param({}, None, "set it to one of: none", id="a pod that shows nothing"),
    ],
)
def test_an_unclear_adapter_is_reported_with_the_candidates(
    shown: dict[str, Any], configured: str | None, expected: str
) -> None:
    with pytest.raises(Misconfigured, match="ADAPTER_CONTAINER_NAME") as refused:
        name_of_adapter(shown, configured)
    assert expected in str(refused.value)


@pytest.mark.parametrize(
    ("shown", "state"),
    [
        pytest.param({}, Running(), id="a pod that shows nothing is going"),
        pytest.param(pod(), Running(), id="no state yet is going"),
        pytest.param(pod({"waiting": {}}), Running(), id="waiting for no reason is going"),
        pytest.param(pod({"waiting": {"reason": "ContainerCreating"}}), Running(), id="being created is going"),
        pytest.param(pod({"waiting": {"reason": "PodInitializing"}}), Running(), id="init containers running is going"),
        pytest.param(pod(RUNNING), Running(), id="running is going"),
        pytest.param(
            pod({"waiting": {"reason": "ErrImagePull", "message": "no such tag"}}),
            CannotStart(reason="ErrImagePull", message="no such tag"),
            id="an image that cannot be pulled is stuck, with its message",
        ),
        pytest.param(
            pod(ended(0, reason="Completed")),
            Terminated(exit_code=0, reason="Completed", message=""),
            id="ended well",
        ),
        pytest.param(
            pod(ended(137, reason="OOMKilled")),
            Terminated(exit_code=137, reason="OOMKilled", message=""),
            id="out of memory",
        ),
        pytest.param(
            pod(ended(139, reason="Error", signal=11, message="stack")),
            Terminated(exit_code=139, reason="Error", message="stack", signal=11),
            id="a signal and a message are kept",
        ),
        pytest.param(
            pod(RUNNING, phase="Failed", reason="Evicted", message="low on memory"),
            PodFailed(reason="Evicted", message="low on memory"),
            id="an evicted pod takes its container along",
        ),
        pytest.param(
            pod(phase="Failed", reason="DeadlineExceeded"),
            PodFailed(reason="DeadlineExceeded", message=""),
            id="a pod over its deadline, with no message",
        ),
        pytest.param(
            pod(RUNNING, reason="NodeLost", message="the node is silent"),
            Running(),
            id="a pod that did not fail is running, whatever its message",
        ),
        pytest.param(
            pod(ended(3, reason="Error"), phase="Failed"),
            Terminated(exit_code=3, reason="Error", message=""),
            id="a pod that failed by its container is judged by the container",
        ),
        pytest.param(
            pod(ended(0, reason="Completed"), phase="Running"),
            Terminated(exit_code=0, reason="Completed", message=""),
            id="the reporter itself keeps the pod running",
        ),
    ],
)
def test_the_pod_says_how_the_container_stands(shown: dict[str, Any], state: State) -> None:
    found = state_of(shown, "adapter")
    assert (type(found), found) == (type(state), state)


@pytest.mark.parametrize("reason", sorted(CANNOT_START_REASONS))
def test_each_reason_to_wait_for_somebody_is_stuck(reason: str) -> None:
    found = state_of(pod({"waiting": {"reason": reason}}), "adapter")
    assert (type(found), found) == (CannotStart, CannotStart(reason=reason, message=""))


def test_statuses_of_init_containers_are_not_looked_at() -> None:
    shown = pod(RUNNING, initContainerStatuses=[{"name": "adapter", "state": {"waiting": {"reason": "ErrImagePull"}}}])
    assert state_of(shown, "adapter") == Running()


@pytest.mark.parametrize(
    ("policy", "exit_code", "phase", "final"),
    [
        ("Never", 0, "Running", True),
        ("Never", 1, "Running", True),
        ("OnFailure", 0, "Running", True),
        ("OnFailure", 1, "Running", False),
        ("OnFailure", 1, "Failed", True),
        ("Always", 0, "Running", False),
        ("Always", 1, "Running", False),
    ],
)
def test_whether_an_end_is_for_good_follows_from_the_restart_policy(
    policy: str, exit_code: int, phase: str, *, final: bool
) -> None:
    state = state_of(pod(ended(exit_code), policy=policy, phase=phase), "adapter")
    assert isinstance(state, Terminated)
    assert state.final is final


@pytest.mark.parametrize(
    ("state", "restarts", "began"),
    [
        pytest.param(RUNNING, 0, None, id="the first attempt has no former one"),
        pytest.param({"running": {"startedAt": LATER_TEXT}}, 1, LATER, id="the second began when it runs"),
        pytest.param(ended(1), 2, LATER, id="an ended one began when it did"),
        pytest.param({"waiting": {"reason": "CrashLoopBackOff"}}, 3, None, id="between attempts none has begun"),
        pytest.param({"running": {"startedAt": "soon"}}, 1, None, id="a time that is none"),
        pytest.param({"running": {}}, 1, None, id="no time"),
    ],
)
def test_when_a_later_attempt_began(state: dict[str, Any], restarts: int, began: datetime | None) -> None:
    assert state_of(pod(state, restarts=restarts), "adapter").attempt_began == began
