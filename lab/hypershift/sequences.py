"""The next status of a HostedCluster: pure, from the object and a script.

All state is in the object, so a restarted operator continues where it stopped. The order is the real operator's:
conditions that are Unknown until there is a control plane, an endpoint with an empty host before the real one, version
histories that are Partial before they are Completed, `Degraded` during every roll-out, and a control plane that is
available long before its roll-out is complete.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from lab.hypershift import conditions as texts
from lab.hypershift import releases
from lab.hypershift.conditions import Conditions, ConditionText
from shared import times

Json = Mapping[str, Any]

FINALIZER = "hypershift.openshift.io/finalizer"
HAS_BEEN_AVAILABLE = "hypershift.openshift.io/HasBeenAvailable"
GRACE_PERIOD = "hypershift.openshift.io/destroy-grace-period"


class Moment(StrEnum):
    """The steps of an installation, an upgrade, the steady state and a deletion, in order."""

    SEEN = "seen"
    CONTROL_PLANE_CREATED = "control plane created"
    INFRASTRUCTURE_READY = "infrastructure ready"
    ETCD_STARTING = "etcd starting"
    API_SERVER_STARTING = "API server starting"
    COMPONENTS_STARTING = "components starting"
    AVAILABLE = "available"
    INSTALLED = "installed"
    UPGRADE_TAKEN_UP = "upgrade taken up"
    ROLLING_OUT = "rolling out"
    ROLLED_OUT = "rolled out"
    SETTLED = "settled"
    DELETION_TAKEN_UP = "deletion taken up"
    CLOUD_RESOURCES_GONE = "cloud resources gone"
    TORN_DOWN = "torn down"
    FINALIZED = "finalized"


# Seconds that the real operator takes from the previous step.
TAKES: Mapping[Moment, float] = {
    Moment.SEEN: 1,
    Moment.CONTROL_PLANE_CREATED: 10,
    Moment.INFRASTRUCTURE_READY: 90,
    Moment.ETCD_STARTING: 30,
    Moment.API_SERVER_STARTING: 60,
    Moment.COMPONENTS_STARTING: 60,
    Moment.AVAILABLE: 90,
    Moment.INSTALLED: 180,
    Moment.UPGRADE_TAKEN_UP: 1,
    Moment.ROLLING_OUT: 20,
    Moment.ROLLED_OUT: 600,
    Moment.SETTLED: 1,
    Moment.DELETION_TAKEN_UP: 5,
    Moment.CLOUD_RESOURCES_GONE: 120,
    Moment.TORN_DOWN: 120,
    Moment.FINALIZED: 5,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What happens to one cluster; by default nothing fails.

    `hold_before` stops before that moment until the script is changed. `failing` are conditions with an error,
    `outage` is the Available condition of a control plane that has failed.
    """

    hold_before: Moment | None = None
    degraded: str = ""
    failing: Conditions = field(default_factory=dict)
    outage: ConditionText | None = None
    upgrade_blocked: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One write of the status, `takes` seconds after the previous one; `removes_finalizer` completes a deletion."""

    moment: Moment
    takes: float
    conditions: Conditions = field(default_factory=dict)
    members: Json = field(default_factory=dict)
    removes_finalizer: bool = False


def preparation(cluster: Json) -> dict[str, Any]:
    """What the operator adds to metadata and spec, as a merge patch; {} if nothing is missing."""
    metadata, spec = cluster["metadata"], cluster["spec"]
    if metadata.get("deletionTimestamp"):
        return {}
    patch: dict[str, Any] = {}
    finalizers = metadata.get("finalizers") or []
    if FINALIZER not in finalizers:
        patch["metadata"] = {"finalizers": [*finalizers, FINALIZER]}
    elif _condition(cluster, "Available").status == "True" and HAS_BEEN_AVAILABLE not in (
        metadata.get("annotations") or {}
    ):
        patch["metadata"] = {"annotations": {HAS_BEEN_AVAILABLE: "true"}}
    digest = hashlib.sha256(metadata["uid"].encode()).hexdigest()
    identity = {"clusterID": metadata["uid"], "infraID": f"{metadata['name']}-{digest[:5]}"}
    missing = {name: value for name, value in identity.items() if not spec.get(name)}
    return patch | ({"spec": missing} if missing else {})


def next_step(cluster: Json, script: Script, now: datetime) -> Step | None:
    """The operator's next write; None if there is none, or the script holds it."""
    step = _deletion(cluster) if cluster["metadata"].get("deletionTimestamp") else _reconcile(cluster, script, now)
    return None if step is None or step.moment is script.hold_before else step


