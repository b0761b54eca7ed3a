"""Certificate requests of joining DPUs: which of them get a certificate. `decide` is pure."""

from dpu_bridge.certificates.decision import Approve, Decision, Deny, Dpu, Ignore, Node, Pending, decide
from dpu_bridge.certificates.request import Request, request_of

__all__ = [
    "Approve",
    "Decision",
    "Deny",
    "Dpu",
    "Ignore",
    "Node",
    "Pending",
    "Request",
    "decide",
    "request_of",
]
