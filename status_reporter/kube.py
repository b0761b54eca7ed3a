"""The few requests to the API server, over the standard library's HTTP client.

The token is read for every request, because the kubelet renews it in place. Each refusal is an error of
`shared.errors`: `Transient` is worth another try, the rest is not.
"""

import contextlib
import http.client
import json
import ssl
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from shared.errors import (
    Conflict,
    DeadlineExceeded,
    Forbidden,
    HyperFleetError,
    Invalid,
    NotFound,
    Problem,
    ServerError,
    Transient,
    Unavailable,
)
from shared.network.tls import verifying
from shared.redaction import redact_text

STRATEGIC_MERGE = "application/strategic-merge-patch+json"
# An API server that has just started refuses what its rules allow, until it has read them.
FORBIDDEN_SECONDS = 5.0
ANSWER_SECONDS = 10.0
# A proxy or firewall may silently drop a connection that was idle for longer.
IDLE_SECONDS = 30.0


class ExpiredToken(Transient):
    """The API server rejects the token; the kubelet may be renewing it right now."""


class Kube:
    """One API server. Requests share a connection, which is opened again when it has broken."""

    def __init__(self, url: str, account: Path, namespace: str) -> None:
        self._url = urlsplit(url)
        self._account = account
        self._namespace = quote(namespace, safe="")
        self._context: ssl.SSLContext | None = None
        self._shared: http.client.HTTPConnection | None = None
        self._used_at = 0.0

    def pod(self, name: str, timeout: float) -> dict[str, Any]:
        return self._call("GET", self._pods(name), timeout=timeout)

    def job(self, name: str, timeout: float) -> dict[str, Any]:
        return self._call("GET", self._jobs(name), timeout=timeout)

    def patch_job_status(self, name: str, body: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        return self._call("PATCH", f"{self._jobs(name)}/status", body=body, timeout=timeout)

    def watch_pod(self, name: str, version: str, timeout: float) -> Iterator[dict[str, Any]]:
        """Events of one pod after `version`, until the server ends the watch and with it the connection."""
        query = {
            "watch": "1",
            "fieldSelector": f"metadata.name={name}",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(int(timeout)),
        }
        what = "watch the pod"
        with _translated_errors(what), contextlib.closing(self):
            connection = self._connection(ANSWER_SECONDS)
            connection.request("GET", f"{self._pods()}?{urlencode(query)}", headers=self._headers())
            answer = connection.getresponse()
            if answer.status != http.client.OK:
                raise _refusal(what, answer, answer.read())
            if connection.sock is not None:
                connection.sock.settimeout(timeout + ANSWER_SECONDS)
            for line in answer:
                if line.strip():
                    yield _document(what, line)

    def _call(self, method: str, path: str, *, body: Mapping[str, Any] | None = None, timeout: float) -> dict[str, Any]:
        what = f"{method} {path}"
        payload = json.dumps(body, ensure_ascii=False).encode() if body is not None else None
        try:
            answer, content = self._exchange(what, method, path, payload, timeout)
        except Unavailable:  # a connection that had been idle may have been closed by the server meanwhile
            answer, content = self._exchange(what, method, path, payload, timeout)
        if answer.status not in (http.client.OK, http.client.CREATED):
            raise _refusal(what, answer, content)
        return _document(what, content)

    def _exchange(
        self, what: str, method: str, path: str, payload: bytes | None, timeout: float
    ) -> tuple[http.client.HTTPResponse, bytes]:
        try:
            with _translated_errors(what):
                connection = self._connection(timeout)
                connection.request(method, path, body=payload, headers=self._headers())
                answer = connection.getresponse()
                return answer, answer.read()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._shared is not None:
            self._shared.close()
            self._shared = None

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        now = time.monotonic()
        if now - self._used_at > IDLE_SECONDS:
            self.close()
        self._used_at = now
        if self._shared is None:
            self._shared = self._connect(timeout)
        self._shared.timeout = timeout
        if self._shared.sock is not None:
            self._shared.sock.settimeout(timeout)
        return self._shared

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._url.scheme != "https":
            return http.client.HTTPConnection(host, port, timeout=timeout)
        if self._context is None:
            self._context = _context(self._account)
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=self._context)

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "Content-Type": STRATEGIC_MERGE}
        with contextlib.suppress(FileNotFoundError):
            headers["Authorization"] = f"Bearer {(self._account / 'token').read_text(encoding='utf-8').strip()}"
        return headers

    def _pods(self, name: str = "") -> str:
        return f"{self._url.path.rstrip('/')}/api/v1/namespaces/{self._namespace}/pods" + (
            f"/{quote(name, safe='')}" if name else ""
        )

    def _jobs(self, name: str) -> str:
        return f"{self._url.path.rstrip('/')}/apis/batch/v1/namespaces/{self._namespace}/jobs/{quote(name, safe='')}"


def _context(account: Path) -> ssl.SSLContext:
    authority = account / "ca.crt"
    return verifying(authority if authority.exists() else None)


@contextlib.contextmanager
def _translated_errors(what: str) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise DeadlineExceeded(f"{what}: the API server did not answer in time") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Unavailable(
            f"{what}: the API server cannot be reached", why=str(error) or type(error).__name__
        ) from error


def _document(what: str, content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict):
        return document
    raise ServerError(
        f"{what}: the response is not a Kubernetes object", why=redact_text(content[:80].decode(errors="replace"))
    )


def _refusal(what: str, answer: http.client.HTTPResponse, content: bytes) -> HyperFleetError:
    try:
        why = redact_text(str(json.loads(content).get("message") or ""))
    except (ValueError, AttributeError, RecursionError):
        why = redact_text(content[:200].decode(errors="replace"))
    after = answer.headers.get("Retry-After", "")
    wait = float(after) if after.isascii() and after.isdigit() else None
    match answer.status:
        case 401:
            return ExpiredToken(f"{what}: the API server rejects the token", why=why)
        case 403:
            return Forbidden(f"{what}: not allowed", why=why, remedy="grant the reporter's Role to the pod's account")
        case 404:
            return NotFound(f"{what}: not found", why=why)
        case 422 if "metadata.uid" in why:
            return Conflict(f"{what}: it is another Job of that name", why=why)
        case 409:  # the API server gave up after some tries of its own, because others write it too
            return Unavailable(f"{what}: others write it at the same time", why=why, retry_after=wait)
        case 410:
            return Unavailable(f"{what}: the watch is too old", why=why)
        case 429:
            return Unavailable(f"{what}: too many requests", why=why, retry_after=wait)
        case _ if answer.status >= http.client.INTERNAL_SERVER_ERROR:
            return ServerError(f"{what}: the API server failed", why=why or f"HTTP {answer.status}", retry_after=wait)
        case _:
            return Invalid(f"{what}: refused", [Problem("", why or f"HTTP {answer.status}")])
