"""Whether the three networks of a HostedCluster fit together.

The API server only checks syntax and equality. The operator, and the network operator inside the cluster, refuse
overlaps, mixed families and reserved ranges when it is too late: none of this can be changed later.
"""

import ipaddress
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from controlplane_adapter.hostedcluster.model import ABSENT, Json, effective, value_at
from controlplane_adapter.hostedcluster.sources import CLUSTER_NETWORK, MACHINE_NETWORK, SERVICE_NETWORK
from shared.errors import Problem

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

NETWORKS = (CLUSTER_NETWORK, SERVICE_NETWORK, MACHINE_NETWORK)
_MAX_ENTRIES = 2
_MAX_LENGTH = 43
_SPELLING = re.compile(
    r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}|(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}/[0-9]{1,3}"
)
_OPERATOR = "spec.operatorConfiguration.clusterNetworkOperator"
_OVN = f"{_OPERATOR}.ovnKubernetesConfig"
_ADVERTISED = "spec.networking.apiServer.advertiseAddress"
# The API server's address inside the cluster, unless `apiServer.advertiseAddress` is set.
_ADVERTISED_BY_FAMILY = {4: "172.20.0.1/32", 6: "fd00::1/128"}
# What OVN-Kubernetes uses between nodes, unless its configuration has other ranges.
_OVN_RANGES = ("100.64.0.0/16", "100.88.0.0/16")


class _Entry(NamedTuple):
    field: str
    position: int
    network: Network

    @property
    def path(self) -> str:
        return f"{self.field}[{self.position}].cidr"


class _Blame(NamedTuple):
    chosen: Collection[str]
    overlaid: Collection[str]

    def of(self, first: str, second: str) -> str:
        """The one of two conflicting networks that is to be changed."""
        for preferred in (self.overlaid, self.chosen):
            if (first in preferred) != (second in preferred):
                return first if first in preferred else second
        return second


def network_problems(manifest: Json, chosen: Collection[str] = (), overlaid: Collection[str] = ()) -> Iterator[Problem]:
    """Where two networks conflict, the problem names one that the overlay set, otherwise one of the cluster's own spec.

    `overlaid` and `chosen` are these.
    """
    blame = _Blame(chosen, overlaid)
    entries: list[_Entry] = []
    for path in NETWORKS:
        yield from _list_problems(manifest, path, entries)
    yield from _overlap_problems(entries, blame)
    yield from _reserved_problems(manifest, entries)
    yield from _family_problems(entries, blame)
    yield from _type_problems(manifest)


def _list_problems(manifest: Json, path: str, entries: list[_Entry]) -> Iterator[Problem]:
    """The problems of each entry by itself; valid entries are added to `entries`."""
    listed = effective(manifest, path)
    if listed is ABSENT:
        return
    if not isinstance(listed, list) or not 1 <= len(listed) <= _MAX_ENTRIES:
        yield Problem(path, f"must be one CIDR, or a list of 1-{_MAX_ENTRIES}")
        return
    for index, each in enumerate(listed):
        entry = each if isinstance(each, Mapping) else {}
        network, message = _read(entry.get("cidr"))
        if network is None:
            yield Problem(f"{path}[{index}].cidr", message)
            continue
        entries.append(_Entry(path, index, network))
        if "hostPrefix" in entry and (message := _host_prefix_problem(entry["hostPrefix"], network)):
            yield Problem(f"{path}[{index}].hostPrefix", message)


def _read(cidr: Any) -> tuple[Network | None, str]:
    expected = "must be a CIDR such as 10.132.0.0/14 or fd01::/48"
    if not isinstance(cidr, str) or len(cidr) > _MAX_LENGTH or not _SPELLING.fullmatch(cidr):
        return None, f"{expected}, not {cidr!r:.60}"
    try:
        network = ipaddress.ip_network(cidr, strict=False)
    except ValueError as error:
        return None, f"{expected}: {error}"
    if ipaddress.ip_interface(cidr).ip != network.network_address:
        return None, f"must start at its first address: {network}, not {cidr}"
    return network, ""


def _host_prefix_problem(length: Any, network: Network) -> str:
    longest = network.max_prefixlen - 2
    if isinstance(length, int) and not isinstance(length, bool) and network.prefixlen <= length <= longest:
        return ""
    return f"must be a whole number from {network.prefixlen} (the length of {network}) to {longest}, not {length!r:.60}"


def _overlap_problems(entries: list[_Entry], blame: _Blame) -> Iterator[Problem]:
    for first, second in combinations(entries, 2):
        if _overlap(first.network, second.network):
            blamed, other = (first, second) if blame.of(first.field, second.field) == first.field else (second, first)
            yield Problem(blamed.path, f"{blamed.network} overlaps {other.network} of {other.field}")


def _reserved_problems(manifest: Json, entries: list[_Entry]) -> Iterator[Problem]:
    first = next((each.network for each in entries if each.field == CLUSTER_NETWORK), None)
    reserved: dict[str, Network] = {}
    if first is not None and value_at(manifest, _ADVERTISED) is ABSENT:
        address = ipaddress.ip_network(_ADVERTISED_BY_FAMILY[first.version])
        reserved[f"{address.network_address}, the API server's address inside the cluster"] = address
    ovn = effective(manifest, "spec.networking.networkType") == "OVNKubernetes"
    if ovn and value_at(manifest, _OVN) is ABSENT:
        reserved |= {f"{each}, which OVN-Kubernetes reserves": ipaddress.ip_network(each) for each in _OVN_RANGES}
    for entry in entries:
        for description, network in reserved.items():
            if _overlap(entry.network, network):
                yield Problem(entry.path, f"{entry.network} overlaps {description}")


def _overlap(first: Network, second: Network) -> bool:
    return first.version == second.version and first.overlaps(second)


def _family_problems(entries: list[_Entry], blame: _Blame) -> Iterator[Problem]:
    families = {path: [each.network.version for each in entries if each.field == path] for path in NETWORKS}
    cluster, service = families[CLUSTER_NETWORK], families[SERVICE_NETWORK]
    if len(service) > len(set(service)):
        yield Problem(SERVICE_NETWORK, "must have at most one IPv4 and one IPv6 network")
    if cluster and service and set(cluster) != set(service):
        blamed = blame.of(CLUSTER_NETWORK, SERVICE_NETWORK)
        yield Problem(blamed, "pods and services must have the same IP families: IPv4, IPv6 or both")
    for path in (SERVICE_NETWORK, MACHINE_NETWORK):
        if cluster and families[path] and families[path][0] != cluster[0]:
            blamed = blame.of(CLUSTER_NETWORK, path)
            yield Problem(blamed, f"{path} must start with the IP family of the cluster network, IPv{cluster[0]}")


def _type_problems(manifest: Json) -> Iterator[Problem]:
    """Fields that need a certain network type."""
    path = "spec.networking.networkType"
    kind = effective(manifest, path)
    if kind != "Other" and value_at(manifest, "spec.networking.allocateNodeCIDRs") == "Enabled":
        yield Problem("spec.networking.allocateNodeCIDRs", "can only be Enabled when the network type is Other")
    if kind != "Other" and value_at(manifest, f"{_OPERATOR}.disableMultiNetwork") is True:
        yield Problem(f"{_OPERATOR}.disableMultiNetwork", "can only be true when the network type is Other")
    if kind != "OVNKubernetes" and value_at(manifest, _OVN) is not ABSENT:
        yield Problem(_OVN, "can only be set when the network type is OVNKubernetes")
