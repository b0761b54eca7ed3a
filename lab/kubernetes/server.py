"""The stand-in API server on a port of loopback. What it remembers outlives a crash, as etcd outlives an API server."""

import ssl
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from aiohttp import web

from lab.kubernetes.access import Access, Rule
from lab.kubernetes.addressing import Target
from lab.kubernetes.collecting import Collector
from lab.kubernetes.documents import Object
from lab.kubernetes.faults import Faults
from lab.kubernetes.handling import Handler, Seen
from lab.kubernetes.kinds import DEFINITION, Kinds
from lab.kubernetes.resources import Resources, WriteOptions
from lab.kubernetes.store import Store
from lab.real.processes import free_port
from lab.tls import Tls

# The real server's limit of a request's body.
_LARGEST_BODY = 3 * 1024 * 1024
# A crash waits for no request; 0 would mean for ever.
_CRASH_SECONDS = 0.001
BOOKMARK_SECONDS = 60.0


class LabKubernetes:
    """One API server. With `tls` it serves HTTPS, and `ca_file` is what a client needs to trust it."""

    def __init__(self, *, port: int = 0, tls: Tls | None = None, bookmark_seconds: float = BOOKMARK_SECONDS) -> None:
        self.port = port or free_port()
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self.ca_file: Path | None = tls.certificate if tls else None
        self._tls = tls
        self.store = Store()
        self.resources = Resources(self.store, Kinds())
        self.access = Access(self.store)
        self.faults = Faults(cut_watches=self._cut_watches, expire_history=self._expire_history)
        self._handler = Handler(self.resources, self.access, self.faults, bookmark_seconds=bookmark_seconds)
        self._collector = Collector(self.resources)
        self._runner: web.AppRunner | None = None

    @property
    def admin_token(self) -> str:
        return self.access.admin_token

    @property
    def seen(self) -> list[Seen]:
        """Every request of somebody known, in order."""
        return self._handler.seen

    def new_token(self, rules: Iterable[Rule], *, user: str = "somebody") -> str:
        return self.access.new_token(rules, user=user)

    def define(self, definition: Object) -> None:
        """Serve a custom kind, as if its CustomResourceDefinition had been created."""
        self.resources.create(Target(kind=DEFINITION), definition, WriteOptions())

    async def __aenter__(self) -> Self:
        await self._collector.__aenter__()
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()
        await self._collector.__aexit__()

    async def start(self) -> None:
        """Listen on the same port as before."""
        application = web.Application(client_max_size=_LARGEST_BODY)
        application.router.add_route("*", "/{path:.*}", self._handler.handle)
        self._runner = web.AppRunner(
            application, handler_cancellation=True, shutdown_timeout=_CRASH_SECONDS, access_log=None
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=self._ssl(), reuse_address=True).start()

    async def kill(self) -> None:
        """A crash: every connection breaks and nobody listens; the objects stay."""
        runner, self._runner = self._runner, None
        if runner is None:
            return
        for site in list(runner.sites):
            await site.stop()
        if runner.server is not None:
            for connection in runner.server.connections:
                if connection.transport is not None:
                    connection.transport.abort()
        await runner.cleanup()

    def _ssl(self) -> ssl.SSLContext | None:
        if self._tls is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self._tls.certificate, self._tls.key)
        return context

    def _cut_watches(self) -> None:
        for connection in list(self._handler.watches):
            connection.abort()

    def _expire_history(self) -> None:
        """Watches that are open end with it, and may not resume where they were."""
        self.store.forget_history()
        self._cut_watches()
