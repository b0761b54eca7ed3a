"""Sixty certificate requests and the decision on each."""

import base64
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpu_bridge.certificates import Approve, Decision, Deny, Dpu, Ignore, Node, Pending, decide, request_of
from dpu_bridge.certificates.decision import hostname_of
from dpu_bridge.certificates.request import subject_of
from lab.dpf.certificate_requests import BOOTSTRAP_GROUPS, bootstrap, pem, serving

CLUSTER = ("dpf", "bluefields")
IP = "192.0.2.50"
JOINING = Dpu(name="dpu-1", cluster=CLUSTER, phase="DPU Cluster Config", addresses=frozenset({IP, "dpu-1"}))
READY = replace(JOINING, phase="Ready")
NODE = Node(name="dpu-1", is_ready=True, addresses=frozenset({IP, "dpu-1"}))
NOT_READY = replace(NODE, is_ready=False)
CN = "system:node:dpu-1"


@dataclass(frozen=True)
class Row:
    request: dict[str, Any]
    expected: str
    dpu: Dpu | None = JOINING
    node: Node | None = None
    denies: bool = False


def first(**changes: Any) -> dict[str, Any]:
    return bootstrap("dpu-1", **changes)


def second(**changes: Any) -> dict[str, Any]:
    return serving("dpu-1", [IP], **changes)


def decided(request: dict[str, Any], type_: str) -> dict[str, Any]:
    return {**request, "status": {"conditions": [{"type": type_, "status": "True"}]}}


def broken_signature() -> bytes:
    lines = pem(CN).split(b"\n")
    content = bytearray(base64.b64decode(b"".join(lines[1:-2])))
    content[-1] ^= 1
    return b"\n".join([lines[0], base64.b64encode(content), lines[-2], b""])


