"""Which changes of a HostedCluster can never be made, so that they are told instead of sent.

The table is what HyperShift documents as immutable. Its API server enforces most of it but has holes (a removed block,
a value added later), so absence is compared here as a value. What equals the server's own default is no change.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from controlplane_adapter.hostedcluster import ABSENT, Json, effective


class Hold(Enum):
    """How tightly a field is held once the object exists."""

    FIXED = "stays as it was made, also when it was left out"
    SET_ONCE = "may still be set, then stays"
    KEPT = "may be set and changed, never removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change that cannot be made; `old` or `new` is ABSENT where there was or will be nothing."""

    path: str
    old: Any
    new: Any


_OVN = "spec.operatorConfiguration.clusterNetworkOperator.ovnKubernetesConfig"

HELD_FIELDS: Mapping[str, Hold] = {
    # Another name is another cluster: the agent would delete the one that is there.
    "metadata.name": Hold.FIXED,
    "metadata.namespace": Hold.FIXED,
    "spec.platform.type": Hold.FIXED,
    "spec.platform.gcp.project": Hold.FIXED,
    "spec.platform.gcp.region": Hold.FIXED,
    "spec.platform.gcp.networkConfig.network": Hold.FIXED,
    "spec.platform.gcp.networkConfig.privateServiceConnectSubnet": Hold.FIXED,
    "spec.platform.gcp.workloadIdentity": Hold.FIXED,
    "spec.clusterID": Hold.SET_ONCE,
    "spec.infraID": Hold.SET_ONCE,
    "spec.networking.networkType": Hold.FIXED,
    "spec.networking.clusterNetwork": Hold.FIXED,
    "spec.networking.serviceNetwork": Hold.FIXED,
    "spec.networking.machineNetwork": Hold.FIXED,
    "spec.networking.allocateNodeCIDRs": Hold.SET_ONCE,
    "spec.networking.apiServer.port": Hold.SET_ONCE,
    "spec.networking.apiServer.advertiseAddress": Hold.SET_ONCE,
    "spec.services": Hold.FIXED,
    "spec.dns.baseDomain": Hold.FIXED,
    "spec.dns.baseDomainPrefix": Hold.FIXED,
    "spec.dns.publicZoneID": Hold.FIXED,
    "spec.dns.privateZoneID": Hold.FIXED,
    "spec.issuerURL": Hold.FIXED,
    "spec.controllerAvailabilityPolicy": Hold.FIXED,
    "spec.olmCatalogPlacement": Hold.FIXED,
    "spec.capabilities": Hold.FIXED,
    "spec.etcd.managementType": Hold.FIXED,
    "spec.etcd.managed.storage.persistentVolume.size": Hold.FIXED,
    "spec.etcd.managed.storage.persistentVolume.storageClassName": Hold.FIXED,
    "spec.etcd.managed.storage.restoreSnapshotURL": Hold.FIXED,
    "spec.etcd.managed.shards": Hold.FIXED,
    "spec.fips": Hold.FIXED,
    "spec.secretEncryption": Hold.KEPT,
    "spec.configuration.featureGate.featureSet": Hold.SET_ONCE,
    "spec.operatorConfiguration.clusterNetworkOperator.disableMultiNetwork": Hold.FIXED,
    _OVN: Hold.KEPT,
    f"{_OVN}.mtu": Hold.SET_ONCE,
    f"{_OVN}.v4InternalSubnet": Hold.SET_ONCE,
    f"{_OVN}.v6InternalSubnet": Hold.SET_ONCE,
    f"{_OVN}.ipv6.internalJoinSubnet": Hold.SET_ONCE,
    f"{_OVN}.ipv6.internalTransitSwitchSubnet": Hold.SET_ONCE,
}

# Lists that the API server compares without regard to order; in all others the order is part of the value.
_UNORDERED = frozenset({"spec.etcd.managed.storage.restoreSnapshotURL", "spec.etcd.managed.shards"})


def immutable_changes(old_manifest: Json, new_manifest: Json) -> list[Change]:
    """What stands between the two manifests that no update can bring about, in the order of the table."""
    return [
        change
        for path, hold in HELD_FIELDS.items()
        for change in _held_changes(path, hold, _settled(old_manifest, path), _settled(new_manifest, path))
    ]


def _held_changes(path: str, hold: Hold, old: Any, new: Any) -> Iterator[Change]:
    match hold:
        case Hold.FIXED:
            yield from _differences(path, old, new)
        case Hold.SET_ONCE if old is not ABSENT:
            yield from _differences(path, old, new)
        case Hold.KEPT if old is not ABSENT and new is ABSENT:
            yield Change(path=path, old=old, new=new)


def _settled(manifest: Json, path: str) -> Any:
    """The value that matters: an empty text, a false switch and an empty list say no more than their absence."""
    value = effective(manifest, path)
    if value in ("", False, []):
        return ABSENT
    return _sorted(value) if path in _UNORDERED else value


def _differences(path: str, old: Any, new: Any) -> Iterator[Change]:
    """The innermost values that differ, so that the reader sees what to put back."""
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
