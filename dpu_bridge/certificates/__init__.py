"""Certificate requests of joining DPUs: which of them get a certificate. `judge` is pure."""

from dpu_bridge.certificates.judgement import Approve, Deny, Dpu, Ignore, Judgement, Node, Pending, judge
from dpu_bridge.certificates.request import Request, request_of

__all__ = [
    "Approve",
    "Deny",
    "Dpu",
    "Ignore",
    "Judgement",
    "Node",
    "Pending",
    "Request",
    "judge",
    "request_of",
]
