"""The proxy that the environment names for a URL, as Go programs choose it: by `https_proxy`, `http_proxy`, `no_proxy`.

Loopback is always reached straight.
"""

import functools
import ipaddress
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass


@functools.cache
def proxy_for(url: str) -> str | None:
    """None where no proxy is used. The environment is read once: a process keeps the one it started with."""
    parts = urlsplit(url)
    named = getproxies()
    proxy = named.get(parts.scheme) or named.get("all")
    if not proxy or _is_loopback(parts.hostname or "") or proxy_bypass(parts.netloc):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
