"""Connections that code leaves open when its event loop ends, which Python reports as ResourceWarnings."""

import asyncio
import contextlib
import gc
import socket
import ssl
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.certificates import self_signed

TIMEOUT = 240.0


def left_open(main: Callable[[], Coroutine[Any, Any, None]]) -> list[str]:
    """What is still open after `main` has run in a loop of its own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        asyncio.run(main())
        gc.collect()
    return [str(each.message) for each in caught if issubclass(each.category, ResourceWarning)]


async def connections_closed(port: int) -> None:
    """Return when this machine's servers at `port` have closed every connection.

    A TLS server that stops sends close_notify and waits for the client's. A loop that ends before leaves the socket open.
    """
    async with asyncio.timeout(TIMEOUT):
        while _accepted(port):  # noqa: ASYNC110 - the kernel has no event for it
            await asyncio.sleep(0.05)


def _accepted(port: int) -> bool:
    """Whether a process still holds a connection of a server at this port: proc(5), /proc/net/tcp."""
    listening, unowned = "0A", "0"
    lines = [line.split() for table in ("tcp", "tcp6") for line in Path("/proc/net", table).read_text().splitlines()]
    return any(
        fields[1].endswith(f":{port:04X}") and fields[3] != listening and fields[9] != unowned for fields in lines
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentServer:
    """A TLS server that never answers and never closes a connection, not even after the client's end of TLS."""

    port: int
    ca_file: Path
    admin_token: str = "token"
    _reached: threading.Event = field(default_factory=threading.Event)
    _stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    async def reached(self) -> None:
        """Return when the first request has arrived, or the first connection if the server does not greet."""
        assert await asyncio.to_thread(self._reached.wait, TIMEOUT), "nothing arrived"

    def serve(self, connection: socket.socket, context: ssl.SSLContext | None) -> None:
        with connection:
            if context is None:
                self._reached.set()
                self._stopped.wait(TIMEOUT)
                return
            with contextlib.suppress(OSError), context.wrap_socket(connection, server_side=True) as secured:
                while secured.recv(65536):
                    self._reached.set()
                self._stopped.wait(TIMEOUT)

    def stop(self) -> None:
        self._stopped.set()


@contextlib.contextmanager
def silent_server(folder: Path, *, greets: bool = True) -> Iterator[SilentServer]:
    """One that reads requests, or one that does not even begin the TLS handshake."""
    tls = self_signed(folder)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tls.certificate, tls.key)
    threads: list[threading.Thread] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = SilentServer(port=listening.getsockname()[1], ca_file=tls.certificate)

        def start(target: Callable[..., None], *arguments: object) -> None:
            threads.append(threading.Thread(target=target, args=arguments))
            threads[-1].start()

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    start(server.serve, listening.accept()[0], context if greets else None)

        start(accept)
        try:
            yield server
        finally:
            server.stop()
            listening.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join(TIMEOUT)
