"""The HostedCluster as its API server knows it: what it is called, what the server fills in, how a value is found.

Paths are written as people write them: `spec.platform.gcp.project`, `spec.services[0].service`.
"""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

GROUP = "hypershift.openshift.io"
API_VERSION = f"{GROUP}/v1beta1"
KIND = "HostedCluster"
CLUSTER_LABEL = "hyperfleet.io/cluster-id"
GENERATION = "hyperfleet.io/generation"

Json = Mapping[str, Any]


class Absence(Enum):
    """What stands at a path where nothing is; None would be a value."""

    ABSENT = "nothing"

    def __repr__(self) -> str:
        return self.value


ABSENT: Final = Absence.ABSENT

# What the API server writes where the object says nothing; a value equal to it is no change.
DEFAULTS: Json = {
    "spec.capabilities": {},
    "spec.controllerAvailabilityPolicy": "HighlyAvailable",
    "spec.etcd.managed.storage.persistentVolume.size": "8Gi",
    "spec.etcd.managed.storage.type": "PersistentVolume",
    "spec.etcd.managementType": "Managed",
    "spec.infrastructureAvailabilityPolicy": "SingleReplica",
    "spec.issuerURL": "https://kubernetes.default.svc",
    "spec.networking.clusterNetwork": [{"cidr": "10.132.0.0/14"}],
    "spec.networking.networkType": "OVNKubernetes",
    "spec.networking.serviceNetwork": [{"cidr": "172.31.0.0/16"}],
    "spec.olmCatalogPlacement": "management",
    "spec.operatorConfiguration.clusterNetworkOperator.disableMultiNetwork": False,
    "spec.platform.gcp.endpointAccess": "Private",
}

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def value_at(document: Any, path: str) -> Any:
    """The value at `path`, or ABSENT where the way to it ends before."""
    for name, index in _STEP.findall(path):
        match document:
            case Mapping() if name and name in document:
                document = document[name]
            case list() if index and int(index) < len(document):
                document = document[int(index)]
            case _:
                return ABSENT
    return document


def effective(document: Any, path: str) -> Any:
    """The value at `path` once the API server has filled in what is absent."""
    value = value_at(document, path)
    return DEFAULTS.get(path, ABSENT) if value is ABSENT else value


def place(document: dict[str, Any], path: str, value: Any) -> None:
    """Put `value` at `path`, making the objects on the way."""
    *parents, last = path.split(".")
    for name in parents:
        document = document.setdefault(name, {})
    document[last] = value


def enclosing(path: str) -> list[str]:
    """The path itself and those of all that holds it, nearest first."""
    ends = [match.end() for match in _STEP.finditer(path)]
    return [path[:end] for end in reversed(ends)]