APPROVED, SUSPICIOUS, LATER = "approve", "suspicious", "pending"
TABLE: dict[str, Row] = {
    # first requests that are right
    "first request of a joining DPU": Row(first(), APPROVED),
    "with an RSA key's usages": Row(
        first(usages=["digital signature", "key encipherment", "client auth"], request=pem(CN, key="rsa")), APPROVED
    ),
    "usages in another order": Row(first(usages=["client auth", "digital signature"]), APPROVED),
    "with further groups": Row(first(groups=[*BOOTSTRAP_GROUPS, "extra"]), APPROVED),
    "again, before its node joined": Row(first(), APPROVED),
    "again, after its node was lost": Row(first(), APPROVED, node=NOT_READY),
    # bootstrap: who asks
    "by a node: a renewal of its own": Row(first(username=CN, groups=["system:nodes"]), "ignore Renewal"),
    "by another node: a renewal of another's": Row(first(username="system:node:dpu-2"), "ignore Renewal"),
    "by another service account": Row(
        first(username="system:serviceaccount:default:node-bootstrapper"), f"{SUSPICIOUS} WrongUser"
    ),
    "by an administrator": Row(first(username="system:admin"), f"{SUSPICIOUS} WrongUser"),
    "by nobody": Row(first(username=""), f"{SUSPICIOUS} WrongUser"),
    "by a user whose name contains the right one": Row(
        first(username="x-system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"),
        f"{SUSPICIOUS} WrongUser",
    ),
    "without the namespace's group": Row(
        first(groups=["system:serviceaccounts", "system:authenticated"]), f"{SUSPICIOUS} WrongGroups"
    ),
    "without any group": Row(first(groups=[]), f"{SUSPICIOUS} WrongGroups"),
    "with a node's groups": Row(first(groups=["system:nodes", "system:authenticated"]), f"{SUSPICIOUS} WrongGroups"),
    # bootstrap: what for
    "for a server": Row(first(usages=["digital signature", "server auth"]), f"{SUSPICIOUS} WrongUsages"),
    "for client and server": Row(
        first(usages=["digital signature", "client auth", "server auth"]), f"{SUSPICIOUS} WrongUsages"
    ),
    "for signing certificates": Row(
        first(usages=["digital signature", "client auth", "cert sign"]), f"{SUSPICIOUS} WrongUsages"
    ),
    "without digital signature": Row(first(usages=["client auth"]), f"{SUSPICIOUS} WrongUsages"),
    "for nothing": Row(first(usages=[]), f"{SUSPICIOUS} WrongUsages"),
    # bootstrap: the subject
    "in no organization": Row(first(request=pem(CN, organizations=[])), f"{SUSPICIOUS} WrongSubject"),
    "in another organization": Row(
        first(request=pem(CN, organizations=["system:masters"])), f"{SUSPICIOUS} WrongSubject"
    ),
    "in two organizations": Row(
        first(request=pem(CN, organizations=["system:nodes", "system:masters"])), f"{SUSPICIOUS} WrongSubject"
    ),
    "in the right organization twice": Row(
        first(request=pem(CN, organizations=["system:nodes"] * 2)), f"{SUSPICIOUS} WrongSubject"
    ),
    "without a node's prefix": Row(first(request=pem("dpu-1")), f"{SUSPICIOUS} WrongSubject"),
    "with the prefix alone": Row(first(request=pem("system:node:")), f"{SUSPICIOUS} WrongSubject"),
    "with two common names": Row(first(request=pem([CN, "admin"])), f"{SUSPICIOUS} WrongSubject"),
    "without a common name": Row(first(request=pem([])), f"{SUSPICIOUS} WrongSubject"),
    "with a country": Row(first(request=pem(CN, country="DE")), f"{SUSPICIOUS} WrongSubject"),
    # bootstrap: alternative names
    "with a DNS name": Row(first(request=pem(CN, dns=["dpu-1"])), f"{SUSPICIOUS} WrongNames"),
    "with an address": Row(first(request=pem(CN, addresses=[IP])), f"{SUSPICIOUS} WrongNames"),
    "with an e-mail address": Row(first(request=pem(CN, emails=["a@example.com"])), f"{SUSPICIOUS} WrongNames"),
    # bootstrap: the PEM
    "with no PEM": Row(first(request="bm90IHBlbQ=="), f"{SUSPICIOUS} InvalidRequest"),
    "with no base64": Row(first(request="%%%"), f"{SUSPICIOUS} InvalidRequest"),
    "with nothing": Row(first(request=""), f"{SUSPICIOUS} InvalidRequest"),
    "with a certificate instead": Row(
        first(request=pem(CN).replace(b"CERTIFICATE REQUEST", b"CERTIFICATE")), f"{SUSPICIOUS} InvalidRequest"
    ),
    "signed by another key": Row(first(request=broken_signature()), f"{SUSPICIOUS} InvalidRequest"),
    # bootstrap: the DPU and the node
    "of no DPU": Row(first(), f"{LATER} UnknownDPU", dpu=None),
    "of another DPUCluster's DPU": Row(
        first(), f"{SUSPICIOUS} OtherDPUCluster", dpu=replace(JOINING, cluster=("dpf", "others"))
    ),
    "of the same name in another namespace": Row(
        first(), f"{SUSPICIOUS} OtherDPUCluster", dpu=replace(JOINING, cluster=("other", "bluefields"))
    ),
    "too early": Row(first(), f"{LATER} WrongPhase", dpu=replace(JOINING, phase="OS Installing")),
    "of a DPU that has failed": Row(first(), f"{LATER} WrongPhase", dpu=replace(JOINING, phase="Error")),
    "of a DPU that is being deleted": Row(first(), f"{LATER} WrongPhase", dpu=replace(JOINING, is_deleting=True)),
    "of a DPU that is ready, its node lost": Row(first(), f"{LATER} WrongPhase", dpu=READY, node=NOT_READY),
    "replayed: its node is known and active": Row(first(), f"{SUSPICIOUS} AlreadyJoined", node=NODE),
    "replayed, and the DPU is ready": Row(first(), f"{SUSPICIOUS} AlreadyJoined", dpu=READY, node=NODE),
    # not ours
    "approved before": Row(decided(first(), "Approved"), "ignore Decided"),
    "denied before": Row(decided(first(), "Denied"), "ignore Decided"),
    "for another signer": Row(first(signerName="kubernetes.io/kube-apiserver-client"), "ignore OtherSigner"),
    "for the legacy signer": Row(first(signerName="kubernetes.io/legacy-unknown"), "ignore OtherSigner"),
    # serving
    "serving, of a node that joined": Row(second(), APPROVED, node=NODE),
    "serving, renewed by a ready DPU": Row(second(), APPROVED, dpu=READY, node=NODE),
    "serving, with an RSA key's usages": Row(
        second(usages=["key encipherment", "digital signature", "server auth"]), APPROVED, node=NODE
    ),
    "serving, without addresses": Row(serving("dpu-1"), APPROVED, node=NODE),
    "serving, by the node's address if the DPU has none": Row(
        second(), APPROVED, dpu=replace(JOINING, addresses=frozenset()), node=NODE
    ),
    "serving, before the node joined": Row(second(), f"{LATER} NodeMissing"),
    "serving, of a rebooting DPU": Row(
        second(), f"{LATER} WrongPhase", dpu=replace(JOINING, phase="Rebooting"), node=NODE
    ),
    "serving, by another node": Row(second(username="system:node:dpu-2"), f"{SUSPICIOUS} WrongSubject", node=NODE),
    "serving, by the bootstrapper": Row(
        second(username="system:serviceaccount:a:b"), f"{SUSPICIOUS} WrongUser", node=NODE
    ),
    "serving, without a node's group": Row(
        second(groups=["system:authenticated"]), f"{SUSPICIOUS} WrongGroups", node=NODE
    ),
    "serving, for a client": Row(
        second(usages=["digital signature", "client auth"]), f"{SUSPICIOUS} WrongUsages", node=NODE
    ),
    "serving, for another name": Row(
        second(request=pem(CN, dns=["api.example.com"])), f"{SUSPICIOUS} WrongNames", node=NODE
    ),
    "serving, for a further name": Row(
        second(request=pem(CN, dns=["dpu-1", "api.example.com"])), f"{SUSPICIOUS} WrongNames", node=NODE
    ),
    "serving, for no name": Row(second(request=pem(CN, addresses=[IP])), f"{SUSPICIOUS} WrongNames", node=NODE),
    "serving, for loopback": Row(
        serving("dpu-1", ["127.0.0.1"]),
        f"{SUSPICIOUS} WrongNames",
        dpu=replace(JOINING, addresses=frozenset()),
        node=NODE,
    ),
    "serving, for another's address": Row(
        serving("dpu-1", [IP, "192.0.2.99"]), f"{SUSPICIOUS} WrongAddresses", node=NODE
    ),
    "serving, for an address that only the kubelet reports": Row(
        serving("dpu-1", ["192.0.2.99"]),
        f"{SUSPICIOUS} WrongAddresses",
        node=replace(NODE, addresses=frozenset({"192.0.2.99"})),
    ),
    "serving, of another DPUCluster's DPU": Row(
        second(), f"{SUSPICIOUS} OtherDPUCluster", dpu=replace(JOINING, cluster=("dpf", "others")), node=NODE
    ),
    # denied where the bridge asks so
    "denied: replayed": Row(first(), "deny AlreadyJoined", node=NODE, denies=True),
    "denied: wrong user": Row(first(username="system:admin"), "deny WrongUser", denies=True),
    "not denied: only early": Row(first(), f"{LATER} UnknownDPU", dpu=None, denies=True),
    "not denied: all right": Row(first(), APPROVED, denies=True),
}


