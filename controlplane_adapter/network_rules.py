"""Whether the three networks of a HostedCluster can live together.

The API server only looks at their spelling and at equality. The operator, and the network operator inside the cluster,
refuse overlaps, mixed families and ranges that are taken, when it is too late: none of this can be changed later.
"""

import ipaddress
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from controlplane_adapter.hostedcluster import ABSENT, Json, effective, value_at
from controlplane_adapter.sources import CLUSTER_NETWORK, MACHINE_NETWORK, SERVICE_NETWORK
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
# Where the API server is found from inside the cluster, unless `apiServer.advertiseAddress` says otherwise.
_ADVERTISED_BY_FAMILY = {4: "172.20.0.1/32", 6: "fd00::1/128"}
# What OVN-Kubernetes uses between nodes, unless its configuration says otherwise.
_OVN_RANGES = ("100.64.0.0/16", "100.88.0.0/16")


class _Entry(NamedTuple):
    field: str
    position: int
    network: Network

    @property
    def path(self) -> str:
        return f"{self.field}[{self.position}].cidr"


def network_problems(manifest: Json, chosen: Collection[str] = ()) -> Iterator[Problem]:
    """`chosen` are the networks that the cluster itself asks for: where two clash, one of these is to blame."""
    entries: list[_Entry] = []
    for path in NETWORKS:
        yield from _list_problems(manifest, path, entries)
    yield from _overlap_problems(entries, chosen)
    yield from _taken_problems(manifest, entries)
    yield from _family_problems(entries, chosen)
    yield from _type_problems(manifest)


def _list_problems(manifest: Json, path: str, entries: list[_Entry]) -> Iterator[Problem]:
    """What is wrong with each entry by itself; those that can be read go on into `entries`."""
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
    wanted = "must be a CIDR such as 10.132.0.0/14 or fd01::/48"
    if not isinstance(cidr, str) or len(cidr) > _MAX_LENGTH or not _SPELLING.fullmatch(cidr):
        return None, f"{wanted}, not {cidr!r:.60}"
    try:
        network = ipaddress.ip_network(cidr, strict=False)
    except ValueError as error:
        return None, f"{wanted}: {error}"
    if ipaddress.ip_interface(cidr).ip != network.network_address:
        return None, f"must begin at its first address: {network}, not {cidr}"
    return network, ""


def _host_prefix_problem(length: Any, network: Network) -> str:
    longest = network.max_prefixlen - 2
    if isinstance(length, int) and not isinstance(length, bool) and network.prefixlen <= length <= longest:
        return ""
    return f"must be a whole number from {network.prefixlen} (the length of {network}) to {longest}, not {length!r:.60}"


def _overlap_problems(entries: list[_Entry], chosen: Collection[str]) -> Iterator[Problem]:
    for first, second in combinations(entries, 2):
        if _overlap(first.network, second.network):
            ours, theirs = (
                (first, second) if _to_blame(first.field, second.field, chosen) == first.field else (second, first)
            )
            yield Problem(ours.path, f"{ours.network} overlaps {theirs.network} of {theirs.field}")


def _to_blame(first: str, second: str, chosen: Collection[str]) -> str:
    return first if first in chosen and second not in chosen else second


def _taken_problems(manifest: Json, entries: list[_Entry]) -> Iterator[Problem]:
    first = next((each.network for each in entries if each.field == CLUSTER_NETWORK), None)
    taken: dict[str, Network] = {}
    if first is not None and value_at(manifest, _ADVERTISED) is ABSENT:
        address = ipaddress.ip_network(_ADVERTISED_BY_FAMILY[first.version])
        taken[f"{address.network_address}, where the API server is found inside the cluster"] = address
    ovn = effective(manifest, "spec.networking.networkType") == "OVNKubernetes"
    if ovn and value_at(manifest, _OVN) is ABSENT:
        taken |= {f"{each}, which OVN-Kubernetes keeps for itself": ipaddress.ip_network(each) for each in _OVN_RANGES}
    for entry in entries:
        for told, network in taken.items():
            if _overlap(entry.network, network):
                yield Problem(entry.path, f"{entry.network} overlaps {told}")


def _overlap(first: Network, second: Network) -> bool:
    return first.version == second.version and first.overlaps(second)


def _family_problems(entries: list[_Entry], chosen: Collection[str]) -> Iterator[Problem]:
    families = {path: [each.network.version for each in entries if each.field == path] for path in NETWORKS}
    cluster, service = families[CLUSTER_NETWORK], families[SERVICE_NETWORK]
    if len(service) > len(set(service)):
        yield Problem(SERVICE_NETWORK, "must hold at most one IPv4 and one IPv6 network")
    if cluster and service and set(cluster) != set(service):
        blamed = _to_blame(CLUSTER_NETWORK, SERVICE_NETWORK, chosen)
        yield Problem(blamed, "pods and services must be of the same families: IPv4, IPv6 or both")
    for path in (SERVICE_NETWORK, MACHINE_NETWORK):
        if cluster and families[path] and families[path][0] != cluster[0]:
            blamed = _to_blame(CLUSTER_NETWORK, path, chosen)
            yield Problem(blamed, f"{path} must begin with the family of the cluster network, IPv{cluster[0]}")


def _type_problems(manifest: Json) -> Iterator[Problem]:
    """What only goes with a certain network type."""
    path = "spec.networking.networkType"
    kind = effective(manifest, path)
    if kind != "Other" and value_at(manifest, "spec.networking.allocateNodeCIDRs") == "Enabled":
        yield Problem("spec.networking.allocateNodeCIDRs", "can only be Enabled when the network type is Other")
    if kind != "Other" and value_at(manifest, f"{_OPERATOR}.disableMultiNetwork") is True:
        yield Problem(f"{_OPERATOR}.disableMultiNetwork", "can only be true when the network type is Other")
    if kind != "OVNKubernetes" and value_at(manifest, _OVN) is not ABSENT:
        yield Problem(_OVN, "can only be there when the network type is OVNKubernetes")
