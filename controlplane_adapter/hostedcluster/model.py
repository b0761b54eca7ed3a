"""The HostedCluster API: its names, the defaults of its API server, and access to values by path.

A path is written as `spec.platform.gcp.project` or `spec.services[0].service`.
"""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

GROUP = "hypershift.openshift.io"
API_VERSION = f"{GROUP}/v1beta1"
KIND = "HostedCluster"
OWN_PREFIX = "hyperfleet.io/"
CLUSTER_LABEL = f"{OWN_PREFIX}cluster-id"
GENERATION = f"{OWN_PREFIX}generation"

PLATFORM = "GCP"
PUBLIC = "PublicAndPrivate"
# The order never changes: the API server takes another order of the same services for a change.
SERVICES = ("APIServer", "OAuthServer", "Konnectivity", "Ignition")
IMAGE = "spec.release.image"

Json = Mapping[str, Any]


class Absence(Enum):
    """The value at a path that does not exist; None would be a value."""

    ABSENT = "nothing"

    def __repr__(self) -> str:
        return self.value


ABSENT: Final = Absence.ABSENT

# Defaults that the API server sets; a value equal to its default is no change.
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
    """The value at `path`, or ABSENT where there is none."""
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
    """The value at `path` after the API server has set its defaults."""
    value = value_at(document, path)
    return DEFAULTS.get(path, ABSENT) if value is ABSENT else value


def place(document: dict[str, Any], path: str, value: Any) -> None:
    """Set `value` at `path`, creating the objects above it."""
    *parents, last = path.split(".")
    for name in parents:
        document = document.setdefault(name, {})
    document[last] = value


def enclosing(path: str) -> list[str]:
    """The path itself and the paths above it, nearest first."""
    ends = [match.end() for match in _STEP.finditer(path)]
    return [path[:end] for end in reversed(ends)]
