"""The URL that a call of the HyperFleet API asks for, as the client builds it from what the author wrote."""

import posixpath
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from shared.errors import Invalid, Problem

_DEFAULT_VERSION = "v1"


def resolve_url(url: str, config: Mapping[str, Any]) -> str:
    """Without a base URL, as authors like it for rehearsals, it stays as written. Raises Invalid as the client does."""
    asked = _parts(url)
    client = _client(config)
    base = str(client.get("base_url") or "")
    if not base:
        return url
    ours = _parts(base)
    if asked.scheme:
        if (asked.scheme, asked.netloc) != (ours.scheme, ours.netloc):
            return url
        path = asked.path.removeprefix(ours.path.rstrip("/"))
    else:
        path = _absolute(asked.path, str(client.get("version") or _DEFAULT_VERSION))
    return f"{path}?{asked.query}" if asked.query else path


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        is_relative = (parts.scheme, parts.netloc, parts.port) == ("", "", None)
    except ValueError as error:
        raise _refusal(url, str(error)) from None
    if not is_relative and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise _refusal(url, "only http and https URLs can be called")
    return parts


def _refusal(url: str, why: str) -> Invalid:
    return Invalid("the URL of a call is not valid", [Problem("url", f"{url!r:.200}: {why}")])


def _absolute(path: str, version: str) -> str:
    cleaned = posixpath.normpath(f"/{path.lstrip('/')}")
    return cleaned if cleaned.startswith("/api/") else f"/api/hyperfleet/{version}{cleaned}"


def _client(config: Mapping[str, Any]) -> Mapping[str, Any]:
    clients = config.get("clients")
    client = clients.get("hyperfleet_api") if isinstance(clients, Mapping) else None
    return client if isinstance(client, Mapping) else {}
