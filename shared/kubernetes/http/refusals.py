"""What an answer of the API server that is no success means, in the errors of `shared.errors`.

The server says it in a `Status` object: `code` and `reason` decide, `details.causes` list the fields that are wrong.
Something on the way (a proxy, a server that is shutting down) may answer with anything else.
"""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from shared.errors import (
    AlreadyExists,
    Conflict,
    DeadlineExceeded,
    Deleting,
    Forbidden,
    HyperFleetError,
    Invalid,
    NotFound,
    Problem,
    ServerError,
    TooLarge,
    Transient,
    Unauthenticated,
    Unavailable,
    UnknownKind,
)

# Server-side apply answers 500 to a manifest that does not fit the kind's schema.
_NOT_IN_SCHEMA = ("failed to create typed patch object", "failed to create manager for existing fields")
_TOO_LARGE_FOR_ETCD = "etcdserver: request is too large"
_LONGEST_TEXT = 500


class Expired(Transient):
    """The version is too old: what changed since then is forgotten, and a new list is needed."""


def refusal(what: str, code: int, content: bytes, headers: Mapping[str, str]) -> HyperFleetError:
    return from_status(what, code, _status_of(content), headers)


def from_status(
    what: str, code: int, status: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> HyperFleetError:
    """`what` was asked for, such as "get Job jobs/a"; the error says that it failed."""
    what, why = f"cannot {what}", _message(code, status)
    if code >= HTTPStatus.INTERNAL_SERVER_ERROR or code in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_TIMEOUT):
        return _failure(what, why, code, _retry_after(status, headers or {}))
    match code:
        case HTTPStatus.NOT_FOUND:
            return _not_found(what, why, status)
        case HTTPStatus.CONFLICT:
            return AlreadyExists(what, why=why) if status.get("reason") == "AlreadyExists" else Conflict(what, why=why)
        case HTTPStatus.GONE:
            return Expired(what, why=why)
        case HTTPStatus.UNAUTHORIZED:
            return Unauthenticated(what, why=why, remedy="check the token or certificate that we present")
        case HTTPStatus.FORBIDDEN:
            return _forbidden(what, why, status)
        case HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return TooLarge(what, why=why)
        case _:
            return _invalid(what, why, status)


def _failure(what: str, why: str, code: int, retry_after: float | None) -> HyperFleetError:
    if why.startswith(_NOT_IN_SCHEMA):
        return Invalid(what, why=why, remedy="correct the manifest, or the version of its CustomResourceDefinition")
    if _TOO_LARGE_FOR_ETCD in why:
        return TooLarge(what, why=why)
    match code:
        case HTTPStatus.GATEWAY_TIMEOUT | HTTPStatus.REQUEST_TIMEOUT:
            return DeadlineExceeded(what, why=why, retry_after=retry_after)
        case HTTPStatus.TOO_MANY_REQUESTS | HTTPStatus.BAD_GATEWAY | HTTPStatus.SERVICE_UNAVAILABLE:
            return Unavailable(what, why=why, retry_after=retry_after)
        case _:
            return ServerError(what, why=why, retry_after=retry_after)


def _not_found(what: str, why: str, status: Mapping[str, Any]) -> NotFound:
    """An object that is missing is named in the details; without them it is the path that is not served."""
    if _details(status).get("name"):
        return NotFound(what, why=why)
    return UnknownKind(
        what, why=why, remedy="install its CustomResourceDefinition, or correct the manifest's apiVersion and kind"
    )


def _forbidden(what: str, why: str, status: Mapping[str, Any]) -> HyperFleetError:
    if any(each.get("reason") == "NamespaceTerminating" for each in _causes(status)):
        return Deleting(what, why=why, remedy="wait until the namespace is gone")
    return Forbidden(what, why=why, remedy="grant the right in a Role or ClusterRole bound to this account")


def _invalid(what: str, why: str, status: Mapping[str, Any]) -> HyperFleetError:
    """A write that carries the uid of an earlier object of this name is refused as a change of its uid."""
    problems = [Problem(str(each.get("field") or ""), str(each.get("message") or "")) for each in _causes(status)]
    if {problem.path for problem in problems} == {"metadata.uid"}:
        return Conflict(what, why=why)
    return Invalid(what, problems, why=why)


def _status_of(content: bytes) -> Mapping[str, Any]:
    try:
        document = json.loads(content)
    except ValueError:
        return {"message": content[:_LONGEST_TEXT].decode(errors="replace").strip()}
    return document if isinstance(document, Mapping) else {}


def _message(code: int, status: Mapping[str, Any]) -> str:
    return str(status.get("message") or f"the API server answered {code} {_phrase(code)}".strip())


def _phrase(code: int) -> str:
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return ""


def _causes(status: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    causes = _details(status).get("causes")
    return [each for each in causes if isinstance(each, Mapping)] if isinstance(causes, list) else []


def _details(status: Mapping[str, Any]) -> Mapping[str, Any]:
    details = status.get("details")
    return details if isinstance(details, Mapping) else {}


def _retry_after(status: Mapping[str, Any], headers: Mapping[str, str]) -> float | None:
    for named in (headers.get("Retry-After"), _details(status).get("retryAfterSeconds")):
        try:
            if named is not None:
                return max(0.0, float(named))
        except (TypeError, ValueError):
            continue
    return None