def written(cluster: Json, step: Step, now: datetime) -> dict[str, Any]:
    """The status after the step; a condition's time moves only when its status does."""
    status = dict(cluster.get("status") or {})
    former = {each["type"]: each for each in status.get("conditions") or ()}
    generation = cluster["metadata"].get("generation", 1)
    for type_, text in step.conditions.items():
        before = former.get(type_, {})
        same = before.get("status") == text.status
        former[type_] = {
            "type": type_,
            "status": text.status,
            "reason": text.reason,
            "message": text.message,
            "lastTransitionTime": before["lastTransitionTime"] if same else times.to_seconds(now),
            "observedGeneration": generation,
        }
    return {**status, **step.members, "conditions": list(former.values())}


def _reconcile(cluster: Json, script: Script, now: datetime) -> Step | None:
    rollouts = releases.rollouts(cluster)
    if not any(each["state"] == "Completed" for each in rollouts):
        return _installation(cluster, script, now)
    if not releases.is_newest(cluster) or rollouts[0]["state"] == "Partial":
        return _upgrade(cluster, script, now)
    return _steady_state(cluster, script)


def _installation(cluster: Json, script: Script, now: datetime) -> Step | None:
    if script.failing:
        return _failing(cluster, script, now)
    steps = _installation_steps(cluster, now)
    reached = max((index for index, step in enumerate(steps) if _contains(cluster, step.conditions)), default=-1)
    return steps[reached + 1] if reached + 1 < len(steps) else None


def _failing(cluster: Json, script: Script, now: datetime) -> Step | None:
    """Validation fails before there is a control plane: the operator reports it and waits."""
    type_, text = next(iter(script.failing.items()))
    message = f"{type_} condition is false: {text.message}"
    waiting = ConditionText("False", "WaitingForAvailable", message)
    conditions = {**texts.FIRST, **script.failing, "Progressing": texts.blocked(message), "Available": waiting}
    if _contains(cluster, conditions):
        return None
    return _step(Moment.SEEN, conditions, _first_members(cluster, now))


def _installation_steps(cluster: Json, now: datetime) -> list[Step]:
    rolling = texts.degraded(texts.UNAVAILABLE_REPLICAS)
    up = texts.AS_EXPECTED
    return [
        _step(Moment.SEEN, texts.FIRST, _first_members(cluster, now)),
        _step(
            Moment.CONTROL_PLANE_CREATED,
            {
                **texts.CREDENTIALS,
                **dict.fromkeys(
                    ("ValidHostedControlPlaneConfiguration", "ValidReleaseInfo", "ValidIDPConfiguration"), up
                ),
                "InfrastructureReady": texts.NO_INFRASTRUCTURE,
                "Available": texts.NO_INFRASTRUCTURE,
                "Degraded": rolling,
            },
            {"controlPlaneEndpoint": {"host": "", "port": 443}},
        ),
        _step(
            Moment.INFRASTRUCTURE_READY,
            {"InfrastructureReady": up, "Available": texts.NO_KUBECONFIG},
            {
                "controlPlaneEndpoint": {"host": _host(cluster), "port": 443},
                "controlPlaneVersion": releases.begun(cluster, now),
                "version": releases.of_whole_cluster(cluster, now),
            },
        ),
        _step(
            Moment.ETCD_STARTING,
            {"EtcdAvailable": texts.NO_QUORUM, "Available": texts.NO_QUORUM},
            {"kubeconfig": {"name": f"{cluster['metadata']['name']}-admin-kubeconfig"}},
        ),
        _step(
            Moment.API_SERVER_STARTING,
            {
                "EtcdAvailable": ConditionText("True", "QuorumAvailable"),
                "KubeAPIServerAvailable": texts.NO_API_SERVER,
                "Available": texts.NO_API_SERVER,
            },
        ),
        _step(Moment.COMPONENTS_STARTING, {"KubeAPIServerAvailable": up, "Available": texts.NO_COMPONENTS}),
        _step(Moment.AVAILABLE, {"Available": texts.AVAILABLE, "IgnitionEndpointAvailable": up, "Degraded": rolling}),
        _step(
            Moment.INSTALLED,
            {"Available": texts.AVAILABLE, "Degraded": texts.NOT_DEGRADED, **texts.PRIVATE_SERVICE_CONNECT},
            {"controlPlaneVersion": releases.completed(cluster, now)},
        ),
    ]


