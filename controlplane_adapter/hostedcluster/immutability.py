"""Which changes of a HostedCluster are impossible, so that they are refused here instead of sent.

The table is what HyperShift documents as immutable. Its API server enforces most of it but not all (a removed block, a
value added later), so absence is compared here as a value. A value equal to the server's default is no change.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from controlplane_adapter.hostedcluster.model import ABSENT, Json, effective


class Mutability(Enum):
    """How a field may change once the object exists."""

    IMMUTABLE = "never changes, also when it was not set"
    SET_ONCE = "may be set later, then never changes"
    NOT_REMOVABLE = "may be set and changed, never removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An impossible change; `old` or `new` is ABSENT where there is no value."""

    path: str
    old: Any
    new: Any


_OVN = "spec.operatorConfiguration.clusterNetworkOperator.ovnKubernetesConfig"

FIELD_MUTABILITY: Mapping[str, Mutability] = {
    # Another name is another cluster: the agent would delete the existing one.
    "metadata.name": Mutability.IMMUTABLE,
    "metadata.namespace": Mutability.IMMUTABLE,
    "spec.platform.type": Mutability.IMMUTABLE,
    "spec.platform.gcp.project": Mutability.IMMUTABLE,
    "spec.platform.gcp.region": Mutability.IMMUTABLE,
    "spec.platform.gcp.networkConfig.network": Mutability.IMMUTABLE,
    "spec.platform.gcp.networkConfig.privateServiceConnectSubnet": Mutability.IMMUTABLE,
    "spec.platform.gcp.workloadIdentity": Mutability.IMMUTABLE,
    "spec.clusterID": Mutability.SET_ONCE,
    "spec.infraID": Mutability.SET_ONCE,
    "spec.networking.networkType": Mutability.IMMUTABLE,
    "spec.networking.clusterNetwork": Mutability.IMMUTABLE,
    "spec.networking.serviceNetwork": Mutability.IMMUTABLE,
    "spec.networking.machineNetwork": Mutability.IMMUTABLE,
    "spec.networking.allocateNodeCIDRs": Mutability.SET_ONCE,
    "spec.networking.apiServer.port": Mutability.SET_ONCE,
    "spec.networking.apiServer.advertiseAddress": Mutability.SET_ONCE,
    "spec.services": Mutability.IMMUTABLE,
    "spec.dns.baseDomain": Mutability.IMMUTABLE,
    "spec.dns.baseDomainPrefix": Mutability.IMMUTABLE,
    "spec.dns.publicZoneID": Mutability.IMMUTABLE,
    "spec.dns.privateZoneID": Mutability.IMMUTABLE,
    "spec.issuerURL": Mutability.IMMUTABLE,
    "spec.controllerAvailabilityPolicy": Mutability.IMMUTABLE,
    "spec.olmCatalogPlacement": Mutability.IMMUTABLE,
    "spec.capabilities": Mutability.IMMUTABLE,
    "spec.etcd.managementType": Mutability.IMMUTABLE,
    "spec.etcd.managed.storage.persistentVolume.size": Mutability.IMMUTABLE,
    "spec.etcd.managed.storage.persistentVolume.storageClassName": Mutability.IMMUTABLE,
    "spec.etcd.managed.storage.restoreSnapshotURL": Mutability.IMMUTABLE,
    "spec.etcd.managed.shards": Mutability.IMMUTABLE,
    "spec.fips": Mutability.IMMUTABLE,
    "spec.secretEncryption": Mutability.NOT_REMOVABLE,
    "spec.configuration.featureGate.featureSet": Mutability.SET_ONCE,
    "spec.operatorConfiguration.clusterNetworkOperator.disableMultiNetwork": Mutability.IMMUTABLE,
    _OVN: Mutability.NOT_REMOVABLE,
    f"{_OVN}.mtu": Mutability.SET_ONCE,
    f"{_OVN}.v4InternalSubnet": Mutability.SET_ONCE,
    f"{_OVN}.v6InternalSubnet": Mutability.SET_ONCE,
    f"{_OVN}.ipv6.internalJoinSubnet": Mutability.SET_ONCE,
    f"{_OVN}.ipv6.internalTransitSwitchSubnet": Mutability.SET_ONCE,
}

# Lists that the API server compares as sets; in all others the order counts.
_UNORDERED = frozenset({"spec.etcd.managed.storage.restoreSnapshotURL", "spec.etcd.managed.shards"})


def immutable_changes(old_manifest: Json, new_manifest: Json) -> list[Change]:
    """The impossible changes between the two manifests, in the order of the table."""
    return [
        change
        for path, mutability in FIELD_MUTABILITY.items()
        for change in _forbidden(path, mutability, _comparable(old_manifest, path), _comparable(new_manifest, path))
    ]


def _forbidden(path: str, mutability: Mutability, old: Any, new: Any) -> Iterator[Change]:
    match mutability:
        case Mutability.IMMUTABLE:
            yield from _differences(path, old, new)
        case Mutability.SET_ONCE if old is not ABSENT:
            yield from _differences(path, old, new)
        case Mutability.NOT_REMOVABLE if old is not ABSENT and new is ABSENT:
            yield Change(path=path, old=old, new=new)


def _comparable(manifest: Json, path: str) -> Any:
    """The value to compare: an empty string, false and an empty list count as absent."""
    value = effective(manifest, path)
    if value in ("", False, []):
        return ABSENT
    return _sorted(value) if path in _UNORDERED else value


def _differences(path: str, old: Any, new: Any) -> Iterator[Change]:
    """The innermost values that differ, so that the reader sees what to restore."""
    match old, new:
        case Mapping(), Mapping():
            for name in dict.fromkeys([*old, *new]):
                yield from _differences(f"{path}.{name}", old.get(name, ABSENT), new.get(name, ABSENT))
        case list(), list() if len(old) == len(new):
            for index, (before, after) in enumerate(zip(old, new, strict=True)):
                yield from _differences(f"{path}[{index}]", before, after)
        case _ if old != new:
            yield Change(path=path, old=old, new=new)


def _sorted(value: Any) -> Any:
    match value:
        case Mapping():
            return {name: _sorted(each) for name, each in value.items()}
        case list():
            return sorted(map(_sorted, value), key=lambda each: json.dumps(each, sort_keys=True, default=str))
        case _:
            return value
