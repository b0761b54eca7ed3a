"""The stand-in API server on a loopback port. Its objects survive `kill`, as etcd survives an API server."""

import ssl
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from aiohttp import web

from lab import http_server
from lab.kubernetes.api.documents import Object
from lab.kubernetes.api.kinds import DEFINITION, Kinds
from lab.kubernetes.api.paths import Target
from lab.kubernetes.http_api.auth import Access, Rule
from lab.kubernetes.http_api.faults import Faults
from lab.kubernetes.http_api.handler import Handler, Seen
from lab.kubernetes.storage.garbage_collection import GarbageCollector
from lab.kubernetes.storage.resources import Resources, WriteOptions
from lab.kubernetes.storage.store import Store
from lab.loopback import HOST, ReservedPort
from lab.tls import Tls

# The real server's limit for a request body.
_LARGEST_BODY = 3 * 1024 * 1024
BOOKMARK_SECONDS = 60.0


class LabKubernetes:
    """One API server. With `tls` it serves HTTPS, and clients verify it with `ca_file`."""

    def __init__(self, *, port: int = 0, tls: Tls | None = None, bookmark_seconds: float = BOOKMARK_SECONDS) -> None:
        self._wanted_port = port
        self._port: ReservedPort | None = None
        self.ca_file: Path | None = tls.certificate if tls else None
        self._tls = tls
        self.store = Store()
        self.resources = Resources(self.store, Kinds())
        self.access = Access(self.store)
        self.faults = Faults(cut_watches=self._cut_watches, expire_history=self._expire_history)
        self._handler = Handler(self.resources, self.access, self.faults, bookmark_seconds=bookmark_seconds)
        self._garbage_collector = GarbageCollector(self.resources)
        self._runner: http_server.Runner | None = None

    @property
    def port(self) -> int:
        """Known from the start of the server."""
        assert self._port is not None
        return self._port.number

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://{HOST}:{self.port}"

    @property
    def admin_token(self) -> str:
        return self.access.admin_token

    @property
    def seen(self) -> list[Seen]:
        """Every authenticated request, in order."""
        return self._handler.seen

    def new_token(self, rules: Iterable[Rule], *, user: str = "somebody") -> str:
        return self.access.new_token(rules, user=user)

    def define(self, definition: Object) -> None:
        """Serve a custom kind, as if its CustomResourceDefinition had been created."""
        self.resources.create(Target(kind=DEFINITION), definition, WriteOptions())

    async def __aenter__(self) -> Self:
        self._port = ReservedPort(self._wanted_port)
        await self._garbage_collector.__aenter__()
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()
        await self._garbage_collector.__aexit__()
        if self._port is not None:
            self._port.release()

    async def start(self) -> None:
        """Listen on the same port as before."""
        application = web.Application(client_max_size=_LARGEST_BODY)
        application.router.add_route("*", "/{path:.*}", self._handler.handle)
        self._runner = await http_server.serve(application, self.port, self._ssl())

    async def kill(self) -> None:
        """Simulate a crash: break every connection and stop listening; the objects stay."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await http_server.stop(runner)

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
        """Open watches end, and cannot resume from where they were."""
        self.store.forget_history()
        self._cut_watches()
