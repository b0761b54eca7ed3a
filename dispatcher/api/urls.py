"""Which URL an author's `url` means.

| written | asked |
|---|---|
| `https://elsewhere/x` | as it is, without our token |
| `api/hyperfleet/v1/clusters/1`, `/api/…` | below the base URL |
| `clusters/1`, `/clusters/1` | below the base URL and `/api/hyperfleet/<version>/` |

Query strings are kept; a fragment means nothing to a server and is dropped.
"""

import posixpath
from urllib.parse import urlsplit

from yarl import URL

from shared.errors import Invalid, Problem


def resolve(written: str, *, base_url: str, version: str) -> URL:
    """Raises Invalid for what can be no URL."""
    try:
        parts = urlsplit(written.strip())
        if parts.scheme or parts.netloc:
            return _absolute(written.strip())
        path = posixpath.normpath(f"/{parts.path}").lstrip("/")
        if path != "api" and not path.startswith("api/"):
            path = f"api/hyperfleet/{version}/{path}".rstrip("/")
        query = f"?{parts.query}" if parts.query else ""
        return URL(f"{base_url.rstrip('/')}/{path}{query}")
    except ValueError as error:
        raise Invalid("the URL of a call is not valid", [Problem("url", f"{written!r:.200}: {error}")]) from error


def is_same_server(url: URL, base_url: str) -> bool:
    base = URL(base_url)
    return (url.scheme, url.host, url.port) == (base.scheme, base.host, base.port)


def _absolute(written: str) -> URL:
    url = URL(written).with_fragment(None)
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError("only http and https URLs can be called")
    return url
