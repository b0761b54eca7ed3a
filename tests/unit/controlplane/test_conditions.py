"""What is reported of a cluster that is wanted: one row per case."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from controlplane_adapter.status.conditions import conditions_for
from controlplane_adapter.status.thresholds import Thresholds
from controlplane_adapter.work.hosted_cluster_status import HostedClusterStatus, Rollout
from shared.maestro import Action
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestStatus, ManifestWork, WorkStatus
from tests.support.hosted_clusters import hosted_cluster, work_with_feedback

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
THRESHOLDS = Thresholds()
CLUSTER = hosted_cluster("demo")
UP = (Rollout(version="4.22.0", completed=True),)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def hypershift(
    type_: str, status: str, reason: str = "AsExpected", message: str = "", *, since: float = 3600
) -> Condition:
    return Condition(type=type_, status=Status(status), reason=reason, message=message, last_transition_time=ago(since))


AVAILABLE, SOUND = hypershift("Available", "True"), hypershift("Degraded", "False")
STARTING = hypershift("Available", "False", "EtcdWaitingForQuorum", "Waiting for etcd to reach quorum")
REPLICAS = "kube-apiserver deployment has 1 unavailable replicas"
BAD_IMAGE = hypershift("ValidReleaseImage", "False", "InvalidImage", "manifest unknown")
YOUNG_BAD_IMAGE = hypershift("ValidReleaseImage", "False", "InvalidImage", "manifest unknown", since=20)
CONFLICT = (
    'Operation cannot be fulfilled on hostedclusters.hypershift.openshift.io "demo": the object has been modified; '
    "please apply your changes to the latest version and try again"
)
BLOCKED = hypershift("Progressing", "False", "Blocked", "ClusterVersionUpgradeable condition is false: not upgradeable")


def degraded(since: float, message: str = REPLICAS) -> Condition:
    return hypershift("Degraded", "True", "UnavailableReplicas", message, since=since)


def known(*conditions: Condition, **facts: Any) -> HostedClusterStatus:
    return replace(HostedClusterStatus(has_feedback=True, present=True, conditions=conditions, version=""), **facts)


def up(*conditions: Condition, **facts: Any) -> HostedClusterStatus:
    return known(*conditions, **({"version": "4.22.0", "rollouts": UP} | facts))


def work(version: str = "4.22.0", **changes: Any) -> ManifestWork:
    return work_with_feedback({}, hosted_cluster("demo", version), **({"created_at": ago(7200)} | changes))


def unconfirmed(**changes: Any) -> ManifestWork:
    return work(generation=2, **changes)


def refused(message: str) -> ManifestWork:
    failed = Condition(
        type="Applied", status=Status.FALSE, message="Failed to apply manifest work", observed_generation=1
    )
    manifest = ManifestStatus(
        kind="HostedCluster", namespace="clusters", name="demo", conditions=(failed._replace(message=message),)
    )
    return work(status=WorkStatus(conditions=(failed,), manifests=(manifest,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    title: str
    status: HostedClusterStatus
    says: tuple[str, ...]
    message: dict[str, str] = field(default_factory=dict)
    of: ManifestWork = field(default_factory=work)
    action: Action = Action.UNCHANGED


APPLIED = [
    Row(
        title="an applied work that was there already exists",
        status=up(AVAILABLE, SOUND),
        says=("Applied=True ManifestWorkExists",),
        message={"Applied": "exists on mgmt-01"},
    ),
    Row(
        title="a work created by this run and confirmed is created",
        of=work(created_at=ago(5)),
        status=known(),
        action=Action.CREATED,
        says=("Applied=True ManifestWorkCreated", "Available=False Provisioning"),
    ),
    Row(
        title="a work created by this run and not confirmed yet is created, and nothing is claimed of it",
        of=unconfirmed(),
        status=HostedClusterStatus(),
        action=Action.CREATED,
        says=("Applied=True ManifestWorkCreated", "Available=False Provisioning", "Health=True NoIssues"),
        message={"Applied": "not yet confirmed"},
    ),
    Row(
        title="an update by this run keeps the previous state of the control plane",
        of=unconfirmed(),
        status=up(AVAILABLE, SOUND),
        action=Action.UPDATED,
        says=("Applied=True ManifestWorkUpdated", "Available=True ControlPlaneReady", "Health=True NoIssues"),
        message={"Applied": "not yet confirmed"},
    ),
    Row(
        title="an answer that is not overdue is awaited in a later run too",
        of=unconfirmed(),
        status=up(AVAILABLE, SOUND, reported_at=ago(60)),
        says=("Applied=True ManifestWorkExists", "Available=True ControlPlaneReady"),
        message={"Applied": "not yet confirmed"},
    ),
    Row(
        title="an agent that owes an answer for long is silent, and its last report is kept and dated",
        of=unconfirmed(),
        status=up(AVAILABLE, SOUND, reported_at=ago(7300)),
        says=("Applied=False AgentSilent", "Available=True ControlPlaneReady", "Health=True NoIssues"),
        message={"Applied": "2h1m", "Available": "last report at 2026-11-16T09:58:20Z"},
    ),
    Row(
        title="an agent that never reported on a work is silent since the work was made",
        of=unconfirmed(status=WorkStatus()),
        status=HostedClusterStatus(),
        says=("Applied=False AgentSilent", "Available=False AgentSilent", "Health=Unknown AgentSilent"),
        message={"Applied": "no report yet", "Available": "check that it runs and reaches Maestro"},
    ),
    Row(
        title="an agent that has answered may be quiet for as long as nothing changes",
        status=up(AVAILABLE, SOUND, reported_at=ago(86400 * 30)),
        says=("Applied=True ManifestWorkExists", "Available=True ControlPlaneReady", "Health=True NoIssues"),
    ),
    Row(
        title="a refused object is reported with the message of the API server",
        of=refused('admission webhook "x" denied the request'),
        status=HostedClusterStatus(present=False),
        says=("Applied=False AppliedManifestWorkFailed", "Available=False NotApplied", "Health=Unknown NotApplied"),
        message={"Applied": 'HostedCluster clusters/demo: admission webhook "x" denied the request'},
    ),
    Row(
        title="a refused update leaves the truth about what runs",
        of=refused("Region is immutable"),
        status=up(AVAILABLE, SOUND),
        says=("Applied=False AppliedManifestWorkFailed", "Available=True ControlPlaneReady", "Health=True NoIssues"),
    ),
    Row(
        title="a conflict of the agent's write with another's is no refusal: the agent tries again",
        of=refused(CONFLICT),
        status=up(AVAILABLE, SOUND, reported_at=ago(2)),
        says=("Applied=True ManifestWorkExists", "Available=True ControlPlaneReady", "Health=True NoIssues"),
        message={"Applied": f"not yet confirmed by its agent; HostedCluster clusters/demo: {CONFLICT}"},
    ),
    Row(
        title="a conflict that the agent did not resolve for long is reported with its silence",
        of=refused(CONFLICT),
        status=up(AVAILABLE, SOUND, reported_at=ago(600)),
        says=("Applied=False AgentSilent", "Available=True ControlPlaneReady"),
        message={"Applied": CONFLICT},
    ),
    Row(
        title="a HyperShift that does not know GCP is reported with what to install",
        of=refused('spec.platform.type: Unsupported value: "GCP": supported values: "AWS", "Azure"'),
        status=HostedClusterStatus(),
        says=("Applied=False AppliedManifestWorkFailed",),
        message={"Applied": "TechPreviewNoUpgrade"},
    ),
    Row(
        title="and so is the text that server-side apply has for it",
        of=refused("failed to create typed patch object: .spec.platform.gcp: field not declared in schema"),
        status=HostedClusterStatus(),
        says=("Applied=False AppliedManifestWorkFailed",),
        message={"Applied": "TechPreviewNoUpgrade"},
    ),
    Row(
        title="another field that is not in the schema means an older HyperShift",
        of=refused("failed to create typed patch object: .spec.newField: field not declared in schema"),
        status=HostedClusterStatus(),
        says=("Applied=False AppliedManifestWorkFailed",),
        message={"Applied": "older than the rendered object"},
    ),
    Row(
        title="a missing namespace is reported with the remedy",
        of=refused('namespaces "clusters" not found'),
        status=HostedClusterStatus(),
        says=("Applied=False AppliedManifestWorkFailed",),
        message={"Applied": "create this namespace"},
    ),
    Row(
        title="an object that somebody removed on the management cluster is missing",
        status=up(AVAILABLE, SOUND, present=False),
        says=(
            "Applied=False HostedClusterMissing",
            "Available=False HostedClusterMissing",
            "Health=False HostedClusterMissing",
        ),
    ),
]

AVAILABILITY = [
    Row(
        title="an available control plane is ready",
        status=up(AVAILABLE, SOUND),
        says=("Available=True ControlPlaneReady",),
        message={"Available": "Control plane is ready and operational"},
    ),
    Row(
        title="an applied work of which nothing came back is not known once its status is overdue",
        status=HostedClusterStatus(),
        says=("Available=False FeedbackMissing", "Health=Unknown FeedbackMissing"),
        message={"Available": "check that the HyperShift operator of mgmt-01 runs"},
    ),
    Row(
        title="a new control plane of which nothing came back yet is being provisioned, and nothing is wrong with it",
        of=work(created_at=ago(THRESHOLDS.agent_silence - 1)),
        status=HostedClusterStatus(),
        says=("Available=False Provisioning", "Health=True NoIssues"),
    ),
    Row(
        title="an operator that has said nothing for too long leaves the control plane unknown",
        status=known(version=None),
        says=("Available=False FeedbackMissing", "Health=Unknown FeedbackMissing"),
        message={"Available": "the HyperShift operator has reported no status"},
    ),
    Row(
        title="why nothing came back is reported where the agent says it",
        status=HostedClusterStatus(feedback_problem="the value for status is not found"),
        says=("Available=False FeedbackMissing",),
        message={"Available": "the value for status is not found"},
    ),
    Row(
        title="an object that the operator has not seen yet is being provisioned",
        of=work(created_at=ago(20)),
        status=known(version=None),
        says=("Available=False Provisioning", "Health=True NoIssues"),
        message={"Available": "the HyperShift operator has not reported yet"},
    ),
    Row(
        title="a control plane that was never up is being provisioned, with what it waits for",
        status=known(STARTING, SOUND),
        says=("Available=False Provisioning",),
        message={"Available": "Waiting for etcd to reach quorum"},
    ),
    Row(
        title="a control plane that was up is not ready",
        status=up(STARTING, SOUND),
        says=("Available=False NotReady", "Health=True NoIssues"),
        message={"Available": "Waiting for etcd to reach quorum"},
    ),
    Row(
        title="also where only the annotation remembers that it was up",
        status=known(STARTING, SOUND, has_been_available=True),
        says=("Available=False NotReady",),
    ),
    Row(
        title="an operator that says nothing of Available leaves it unknown",
        status=known(SOUND),
        says=("Available=False Unknown", "Health=True NoIssues"),
    ),
    Row(
        title="what a person can put right is the reason",
        status=known(STARTING, SOUND, BAD_IMAGE),
        says=("Available=False InvalidImage", "Health=False InvalidImage"),
        message={"Available": "ValidReleaseImage: InvalidImage: manifest unknown"},
    ),
    Row(
        title="all that a person can put right is reported, the gravest first",
        status=known(
            BAD_IMAGE, hypershift("ValidConfiguration", "False", "InvalidConfiguration", "networks overlap"), STARTING
        ),
        says=("Available=False InvalidConfiguration",),
        message={"Available": "networks overlap; ValidReleaseImage: InvalidImage: manifest unknown"},
    ),
    Row(
        title="of an available control plane it is reported without taking it away",
        status=up(AVAILABLE, SOUND, BAD_IMAGE),
        says=("Available=True ControlPlaneReady", "Health=False InvalidImage"),
        message={"Available": "manifest unknown"},
    ),
    Row(
        title="an operator that is blocked by something else says by what",
        status=known(STARTING, hypershift("Progressing", "False", "Blocked", "paused until true")),
        says=("Available=False Blocked",),
        message={"Available": "paused until true"},
    ),
    Row(
        title="progressing alone takes nothing away",
        status=up(AVAILABLE, SOUND, hypershift("Progressing", "True", "Progressing")),
        says=("Available=True ControlPlaneReady", "Health=True NoIssues"),
    ),
    Row(
        title="an operator that failed to reconcile for a moment changes nothing",
        status=up(AVAILABLE, SOUND, hypershift("ReconciliationSucceeded", "False", "ReconciliationError", "conflict")),
        says=("Applied=True ManifestWorkExists", "Available=True ControlPlaneReady", "Health=True NoIssues"),
    ),
]

HEALTH = [
    Row(title="not degraded is healthy", status=up(AVAILABLE, SOUND), says=("Health=True NoIssues",)),
    Row(
        title="degraded for a moment is a roll-out and no issue",
        status=up(AVAILABLE, degraded(299)),
        says=("Available=True ControlPlaneReady", "Health=True TransientIssues"),
        message={"Health": REPLICAS},
    ),
    Row(
        title="degraded for as long as the limit is an issue",
        status=up(AVAILABLE, degraded(300)),
        says=("Available=True ControlPlaneReady", "Health=False Degraded"),
        message={"Health": f"Degraded for 5m: UnavailableReplicas: {REPLICAS}"},
    ),
    Row(
        title="degraded that explains an outage is reported at once",
        status=up(STARTING, degraded(1)),
        says=("Available=False NotReady", "Health=False Degraded"),
    ),
    Row(
        title="degraded during a first installation is how it is built",
        status=known(STARTING, degraded(1800)),
        says=("Available=False Provisioning", "Health=True TransientIssues"),
    ),
    Row(
        title="a first installation that stays degraded for too long is an issue",
        status=known(STARTING, degraded(2700)),
        says=("Available=False Provisioning", "Health=False Degraded"),
    ),
    Row(
        title="degraded that does not say since when counts as lasting",
        status=up(AVAILABLE, degraded(0)._replace(last_transition_time=None)),
        says=("Health=False Degraded",),
    ),
    Row(
        title="a management cluster whose clock is ahead has just begun",
        status=up(AVAILABLE, degraded(-600)),
        says=("Health=True TransientIssues",),
    ),
    Row(
        title="an operator that does not know whether it is degraded leaves it unknown",
        status=known(
            STARTING, hypershift("Degraded", "Unknown", "StatusUnknown", "The hosted control plane is not found")
        ),
        says=("Health=Unknown Unknown",),
        message={"Health": "The hosted control plane is not found"},
    ),
    Row(
        title="of a cluster that was created seconds ago nothing is unknown yet",
        of=work(created_at=ago(5)),
        status=known(
            STARTING, hypershift("Degraded", "Unknown", "StatusUnknown", "The hosted control plane is not found")
        ),
        says=("Health=True NoIssues",),
    ),
    Row(
        title="what a person can put right is no issue while it may pass",
        status=up(AVAILABLE, SOUND, YOUNG_BAD_IMAGE),
        says=("Health=True TransientIssues",),
    ),
    Row(
        title="trouble with certificates is marked, even before it has lasted",
        status=up(AVAILABLE, degraded(1, "kube-apiserver: x509: the serving certificate has expired")),
        says=("Health=True TransientIssues",),
        message={"Health": "certificate problem: Degraded"},
    ),
    Row(
        title="and in the configuration too",
        status=up(
            AVAILABLE,
            SOUND,
            hypershift("ValidConfiguration", "False", "InvalidConfiguration", "TLS secret lacks tls.crt"),
        ),
        says=("Health=False InvalidConfiguration",),
        message={
            "Health": "certificate problem: ValidConfiguration is False for 60m: InvalidConfiguration: TLS secret lacks tls.crt"
        },
    ),
    Row(
        title="an upgrade that the operator refuses is blocked",
        of=work("4.23.0"),
        status=up(AVAILABLE, SOUND, BLOCKED),
        says=("Available=True ControlPlaneReady", "Health=False UpgradeBlocked"),
        message={
            "Health": "upgrade from 4.22.0 to 4.23.0 is blocked: ClusterVersionUpgradeable",
            "Available": "is blocked",
        },
    ),
    Row(
        title="an operator that is blocked without an upgrade is none",
        status=up(AVAILABLE, SOUND, BLOCKED),
        says=("Health=True NoIssues",),
    ),
]

ROWS = [*APPLIED, *AVAILABILITY, *HEALTH]


@pytest.mark.parametrize("row", ROWS, ids=[row.title for row in ROWS])
def test_what_is_reported(row: Row) -> None:
    conditions = {each.type: each for each in conditions_for(row.of, row.status, NOW, THRESHOLDS, action=row.action)}
    assert list(conditions) == ["Applied", "Available", "Health"]
    reported = {f"{each.type}={each.status.value} {each.reason}" for each in conditions.values()}
    assert set(row.says) <= reported, conditions
    for type_, message in row.message.items():
        assert message in conditions[type_].message


def test_each_title_is_said_once() -> None:
    assert len({row.title for row in ROWS}) == len(ROWS)


def test_the_damping_is_a_setting() -> None:
    status = up(AVAILABLE, degraded(10))
    [*_, health] = conditions_for(work(), status, NOW, Thresholds(degraded=5))
    assert health.status is Status.FALSE


def test_a_message_of_any_length_is_cut_to_what_every_reader_takes() -> None:
    [applied, *_] = conditions_for(refused("x" * 100_000), HostedClusterStatus(), NOW, THRESHOLDS)
    assert len(applied.message) == 2000


def test_however_long_the_words_are_the_remedy_is_reported() -> None:
    message = f'spec.platform.type: Unsupported value: "GCP"{"!" * 100_000}'
    [applied, *_] = conditions_for(refused(message), HostedClusterStatus(), NOW, THRESHOLDS)
    assert len(applied.message) == 2000
    assert "TechPreviewNoUpgrade" in applied.message
