"""What is reported of a cluster that is being deleted: one row per stage, and what is stuck."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from controlplane_adapter.status.conditions import conditions_for
from controlplane_adapter.status.deletion import finalized_conditions
from controlplane_adapter.status.thresholds import Thresholds
from controlplane_adapter.work.hosted_cluster_status import HostedClusterStatus
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestWork, WorkStatus
from tests.support.hosted_clusters import hosted_cluster, work_with_feedback

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
FINALIZER = "hypershift.openshift.io/finalizer"


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def deleting(seconds: float, *, taken_up: bool = True) -> ManifestWork:
    word = Condition(type="Deleting", status=Status.TRUE, reason="WorkDeleting", observed_generation=1)
    status = WorkStatus(conditions=(word,) if taken_up else ())
    return work_with_feedback({}, hosted_cluster("demo"), deleted_at=ago(seconds), status=status)


def seen(*conditions: Condition, **facts: Any) -> HostedClusterStatus:
    return replace(HostedClusterStatus(has_feedback=True, present=True, conditions=conditions), **facts)


def finalizing(*conditions: Condition) -> HostedClusterStatus:
    return seen(*conditions, deletion_requested_at=ago(60), finalizers=(FINALIZER,))


def cloud(status: str, reason: str, message: str) -> Condition:
    return Condition(type="CloudResourcesDestroyed", status=Status(status), reason=reason, message=message)


def destroyed(since: float) -> Condition:
    return Condition(
        type="HostedClusterDestroyed",
        status=Status.TRUE,
        reason="WaitingForGracePeriod",
        message="Grace period set: 5m0s",
        last_transition_time=ago(since),
    )


READY = Condition(type="Available", status=Status.TRUE)
WORN = Condition(type="Degraded", status=Status.TRUE, last_transition_time=ago(86400))
LEFT = cloud("False", "RemainingCloudResources", "Remaining resources: load-balancers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    title: str
    work: ManifestWork
    says: tuple[str, ...]
    status: HostedClusterStatus = field(default_factory=seen)
    message: dict[str, str] = field(default_factory=dict)


ROWS = [
    Row(
        title="a deletion that was only sent is requested",
        work=deleting(5, taken_up=False),
        says=("Available=False Deleting", "Health=True NoIssues", "Finalized=False DeletionRequested"),
        message={"Finalized": "its agent has not started it yet"},
    ),
    Row(
        title="an agent that does not start it is reported as silent",
        work=deleting(300, taken_up=False),
        says=("Health=Unknown AgentSilent", "Finalized=False DeletionRequested"),
        message={"Health": "check that the Maestro agent of mgmt-01 runs"},
    ),
    Row(
        title="a deletion that the agent took up is initiated",
        work=deleting(5),
        says=("Health=True NoIssues", "Finalized=False DeletionInitiated"),
    ),
    Row(
        title="finalizers that run are named with what they wait for",
        work=deleting(300),
        status=finalizing(LEFT),
        says=("Health=True NoIssues", "Finalized=False FinalizersRunning"),
        message={
            "Finalized": f"5m ago; finalizers: {FINALIZER}; CloudResourcesDestroyed: RemainingCloudResources: Remaining"
        },
    ),
    Row(
        title="cloud resources that are gone are not reported as left",
        work=deleting(300),
        status=finalizing(cloud("True", "CloudResourcesDestroyed", "All guest resources destroyed")),
        says=("Finalized=False FinalizersRunning",),
        message={"Finalized": f"finalizers: {FINALIZER}"},
    ),
    Row(
        title="what the object said before its deletion is not listened to",
        work=deleting(5),
        status=finalizing(READY, WORN),
        says=("Available=False Deleting", "Health=True NoIssues"),
    ),
    Row(
        title="a control plane that is torn down is kept to be read",
        work=deleting(600),
        status=finalizing(destroyed(10)),
        says=("Health=True NoIssues", "Finalized=False WaitingForGracePeriod"),
        message={"Finalized": "Grace period set: 5m0s"},
    ),
    Row(
        title="an object that is gone waits for the agent to say so",
        work=deleting(600),
        status=seen(present=False, deletion_requested_at=ago(500)),
        says=("Finalized=False AwaitingAgent",),
        message={"Finalized": "has not confirmed"},
    ),
    Row(
        title="a deletion one second below the limit is not stuck",
        work=deleting(1799),
        status=finalizing(LEFT),
        says=("Health=True NoIssues",),
    ),
    Row(
        title="finalizers over the limit are stuck, with what is stuck and what to do",
        work=deleting(1800),
        status=finalizing(LEFT),
        says=("Health=False DeletionStuck", "Finalized=False FinalizersRunning"),
        message={"Health": "HyperShift operator's log"},
    ),
    Row(
        title="what is stuck is in the message",
        work=deleting(1800),
        status=finalizing(LEFT),
        says=("Health=False DeletionStuck",),
        message={"Health": f"finalizers: {FINALIZER}; CloudResourcesDestroyed: RemainingCloudResources"},
    ),
    Row(
        title="an agent that never took it up is what is stuck",
        work=deleting(7200, taken_up=False),
        says=("Health=False DeletionStuck",),
        message={"Health": "check that the Maestro agent of mgmt-01 runs"},
    ),
    Row(
        title="an agent that does not see the end is to be restarted",
        work=deleting(1800),
        status=seen(present=False, deletion_requested_at=ago(500)),
        says=("Health=False DeletionStuck", "Finalized=False AwaitingAgent"),
        message={"Health": "restart the Maestro agent of mgmt-01"},
    ),
    Row(
        title="the time of grace counts for itself",
        work=deleting(2000),
        status=finalizing(destroyed(100)),
        says=("Health=True NoIssues",),
    ),
    Row(
        title="a grace that does not end is stuck too",
        work=deleting(9000),
        status=finalizing(destroyed(1800)),
        says=("Health=False DeletionStuck",),
    ),
    Row(
        title="cloud resources that the operator gave up on are left to people",
        work=deleting(700),
        status=finalizing(cloud("False", "CloudResourcesDeletionTimedOut", "Giving up after 10m (last status: disks)")),
        says=("Health=False CloudResourcesDeletionTimedOut",),
        message={"Health": "remove by hand what is left"},
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=[row.title for row in ROWS])
def test_what_is_reported(row: Row) -> None:
    conditions = {each.type: each for each in conditions_for(row.work, row.status, NOW, Thresholds())}
    assert list(conditions) == ["Applied", "Available", "Health", "Finalized"]
    reported = {f"{each.type}={each.status.value} {each.reason}" for each in conditions.values()}
    assert {"Applied=True ManifestWorkExists", *row.says} <= reported, conditions
    for type_, message in row.message.items():
        assert message in conditions[type_].message


def test_only_nothing_left_is_finalized() -> None:
    assert {each.type: (each.status.value, each.reason) for each in finalized_conditions()} == {
        "Applied": ("False", "Deleted"),
        "Available": ("False", "Deleted"),
        "Health": ("True", "NoIssues"),
        "Finalized": ("True", "Deleted"),
    }
