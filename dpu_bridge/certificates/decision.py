"""Whether a node's certificate request is approved.

    not about kubelets, decided, or a kubelet's own renewal ─▶ Ignore
    not exactly what a kubelet asks for                      ─▶ suspicious: Pending, or Deny where the bridge asks so
    its DPU or Node is not there yet, or not that far        ─▶ Pending; decided again when they change
    all as expected                                          ─▶ Approve

A hostname whose Node is there and ready gets no further bootstrap certificate: it has one, and somebody else asks.
"""

from dataclasses import dataclass
from ipaddress import ip_address

from dpu_bridge.api.bridge import Key
from dpu_bridge.certificates.request import Request, Subject

BOOTSTRAP_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING_SIGNER = "kubernetes.io/kubelet-serving"
NODE_PREFIX = "system:node:"
NODES_GROUP = "system:nodes"
BOOTSTRAPPER = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
BOOTSTRAP_GROUPS = frozenset(
    {
        "system:serviceaccounts",
        "system:serviceaccounts:openshift-machine-config-operator",
        "system:authenticated",
    }
)
SERVING_GROUPS = frozenset({NODES_GROUP, "system:authenticated"})
# A kubelet with an RSA key asks for key encipherment too.
OPTIONAL_USAGES = frozenset({"key encipherment"})
BOOTSTRAP_USAGES = frozenset({"digital signature", "client auth"})
SERVING_USAGES = frozenset({"digital signature", "server auth"})
JOINING_PHASES = frozenset({"DPU Cluster Config"})
SERVING_PHASES = frozenset({"DPU Cluster Config", "Ready", "Node Effect Removal"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dpu:
    """A DPU of the management cluster. `cluster` is the DPUCluster that it belongs to."""

    name: str
    cluster: Key
    phase: str
    addresses: frozenset[str] = frozenset()
    is_deleting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A Node of the hosted cluster."""

    name: str
    is_ready: bool
    addresses: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Approve:
    hostname: str
    reason: str = "AutoApproved"
    message: str = "the request is that of a DPU that joins"


@dataclass(frozen=True, slots=True)
class Ignore:
    """Not ours to decide."""

    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Pending:
    """`is_suspicious` is False where it may be approved later."""

    reason: str
    message: str
    is_suspicious: bool = False


@dataclass(frozen=True, slots=True)
class Deny:
    reason: str
    message: str


Decision = Approve | Ignore | Pending | Deny


def hostname_of(request: Request) -> str:
    """The name of the node that a request is about, if it is about one; it is not checked yet."""
    if request.signer == SERVING_SIGNER:
        return request.username.removeprefix(NODE_PREFIX) if request.username.startswith(NODE_PREFIX) else ""
    name = request.subject.common_name if request.subject else ""
    return name.removeprefix(NODE_PREFIX) if name.startswith(NODE_PREFIX) else ""


def decide(request: Request, *, dpu: Dpu | None, node: Node | None, dpu_cluster: Key, denies: bool) -> Decision:
    """`dpu` and `node` are those of the request's hostname, or None."""
    verdict = _decide(request, dpu, node, dpu_cluster)
    if denies and isinstance(verdict, Pending) and verdict.is_suspicious:
        return Deny(verdict.reason, verdict.message)
    return verdict


def _decide(request: Request, dpu: Dpu | None, node: Node | None, dpu_cluster: Key) -> Decision:
    if request.signer not in (BOOTSTRAP_SIGNER, SERVING_SIGNER):
        return Ignore("OtherSigner")
    if request.is_decided:
        return Ignore("Decided")
    is_bootstrap = request.signer == BOOTSTRAP_SIGNER
    if is_bootstrap and request.username.startswith(NODE_PREFIX):
        return Ignore("Renewal", "the controller manager approves a node's renewal of its own client certificate")
    problem = _requester(request, is_bootstrap=is_bootstrap) or _content(request, is_bootstrap=is_bootstrap)
    if problem:
        return problem
    return _owner(request, dpu, node, dpu_cluster, is_bootstrap=is_bootstrap)


def _requester(request: Request, *, is_bootstrap: bool) -> Pending | None:
    if is_bootstrap and request.username != BOOTSTRAPPER:
        return _suspicious("WrongUser", f"user {request.username!r} does not bootstrap nodes")
    if not is_bootstrap and not request.username.startswith(NODE_PREFIX):
        return _suspicious("WrongUser", f"user {request.username!r} is not a node")
    missing = (BOOTSTRAP_GROUPS if is_bootstrap else SERVING_GROUPS) - request.groups
    if missing:
        return _suspicious("WrongGroups", f"the user is not in {', '.join(sorted(missing))}")
    wanted = BOOTSTRAP_USAGES if is_bootstrap else SERVING_USAGES
    if request.usages - OPTIONAL_USAGES != wanted:
        return _suspicious("WrongUsages", f"usages are {', '.join(sorted(request.usages)) or 'none'}")
    return None


def _content(request: Request, *, is_bootstrap: bool) -> Pending | None:
    subject, hostname = request.subject, hostname_of(request)
    if subject is None:
        return _suspicious("InvalidRequest", "it has no PEM certificate request that can be read")
    if not subject.signature_is_valid:
        return _suspicious("InvalidRequest", "its signature is not that of its key")
    if not hostname or subject.common_name != f"{NODE_PREFIX}{hostname}":
        return _suspicious("WrongSubject", f"the common name is {subject.common_name!r:.100}")
    if subject.organizations != (NODES_GROUP,) or subject.more_attributes:
        return _suspicious("WrongSubject", f"the subject must have the organization {NODES_GROUP} and nothing else")
    return _no_names(subject) if is_bootstrap else _serving_names(subject, hostname)


def _no_names(subject: Subject) -> Pending | None:
    if subject.dns_names or subject.addresses or subject.others:
        return _suspicious("WrongNames", "a client certificate has no alternative names")
    return None


def _serving_names(subject: Subject, hostname: str) -> Pending | None:
    if subject.dns_names != (hostname,) or subject.others:
        return _suspicious("WrongNames", f"the one DNS name must be {hostname}, not {list(subject.dns_names)!r:.100}")
    for text in subject.addresses:
        address = ip_address(text)
        if address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local:
            return _suspicious("WrongNames", f"{address} is no address of a node")
    return None


def _owner(
    request: Request, dpu: Dpu | None, node: Node | None, dpu_cluster: Key, *, is_bootstrap: bool
) -> Approve | Pending:
    hostname = hostname_of(request)
    if dpu is None:
        return Pending("UnknownDPU", f"there is no DPU {hostname}")
    if dpu.cluster != dpu_cluster:
        return _suspicious("OtherDPUCluster", f"DPU {hostname} belongs to DPUCluster {'/'.join(dpu.cluster)}")
    phases = JOINING_PHASES if is_bootstrap else SERVING_PHASES
    if is_bootstrap and node is not None and node.is_ready:
        return _suspicious("AlreadyJoined", f"node {hostname} has joined and is ready")
    if dpu.is_deleting or dpu.phase not in phases:
        phase = "Deleting" if dpu.is_deleting else dpu.phase
        return Pending("WrongPhase", f"DPU {hostname} is in phase {phase!r}, not in {sorted(phases)}")
    if is_bootstrap:
        return Approve(hostname)
    if node is None:
        return Pending("NodeMissing", f"node {hostname} has not joined yet")
    return _addresses(request, dpu, node)


def _addresses(request: Request, dpu: Dpu, node: Node) -> Approve | Pending:
    """The DPU's addresses count. A Node's are reported by the kubelet itself and count where the DPU has none."""
    assert request.subject is not None
    known = {str(ip_address(each)) for each in dpu.addresses or node.addresses if _is_address(each)}
    if unknown := [each for each in request.subject.addresses if each not in known]:
        return _suspicious("WrongAddresses", f"{', '.join(unknown)} is not an address of {dpu.name}")
    return Approve(dpu.name)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _suspicious(reason: str, message: str) -> Pending:
    return Pending(reason, message, is_suspicious=True)