def shown(decision: Decision) -> str:
    match decision:
        case Approve():
            return APPROVED
        case Ignore(reason):
            return f"ignore {reason}"
        case Deny(reason, message):
            assert message
            return f"deny {reason}"
        case Pending(reason, message, is_suspicious):
            assert message
            return f"{SUSPICIOUS if is_suspicious else LATER} {reason}"


def test_the_table_has_at_least_sixty_rows() -> None:
    assert len(TABLE) >= 60


@pytest.mark.parametrize("name", TABLE)
def test_the_decision_on(name: str) -> None:
    row = TABLE[name]
    decision = decide(request_of(row.request), dpu=row.dpu, node=row.node, dpu_cluster=CLUSTER, denies=row.denies)
    assert shown(decision) == row.expected


def test_an_approval_names_the_hostname() -> None:
    request = request_of(first())
    assert hostname_of(request) == "dpu-1"
    assert decide(request, dpu=JOINING, node=None, dpu_cluster=CLUSTER, denies=False) == Approve("dpu-1")


@given(st.binary())
def test_whatever_a_request_contains_is_read_or_refused(content: bytes) -> None:
    assert subject_of(base64.b64encode(content).decode()) is None
    assert subject_of(base64.b64encode(b"-----BEGIN CERTIFICATE REQUEST-----\n" + content).decode()) is None
