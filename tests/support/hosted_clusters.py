"""What tests of control planes stand on: HostedClusters that are accepted, and what is reported of one on its way."""

import contextlib
import itertools
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from controlplane_adapter.hostedcluster.model import GROUP, KIND
from controlplane_adapter.status.conditions import conditions_for, report_data
from controlplane_adapter.status.thresholds import Thresholds
from controlplane_adapter.work.feedback import FEEDBACK
from controlplane_adapter.work.hosted_cluster_status import HostedClusterStatus, read_status
from controlplane_adapter.work.manifestwork import work_for
from lab.hypershift.operator import Operator
from lab.hypershift.sequences import Moment, Script, next_step, preparation, written
from shared import times
from shared.errors import DeadlineExceeded
from shared.languages.jsonpath import MissingKey, compile_jsonpath
from shared.maestro import Works
from shared.model.conditions import Condition, Status
from shared.model.manifestwork import ManifestStatus, ManifestWork, WorkStatus

# Generous, because the machine may be slow; nothing waits this long unless it is broken.
TIMEOUT = 300.0
NAMESPACE = "clusters"
PROJECT = "my-project-123"
_IMAGE = "quay.io/openshift-release-dev/ocp-release:{}-multi"
_ROLES = {
    "nodePool": "nodepool",
    "controlPlane": "ctrlplane",
    "cloudController": "cloudctl",
    "storage": "pdcsidrv",
    "imageRegistry": "registry",
    "network": "cloudnet",
}
_numbers = itertools.count()


def unique(prefix: str) -> str:
    return f"{prefix}-{next(_numbers)}-{uuid.uuid4().hex[:8]}"


def hosted_cluster(name: str, version: str = "4.22.0") -> dict[str, Any]:
    """The smallest HostedCluster on GCP that its definition accepts."""
    return {
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedCluster",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "clusterID": str(uuid.uuid5(uuid.NAMESPACE_OID, name)),
            "infraID": name,
            "release": {"image": _IMAGE.format(version)},
            "pullSecret": {"name": f"{name}-pull-secret"},
            "platform": {
                "type": "GCP",
                "gcp": {
                    "project": PROJECT,
                    "region": "us-central1",
                    "networkConfig": {
                        "network": {"name": "my-vpc"},
                        "privateServiceConnectSubnet": {"name": "my-subnet"},
                    },
                    "workloadIdentity": {
                        "projectNumber": "123456789012",
                        "poolID": "my-pool",
                        "providerID": "my-provider",
                        "serviceAccountsEmails": {
                            role: f"{account}@{PROJECT}.iam.gserviceaccount.com" for role, account in _ROLES.items()
                        },
                    },
                },
            },
            "services": [_route("APIServer"), _route("OAuthServer"), _route("Konnectivity"), _route("Ignition")],
        },
    }


def full_hosted_cluster(name: str) -> dict[str, Any]:
    """One with everything that a cluster may ask for."""
    cluster = hosted_cluster(name)
    cluster["metadata"]["labels"] = {"hyperfleet.io/cluster-id": cluster["spec"]["clusterID"]}
    cluster["metadata"]["annotations"] = {
        "hypershift.openshift.io/pod-security-admission-label-override": "baseline",
        "hypershift.openshift.io/cleanup-cloud-resources": "true",
        "hypershift.openshift.io/destroy-grace-period": "300s",
    }
    storage = {"type": "PersistentVolume", "persistentVolume": {"size": "8Gi", "storageClassName": "premium-rwo"}}
    cluster["spec"]["platform"]["gcp"] |= {
        "endpointAccess": "PublicAndPrivate",
        "resourceLabels": [{"key": "managed-by", "value": "hyperfleet"}],
    }
    cluster["spec"] |= {
        "channel": "stable-4.22",
        "sshKey": {"name": f"{name}-ssh-key"},
        "issuerURL": f"https://oidc.example.com/{name}",
        "serviceAccountSigningKey": {"name": f"{name}-sa-signing-key"},
        "secretEncryption": {"type": "aescbc", "aescbc": {"activeKey": {"name": f"{name}-etcd-encryption-key"}}},
        "controllerAvailabilityPolicy": "HighlyAvailable",
        "infrastructureAvailabilityPolicy": "HighlyAvailable",
        "olmCatalogPlacement": "management",
        "configuration": {"featureGate": {"featureSet": "TechPreviewNoUpgrade"}},
        "dns": {"baseDomain": "gcp.example.com", "publicZoneID": "my-public-zone"},
        "etcd": {"managementType": "Managed", "managed": {"storage": storage}},
        "networking": {
            "networkType": "OVNKubernetes",
            "clusterNetwork": [{"cidr": "10.132.0.0/14", "hostPrefix": 23}],
            "serviceNetwork": [{"cidr": "172.31.0.0/16"}],
            "machineNetwork": [{"cidr": "10.0.0.0/16"}],
        },
        "services": [
            _route("APIServer", f"api-{name}.gcp.example.com"),
            _route("OAuthServer", f"oauth-{name}.gcp.example.com"),
            _route("Konnectivity"),
            _route("Ignition"),
        ],
    }
    return cluster


