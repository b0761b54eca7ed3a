"""The proxy on the way to Maestro, where the environment names one: `https_proxy`, unless `no_proxy` excepts the host.

gRPC follows these variables by itself; REST must take the same way, or half of the client would work. Plain http goes
straight: it is for a lab, and a proxy would read along.
"""

import asyncio
import base64
import os
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

import h11

from shared.environment import quoted, url
from shared.errors import Misconfigured, Problem

_CHUNK_BYTES = 2**14


@dataclass(frozen=True, slots=True)
class Proxy:
    host: str
    port: int
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    async def tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: str) -> None:
        """Have the proxy connect these streams to `target`, a host and a port."""
        protocol = h11.Connection(h11.CLIENT)
        request = h11.Request(method="CONNECT", target=target, headers=[("Host", target), *self.headers])
        writer.write(protocol.send(request) + protocol.send(h11.EndOfMessage()))
        try:
            while not isinstance(event := protocol.next_event(), h11.Response):
                if event is h11.NEED_DATA:
                    received = await reader.read(_CHUNK_BYTES)
                    if not received:
                        raise ConnectionError(f"the proxy {self.address} hung up")
                    protocol.receive_data(received)
        except h11.RemoteProtocolError as error:
            raise ConnectionError(f"{self.address} is no proxy: {error}") from error
        if protocol.their_state is not h11.SWITCHED_PROTOCOL:
            refusal = f"{event.status_code} {event.reason.decode(errors='replace')}".strip()
            raise ConnectionError(f"the proxy {self.address} refused to connect to {target}: {refusal}")


def proxy_for(host: str) -> Proxy | None:
    """Raises Misconfigured for a variable that names no proxy."""
    if not any(name.lower() in ("https_proxy", "all_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 - slow, rarely needed

    named = getproxies()
    variable = "https" if named.get("https") else "all"
    text = named.get(variable)
    if not text or proxy_bypass(host):
        return None
    try:
        parts = urlsplit(url(text if "://" in text else f"http://{text}"))
        usable = parts.scheme == "http"
    except ValueError:
        usable = False
    if not usable:
        problem = Problem(f"{variable}_proxy", f"must be a proxy such as http://proxy:3128, not {quoted(text)}")
        raise Misconfigured("the proxy cannot be used", [problem])
    return Proxy(parts.hostname or "", parts.port or 80, _authorization(parts.username, parts.password))


def _authorization(user: str | None, password: str | None) -> tuple[tuple[str, str], ...]:
    if user is None:
        return ()
    pair = f"{unquote(user)}:{unquote(password or '')}".encode()
    return (("Proxy-Authorization", f"Basic {base64.b64encode(pair).decode()}"),)