def _upgrade(cluster: Json, script: Script, now: datetime) -> Step | None:
    if releases.is_newest(cluster):
        done = {"Degraded": texts.NOT_DEGRADED, "Progressing": texts.AT_VERSION}
        return _step(Moment.ROLLED_OUT, done, {"controlPlaneVersion": releases.completed(cluster, now)})
    if script.upgrade_blocked:
        message = f"ClusterVersionUpgradeable condition is false: {script.upgrade_blocked}"
        refused = {
            "ClusterVersionUpgradeable": texts.not_upgradeable(script.upgrade_blocked),
            "Progressing": texts.blocked(message),
        }
        return None if _contains(cluster, refused) else _step(Moment.UPGRADE_TAKEN_UP, refused)
    taken_up = {"ClusterVersionUpgradeable": texts.AS_EXPECTED, "Progressing": texts.PROGRESSING}
    if not _contains(cluster, taken_up):
        return _step(Moment.UPGRADE_TAKEN_UP, taken_up)
    rolling = {"Progressing": texts.AT_VERSION, "Degraded": texts.degraded(texts.UNAVAILABLE_REPLICAS)}
    members = {"controlPlaneVersion": releases.begun(cluster, now), "version": releases.of_whole_cluster(cluster, now)}
    return _step(Moment.ROLLING_OUT, rolling, members)


def _steady_state(cluster: Json, script: Script) -> Step | None:
    valid = {type_: text for type_, text in texts.FIRST.items() if text.status == "True"}
    conditions = {
        **valid,
        "Available": script.outage or texts.AVAILABLE,
        "Degraded": texts.degraded(script.degraded) if script.degraded else texts.NOT_DEGRADED,
        "Progressing": texts.AT_VERSION,
        **script.failing,
    }
    return None if _contains(cluster, conditions) else _step(Moment.SETTLED, conditions)


def _deletion(cluster: Json) -> Step | None:
    metadata = cluster["metadata"]
    if FINALIZER not in (metadata.get("finalizers") or []):
        return None
    cloud = _condition(cluster, "CloudResourcesDestroyed")
    if not cloud.status:
        return _step(Moment.DELETION_TAKEN_UP, {"CloudResourcesDestroyed": texts.CLOUD_RESOURCES_LEFT})
    if cloud.status != "True":
        return _step(Moment.CLOUD_RESOURCES_GONE, {"CloudResourcesDestroyed": texts.CLOUD_RESOURCES_GONE})
    grace = (metadata.get("annotations") or {}).get(GRACE_PERIOD, "")
    if grace and _condition(cluster, "HostedClusterDestroyed").status != "True":
        return _step(Moment.TORN_DOWN, {"HostedClusterDestroyed": texts.torn_down(grace)})
    takes = times.parse_duration(grace) if grace else TAKES[Moment.FINALIZED]
    return Step(moment=Moment.FINALIZED, takes=takes, removes_finalizer=True)


def _step(moment: Moment, conditions: Conditions, members: Json | None = None) -> Step:
    return Step(moment=moment, takes=TAKES[moment], conditions=conditions, members=members or {})


def _first_members(cluster: Json, now: datetime) -> dict[str, Any]:
    endpoint = {"host": "", "port": 0}
    return {
        "version": releases.of_whole_cluster(cluster, now),
        "controlPlaneEndpoint": endpoint,
        "payloadArch": "Multi",
    }


def _condition(cluster: Json, type_: str) -> ConditionText:
    for each in (cluster.get("status") or {}).get("conditions") or ():
        if each["type"] == type_:
            return ConditionText(each["status"], each["reason"], each["message"])
    return ConditionText("", "")


def _contains(cluster: Json, conditions: Conditions) -> bool:
    return all(_condition(cluster, type_) == text for type_, text in conditions.items())


def _host(cluster: Json) -> str:
    """The API server's published hostname, else one inside the management cluster."""
    for each in cluster["spec"].get("services") or ():
        route = (each.get("servicePublishingStrategy") or {}).get("route") or {}
        if each.get("service") == "APIServer" and route.get("hostname"):
            return str(route["hostname"])
    return f"api.{cluster['metadata']['name']}.hypershift.local"
