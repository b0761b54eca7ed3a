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

_CHUNK_BYTES = 2**14


@dataclass(frozen=True, slots=True)
class Proxy:
    host: str
    port: int
    headers: tuple[tuple[str, str], ...] = ()

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
                        raise ConnectionError(f"the proxy {self.host}:{self.port} hung up")
                    protocol.receive_data(received)
        except h11.RemoteProtocolError as error:
            raise ConnectionError(f"{self.host}:{self.port} is no proxy: {error}") from error
        if protocol.their_state is not h11.SWITCHED_PROTOCOL:
            refusal = f"{event.status_code} {event.reason.decode(errors='replace')}".strip()
            raise ConnectionError(f"the proxy {self.host}:{self.port} refused to connect to {target}: {refusal}")


def proxy_for(host: str) -> Proxy | None:
    if not any(name.lower() in ("https_proxy", "all_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 - slow, rarely needed

    named = getproxies()
    url = named.get("https") or named.get("all")
    if not url or proxy_bypass(host):
        return None
    parts = urlsplit(url if "://" in url else f"http://{url}")
    return Proxy(parts.hostname or "", parts.port or 80, _authorization(parts.username, parts.password))


def _authorization(user: str | None, password: str | None) -> tuple[tuple[str, str], ...]:
    if user is None:
        return ()
    pair = f"{unquote(user)}:{unquote(password or '')}".encode()
    return (("Proxy-Authorization", f"Basic {base64.b64encode(pair).decode()}"),)
