"""How the API says no: a problem of RFC 9457 with a code of its own. Every refusal of the stand-in is one of these."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_TYPES = "https://api.hyperfleet.io/errors/"


@dataclass(frozen=True, slots=True)
class Kind:
    code: str
    status: int
    type: str
    title: str


VALIDATION = Kind("HYPERFLEET-VAL-000", 400, "validation-error", "Validation Failed")
BAD_REQUEST = Kind("HYPERFLEET-VAL-005", 400, "bad-request", "Bad Request")
MALFORMED = Kind("HYPERFLEET-VAL-006", 400, "malformed-request", "Malformed Request")
CHILD_KIND = Kind("HYPERFLEET-VAL-000", 422, "validation-error", "Validation Failed")
NO_CREDENTIALS = Kind("HYPERFLEET-AUT-001", 401, "authentication-error", "Authentication Required")
NO_ENDPOINT = Kind("HYPERFLEET-NTF-000", 404, "not-found", "Resource Not Found")
NOT_FOUND = Kind("HYPERFLEET-NTF-001", 404, "not-found", "Resource Not Found")
EXISTS = Kind("HYPERFLEET-CNF-001", 409, "conflict", "Resource Conflict")
STATE = Kind("HYPERFLEET-CNF-003", 409, "conflict", "State Conflict")
INTERNAL = Kind("HYPERFLEET-INT-001", 500, "internal-error", "Internal Server Error")
UNAVAILABLE = Kind("HYPERFLEET-SVC-001", 503, "service-unavailable", "Service Unavailable")


class Problem(Exception):
    """`errors` are the fields at fault, each `{field, message, constraint?, value?}`."""

    def __init__(self, kind: Kind, detail: str, errors: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.errors = tuple(errors)

    def document(self, *, instance: str, timestamp: str, trace_id: str) -> dict[str, Any]:
        document: dict[str, Any] = {
            "type": _TYPES + self.kind.type,
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail,
            "code": self.kind.code,
            "instance": instance,
            "timestamp": timestamp,
            "trace_id": trace_id,
        }
        return document | ({"errors": list(self.errors)} if self.errors else {})


def invalid(detail: str, errors: Sequence[dict[str, Any]] = ()) -> Problem:
    return Problem(VALIDATION, detail, errors)


def not_found(kind: str, identifier: str) -> Problem:
    return Problem(NOT_FOUND, f"{kind} with id='{identifier}' not found")
