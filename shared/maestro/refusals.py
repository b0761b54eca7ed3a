"""What a refusal of Maestro means.

The gRPC server answers nearly everything with UNKNOWN, so the meaning is in the text: a `maestro-<n>` number where the
application refused, a fixed sentence where authentication did. REST carries the same numbers in its error body.
"""

import email.utils
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import grpc

from shared import errors
from shared.errors import HyperFleetError, Problem

_CODE = re.compile(r"\bmaestro-(\d+)\b")
_LATEST = re.compile(r"the latest version: (\d+)")
_ENVELOPE_TEXTS = (
    "failed to decode cloudevent",
    "failed to convert to cloudevent",
    "failed to parse cloud event type",
    "unsupported action",
    "unsupported subresource",
)
_TLS_TEXTS = ("handshake", "certificate", "ssl", "tls", "wrong version number")

_CONSUMER_KEY = "fk_resources_consumers"


def from_grpc(what: str, code: grpc.StatusCode, details: str) -> HyperFleetError:
    """The error that a failed call to the gRPC server stands for; `what` says what was tried."""
    match code:
        case grpc.StatusCode.UNKNOWN:
            return _from_text(what, details)
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return errors.DeadlineExceeded(f"{what}: no answer in time", why=details)
        case grpc.StatusCode.UNAUTHENTICATED:
            return _unauthenticated(what, details)
        case grpc.StatusCode.PERMISSION_DENIED:
            return errors.Forbidden(f"{what}: not allowed", why=details)
        case grpc.StatusCode.RESOURCE_EXHAUSTED if "larger than max" in details:
            return errors.TooLarge(f"{what}: the message is too large", why=details)
        case grpc.StatusCode.UNIMPLEMENTED:
            why = "whatever answers at the gRPC address is not Maestro"
            return errors.Misconfigured(f"{what}: no such service", why=why, remedy="check MAESTRO_GRPC_URL")
        case grpc.StatusCode.INTERNAL:
            return errors.ServerError(f"{what}: Maestro failed", why=details)
        case _:
            return _unreachable(what, details or code.name)


def from_http(what: str, status: int, body: Any, headers: Mapping[str, str]) -> HyperFleetError:
    """The error that a REST answer of 400 or more stands for."""
    body = body if isinstance(body, Mapping) else {}
    reason, code = str(body.get("reason") or f"HTTP {status}"), str(body.get("code") or "")
    match status:
        case 404 if code in ("", "maestro-404"):
            remedy = "check MAESTRO_API_URL"
            return errors.Misconfigured(f"{what}: the REST address has no such path", why=reason, remedy=remedy)
        case 401:
            return _unauthenticated(what, reason)
        case 403 if _CONSUMER_KEY in reason:
            remedy = "delete its works first and wait until they are gone"
            return errors.Conflict(f"{what}: the consumer still has works", why=reason, remedy=remedy)
        case 403:
            return errors.Forbidden(f"{what}: not allowed", why=reason)
        case 413:
            return errors.TooLarge(f"{what}: the request is too large", why=reason)
        case 429 | 503:
            wait = retry_after(headers.get("retry-after"))
            return errors.Unavailable(f"{what}: Maestro asks to come back later", why=reason, retry_after=wait)
        case _ if code:
            return _from_text(what, f"{code}: {reason}")
        case _ if status >= 500:  # noqa: PLR2004 - HTTP's own limit
            return errors.ServerError(f"{what}: Maestro failed", why=reason)
        case _:
            return errors.Invalid(f"{what}: the request was refused", [Problem("", reason)])


def unreachable(what: str, address: str, cause: str) -> HyperFleetError:
    return _unreachable(what, f"{address}: {cause}")


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds to wait as a `Retry-After` header says: a number, or a date."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:  # what `-0000` stands for: UTC, of a place unknown
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def _from_text(what: str, text: str) -> HyperFleetError:
    number = int(match[1]) if (match := _CODE.search(text)) else None
    reason = text.split(f"maestro-{number}: ", 1)[-1]
    if _CONSUMER_KEY in text:
        return errors.UnknownConsumer(
            f"{what}: the management cluster is not registered in Maestro",
            remedy="create the consumer in Maestro, or correct MANAGEMENT_CLUSTER_CONSUMER",
        )
    match number:
        case 6:
            return _from_conflict(what, reason)
        case 7:
            return errors.NotFound(f"{what}: not found", why=reason)
        case 8 | 21:
            return errors.Invalid(f"{what}: Maestro refused the content", _problems(reason))
        case 4:
            return errors.Forbidden(f"{what}: not allowed", why=reason)
        case 9 if "Invalid value" in reason:
            return errors.Invalid(f"{what}: Maestro refused the content", _problems(reason))
        case None if "token not authenticated" in text:
            return _unauthenticated(what, text)
        case None if text.startswith("unauthorized to "):
            remedy = "let the adapter's identity `pub` and `sub` on its /sources/<source id> in Maestro's cluster"
            return errors.Forbidden(f"{what}: not allowed", why=text, remedy=remedy)
        case None if text.startswith(_ENVELOPE_TEXTS):
            return errors.Invalid(f"{what}: Maestro could not read the event", [Problem("", text)])
        case _:
            return errors.ServerError(f"{what}: Maestro failed", why=text)


def _from_conflict(what: str, reason: str) -> HyperFleetError:
    if "under deletion" in reason:
        remedy = "wait until it is gone (`wait_gone`) before creating it again"
        return errors.Deleting(f"{what}: it is being deleted", why=reason, remedy=remedy)
    if match := _LATEST.search(reason):
        return errors.Conflict(
            f"{what}: somebody else wrote first",
            why=reason,
            remedy="read it again and decide again",
            latest_version=int(match[1]),
        )
    if "already exists" in reason:
        return errors.AlreadyExists(f"{what}: it exists already", why=reason)
    return errors.Conflict(f"{what}: conflict", why=reason)


def _problems(reason: str) -> list[Problem]:
    """The server's list `…, [path: text, path: text]`, or its single `path: text`, apart."""
    start = reason.find("[")
    listed = reason[start + 1 : -1] if start >= 0 and reason.endswith("]") else reason.rpartition("is invalid, ")[2]
    parts = re.split(r", (?=[\w.\[\]]+: )", listed)
    return [Problem(path, text) if text else Problem("", path) for path, _, text in (p.partition(": ") for p in parts)]


def _unauthenticated(what: str, why: str) -> HyperFleetError:
    remedy = "check the token file (MAESTRO_TOKEN_FILE) or the client certificate, which needs a CN and an O"
    return errors.Unauthenticated(f"{what}: Maestro does not know who we are", why=why, remedy=remedy)


def _unreachable(what: str, why: str) -> HyperFleetError:
    remedy = ""
    if any(text in why.lower() for text in _TLS_TEXTS):
        remedy = "check the CA file, the client certificate and whether the address speaks TLS"
    return errors.Unavailable(f"{what}: Maestro cannot be reached", why=why, remedy=remedy)
