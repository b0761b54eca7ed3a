"""The error that a refusal of Maestro stands for.

The gRPC server answers nearly everything with UNKNOWN, so the meaning is in the text: a `maestro-<n>` number where the
application refused, a fixed sentence where authentication did. REST carries the same numbers in its error body.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from shared import errors
from shared.errors import HyperFleetError, Problem
from shared.redaction import redact_text

_CODE = re.compile(r"\bmaestro-(\d+)\b")
_LATEST = re.compile(r"the latest version: (\d+)")
_ENVELOPE_TEXTS = (
    "failed to decode cloudevent",
    "failed to convert to cloudevent",
    "failed to parse cloud event type",
    "unsupported action",
    "unsupported subresource",
)
# Failures of TLS, as Python's ssl and gRPC write them.
_UNVERIFIED_TEXTS = ("certificate_verify_failed", "certificate verify failed", "hostname verification check failed")
_NOT_TLS_TEXTS = ("wrong_version_number", "wrong version number", "http_request", "record layer failure")
_CLIENT_CERTIFICATE_TEXTS = (
    *("alert_unknown_ca", "alert_certificate", "alert_bad_certificate", "alert_unsupported_certificate"),
    *("certificate required", "alert_handshake_failure", "tsi_data_corrupted"),
)
_PLAIN_TO_TLS = "HTTP request to an HTTPS server"

_CONSUMER_KEY = "fk_resources_consumers"


@dataclass(frozen=True, slots=True)
class Names:
    """The settings that a remedy names, as they were set."""

    address: str
    token: str
    ca: str
    certificate: str


REST_NAMES = Names("MAESTRO_API_URL", "MAESTRO_HTTP_TOKEN_FILE", "MAESTRO_CA_FILE", "MAESTRO_CERT_FILE")
GRPC_NAMES = Names("MAESTRO_GRPC_URL", "MAESTRO_TOKEN_FILE", "MAESTRO_CA_FILE", "MAESTRO_CERT_FILE")


def from_http(
    what: str, status: int, body: Any, headers: Mapping[str, str], *, text: str = "", names: Names = REST_NAMES
) -> HyperFleetError:
    """The error that a REST answer of 300 or more stands for; `text` is the answer where it is not JSON."""
    body = body if isinstance(body, Mapping) else {}
    reason, code = redact_text(str(body.get("reason") or f"HTTP {status}")), str(body.get("code") or "")
    match status:
        case 404 if code in ("", "maestro-404"):
            remedy = f"check {names.address}"
            return errors.Misconfigured(f"{what}: the REST address has no such path", why=reason, remedy=remedy)
        case 401:
            return unauthenticated(what, reason, names)
        case 403 if _CONSUMER_KEY in reason:
            remedy = "delete its works first and wait until they are gone"
            return errors.Conflict(f"{what}: the consumer still has works", why=reason, remedy=remedy)
        case 403:
            return errors.Forbidden(f"{what}: not allowed", why=reason)
        case 413:
            return errors.TooLarge(f"{what}: the request is too large", why=reason)
        case 429 | 503:
            wait = retry_after(headers.get("retry-after"))
            return errors.Unavailable(f"{what}: Maestro asks to retry later", why=reason, retry_after=wait)
        case _ if code:
            return from_text(what, f"{code}: {reason}")
        case _ if status >= 500:  # noqa: PLR2004 - HTTP's own limit
            return errors.ServerError(f"{what}: Maestro failed", why=reason)
        case _:
            return _not_maestro(what, reason, redact_text(headers.get("location", "")), text, names)


def _not_maestro(what: str, reason: str, location: str, text: str, names: Names) -> HyperFleetError:
    """An answer without Maestro's code: whatever gave it, it is not Maestro, or not reached as it must be."""
    if location:
        remedy = f"set {names.address} to where Maestro is"
        return errors.Misconfigured(f"{what}: the REST address redirects to {location}", why=reason, remedy=remedy)
    if _PLAIN_TO_TLS in text:
        remedy = f"write {names.address} with https://"
        return errors.Misconfigured(f"{what}: the REST address speaks TLS", why=reason, remedy=remedy)
    remedy = f"check {names.address}"
    return errors.Misconfigured(f"{what}: the answer is not Maestro's", why=reason, remedy=remedy)


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds to wait as a `Retry-After` header says: a number, or a date."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return float(text)
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - slow to load, rarely needed

    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:  # what `-0000` stands for: UTC, of a place unknown
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def from_text(what: str, text: str, names: Names = GRPC_NAMES) -> HyperFleetError:
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
            return unauthenticated(what, text, names)
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


def unauthenticated(what: str, why: str, names: Names = GRPC_NAMES) -> HyperFleetError:
    remedy = f"check {names.token}, or {names.certificate}, whose certificate needs a CN and an O"
    return errors.Unauthenticated(f"{what}: Maestro does not accept our credentials", why=why, remedy=remedy)


def unreachable(what: str, why: str, names: Names = GRPC_NAMES) -> HyperFleetError:
    """No connection. TLS that fails by its configuration is not worth another try."""
    why = redact_text(why)
    lowered = why.lower()
    if any(text in lowered for text in _UNVERIFIED_TEXTS):
        remedy = f"check {names.ca}, and that {names.address} has a name of the certificate"
        return errors.Misconfigured(f"{what}: Maestro's certificate cannot be verified", why=why, remedy=remedy)
    if any(text in lowered for text in _NOT_TLS_TEXTS):
        remedy = f"check {names.address}"
        return errors.Misconfigured(f"{what}: the address does not speak TLS", why=why, remedy=remedy)
    if any(text in lowered for text in _CLIENT_CERTIFICATE_TEXTS):
        remedy = f"set or renew the client certificate ({names.certificate})"
        return errors.Unauthenticated(f"{what}: Maestro refuses the TLS connection", why=why, remedy=remedy)
    return errors.Unavailable(f"{what}: Maestro cannot be reached", why=why)