def _route(service: str, hostname: str = "") -> dict[str, Any]:
    strategy: dict[str, Any] = {"type": "Route"}
    if hostname:
        strategy["route"] = {"hostname": hostname}
    return {"service": service, "servicePublishingStrategy": strategy}


def as_stored(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """The object as an API server gives it back right after its creation."""
    metadata = {**cluster["metadata"], "uid": str(uuid.uuid5(uuid.NAMESPACE_OID, "uid")), "generation": 1}
    return {**cluster, "metadata": metadata}


def played(cluster: Mapping[str, Any], until: Moment, *, script: Script | None = None, now: datetime) -> dict[str, Any]:
    """The object once the operator has written that moment; all of it takes no time."""
    document: dict[str, Any] = dict(cluster)
    while True:
        if addition := preparation(document):
            for part, members in addition.items():
                document[part] = {**document[part], **members}
            continue
        step = next_step(document, script or Script(), now)
        assert step is not None, f"{until} is never reached"
        document["status"] = written(document, step, now)
        if step.moment is until:
            return document


def fed_back(cluster: Mapping[str, Any], *, whole: bool = True) -> dict[str, Any]:
    """What the feedback rules bring back of the object; an agent that returns no objects leaves the status out."""
    values = {}
    for name, path in FEEDBACK.items():
        with contextlib.suppress(MissingKey):
            values[name] = compile_jsonpath(f"{{{path}}}").evaluate(cluster)
    return {name: value for name, value in values.items() if value is not None and (whole or name != "status")}


def work_with_feedback(feedback: Mapping[str, Any], cluster: Mapping[str, Any], **changes: Any) -> ManifestWork:
    """A work that its agent has applied and of whose object it says this."""
    work = work_for(cluster, cluster_id=cluster["metadata"]["name"], consumer="mgmt-01", generation=1)
    applied = Condition(type="Applied", status=Status.TRUE, observed_generation=1)
    there = Condition(type="Available", status=Status.TRUE)
    manifest = ManifestStatus(group=GROUP, kind=KIND, feedback=feedback, conditions=(applied, there))
    status = WorkStatus(conditions=(applied,), manifests=(manifest,))
    values: dict[str, Any] = {"generation": 1, "status": status, **changes}
    return replace(work, **values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What is reported of a cluster at one moment; `later` is what is said when nothing has changed for so long."""

    work: ManifestWork
    status: HostedClusterStatus
    conditions: Mapping[str, Condition]
    data: Mapping[str, Any]

    def says(self, type_: str, status: str, reason: str) -> bool:
        condition = self.conditions.get(type_)
        return condition is not None and (condition.status.value, condition.reason) == (status, reason)

    def message(self, type_: str) -> str:
        return self.conditions[type_].message

    @property
    def summary(self) -> list[str]:
        return [f"{each.type}={each.status.value} {each.reason}" for each in self.conditions.values()]

    def later(self, time: timedelta) -> "Reported":
        return reported(self.work, now=times.now() + time)


def reported(work: ManifestWork, *, now: datetime | None = None) -> Reported:
    status = read_status(work)
    conditions = {each.type: each for each in conditions_for(work, status, now or times.now(), Thresholds())}
    return Reported(work=work, status=status, conditions=conditions, data=report_data(work, status))


@dataclass(slots=True, kw_only=True)
class Story:
    """One cluster on its way: it is sent, played with and deleted, and what is reported of it is waited for."""

    works: Works
    operator: Operator | None
    name: str
    generation: int = 0

    async def send(self, cluster: Mapping[str, Any]) -> None:
        self.generation += 1
        await self.works.apply(
            work_for(cluster, cluster_id=self.name, consumer=self.works.consumer, generation=self.generation)
        )

    def play(self, script: Script) -> None:
        assert self.operator is not None
        self.operator.play(NAMESPACE, self.name, script)

    async def until(self, *expected: str, having: Callable[[Reported], bool] = lambda _: True) -> Reported:
        """What is reported once it is all of this, each as `Type=Status Reason`; fails with what was reported instead."""
        last: list[Reported] = []

        def reached(work: ManifestWork | None) -> bool:
            if self.operator is not None:
                self.operator.check()
            last[:] = [reported(work)] if work is not None else []
            return bool(last) and set(expected) <= set(last[0].summary) and having(last[0])

        try:
            await self.works.wait_until(self.work_name, reached, timeout=TIMEOUT)
        except DeadlineExceeded:
            pytest.fail(f"reported instead: {[(each.conditions, each.data) for each in last]}")
        return last[0]

    async def ready(self) -> Reported:
        return await self.until("Available=True ControlPlaneReady", "Health=True NoIssues")

    @property
    def work_name(self) -> str:
        return f"hostedcluster-{self.name}"
