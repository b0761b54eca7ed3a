"""What cannot work about the Maestro client's settings. Pure: from the fields that are known to all problems."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from shared.environment import is_host, quoted
from shared.errors import Problem

MIN_KEEPALIVE_SECONDS = 10.0
# gRPC counts milliseconds in 32 bits.
MAX_KEEPALIVE_SECONDS = 24 * 3600.0
TLS_SCHEMES, PLAIN_SCHEMES = ("https", "grpcs"), ("http", "grpc")
_SOURCE_ID = re.compile(r"[!-&(-~]+")

Values = Mapping[str, Any]
NameOf = Callable[[str], str]


def problems_of(values: Values, name_of: NameOf) -> list[Problem]:
    """All problems, each under the name that `name_of` gives its field; a field that is absent is not checked."""
    insecure = name_of("insecure")
    found = [*_grpc_problems(values, insecure), *_http_problems(values, insecure), *_source_problems(values)]
    found += [*_tls_problems(values, name_of), *_number_problems(values)]
    return [Problem(name_of(problem.path), problem.message) for problem in found]


def split_address(address: str) -> tuple[str, str]:
    """Scheme and host:port of an address that may have no scheme; no host:port where there is none that could work."""
    scheme, separator, _ = address.partition("://")
    try:
        parts = urlsplit(address if separator else f"//{address}")
        usable = is_host(parts.hostname or "") and parts.port != 0
    except ValueError:
        usable = False
    return scheme.lower() if separator else "", parts.netloc if usable else ""


def _grpc_problems(values: Values, insecure: str) -> Iterator[Problem]:
    address = values.get("grpc_server_address")
    if address is None:
        return
    scheme, target = split_address(address)
    if not target or scheme not in ("", *TLS_SCHEMES, *PLAIN_SCHEMES):
        message = f"must be an address such as maestro:8090 or https://maestro:8090, not {quoted(address)}"
        yield Problem("grpc_server_address", message)
    elif "@" in target:
        yield Problem("grpc_server_address", "must have no user name: gRPC takes a token file or a certificate instead")
    elif scheme in PLAIN_SCHEMES and not values.get("insecure"):
        yield Problem("grpc_server_address", f"{scheme}:// has no TLS; allow that with {insecure}")


def _http_problems(values: Values, insecure: str) -> Iterator[Problem]:
    address = values.get("http_server_address")
    if address is None:
        return
    scheme, target = split_address(address)
    if not target or scheme not in ("http", "https"):
        message = f"must be an http or https URL such as https://maestro:8000, not {quoted(address)}"
        yield Problem("http_server_address", message)
    elif scheme == "http" and not values.get("insecure") and not _is_plain_http(values):
        yield Problem("http_server_address", f"must be https unless {insecure} is set")


def _is_plain_http(values: Values) -> bool:
    return bool(values.get("plain_http")) and not values.get("http_token_file")


def _source_problems(values: Values) -> Iterator[Problem]:
    source = values.get("source_id")
    if source is not None and not _SOURCE_ID.fullmatch(source):
        message = f"must be visible ASCII characters without quotes, and never change once works exist; not {source!r}"
        yield Problem("source_id", message)


def _tls_problems(values: Values, name_of: NameOf) -> Iterator[Problem]:
    for one, other in (("cert_file", "key_file"), ("key_file", "cert_file")):
        if values.get(one) and not values.get(other):
            yield Problem(one, f"needs {name_of(other)}: a certificate and its key belong together")
    address = values.get("grpc_server_address")
    if address is None or values.get("insecure") or values.get("ca_file"):
        return
    scheme, target = split_address(address)
    if target and scheme not in TLS_SCHEMES + PLAIN_SCHEMES:
        what = "a token would travel in the open" if values.get("token_file") else "the server cannot be verified"
        yield Problem(
            "ca_file",
            f"must be set, or {what}; otherwise write the address as https:// to trust the system's CAs, "
            f"or set {name_of('insecure')}",
        )


def _number_problems(values: Values) -> Iterator[Problem]:
    for member in ("timeout", "keepalive_timeout", "relist_interval"):
        if values.get(member, 1) <= 0:
            yield Problem(member, "must be more than 0")
    if values.get("retry_attempts", 1) < 1:
        yield Problem("retry_attempts", "must be at least 1")
    keepalive = values.get("keepalive_time", MIN_KEEPALIVE_SECONDS)
    if not MIN_KEEPALIVE_SECONDS <= keepalive <= MAX_KEEPALIVE_SECONDS:
        limits = f"from {MIN_KEEPALIVE_SECONDS:.0f}s to {MAX_KEEPALIVE_SECONDS / 3600:.0f}h"
        yield Problem("keepalive_time", f"must be {limits}: Maestro closes connections with faster pings")
    if values.get("keepalive_timeout", 1) > MAX_KEEPALIVE_SECONDS:
        yield Problem("keepalive_timeout", f"must be at most {MAX_KEEPALIVE_SECONDS / 3600:.0f}h")
