"""A Maestro under test, stand-in or real: its addresses, credentials and works, and a relay that breaks connections."""

import asyncio
import contextlib
import itertools
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from lab.maestro import LabMaestro
from lab.tls import Tls
from shared.maestro import MaestroSettings, WorkEvent, Works
from shared.model.manifestwork import ManifestWork, manifest_config
from tests.support.pki import Pki

# Generous, because the machine may be slow; nothing waits this long unless it is broken.
TIMEOUT = 240.0

_numbers = itertools.count()


@dataclass(frozen=True, slots=True, kw_only=True)
class MaestroServer:
    """A running Maestro. `identity` has a client's credentials; `kill` simulates a crash, `start` restarts it."""

    mode: str
    rest_url: str
    grpc_address: str
    broker_address: str
    kill: Callable[[], Awaitable[None]]
    start: Callable[[], Awaitable[None]]
    identity: Mapping[str, Any] = field(default_factory=dict)

    def settings(self, **overrides: Any) -> MaestroSettings:
        values: dict[str, Any] = {
            "grpc_server_address": self.grpc_address,
            "http_server_address": self.rest_url,
            "source_id": unique("source"),
            "timeout": 20.0,
            **self.identity,
        }
        return MaestroSettings(**(values | overrides))


def standin(server: LabMaestro, mode: str = "plain", identity: Mapping[str, Any] | None = None) -> MaestroServer:
    return MaestroServer(
        mode=mode,
        rest_url=server.rest_url,
        grpc_address=server.grpc_address,
        broker_address=server.broker_address,
        kill=server.kill,
        start=server.start,
        identity=identity or {},
    )


def tls_for(mode: str, pki: Pki) -> Tls | None:
    """The TLS files of a server of this mode."""
    if mode == "plain":
        return None
    authority = pki.authority if mode == "mtls" else None
    return Tls(certificate=pki.server.certificate, key=pki.server.key, client_authority=authority)


def identity_for(mode: str, pki: Pki, folder: Path) -> dict[str, Any]:
    """A client's credentials for a server of this mode."""
    match mode:
        case "token":
            token = folder / "good-token"
            token.write_text("good-token\n")
            return {"ca_file": pki.authority, "token_file": token}
        case "mtls":
            pair = pki.client
            return {"ca_file": pki.authority, "cert_file": pair.certificate, "key_file": pair.key}
        case _:
            return {"insecure": True}


def unique(prefix: str) -> str:
    return f"{prefix}-{next(_numbers)}-{uuid.uuid4().hex[:8]}"


def config_map(name: str = "settings", **data: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": data or {"key": "value"},
    }


def some_work(name: str, **changes: Any) -> ManifestWork:
    """A work with one ConfigMap, of which data and status are to be fed back."""
    values: dict[str, Any] = {
        "consumer": "",
        "manifests": (config_map(),),
        "manifest_configs": (
            manifest_config(
                group="",
                resource="configmaps",
                name="settings",
                namespace="default",
                feedback={"data": ".data", "status": ".status", "phase": ".status.phase"},
                update_strategy="ServerSideApply",
            ),
        ),
        "delete_option": {"propagationPolicy": "Foreground"},
    }
    return ManifestWork(name=name, **(values | changes))


class Watching:
    """A watch that runs beside the test, and the events it has sent so far."""

    def __init__(self) -> None:
        self.events: list[WorkEvent] = []
        self._news = asyncio.Condition()

    async def until(self, reached: Callable[[list[WorkEvent]], bool]) -> list[WorkEvent]:
        """All events, once they satisfy `reached`; fails with the events so far."""
        try:
            async with asyncio.timeout(TIMEOUT), self._news:
                await self._news.wait_for(lambda: reached(self.events))
        except TimeoutError:
            sent = [(event.change, event.work.name, event.work.generation) for event in self.events]
            raise AssertionError(f"not seen in {TIMEOUT:g} s; the watch sent {sent}") from None
        return list(self.events)

    async def follow(self, events: AsyncIterator[WorkEvent]) -> None:
        async for event in events:
            async with self._news:
                self.events.append(event)
                self._news.notify_all()


@contextlib.asynccontextmanager
async def watching(works: Works, **how: Any) -> AsyncIterator[Watching]:
    """A running watch; what it raised is raised here, unless the test ended first."""
    seen = Watching()
    task = asyncio.create_task(seen.follow(works.watch(**how)))
    try:
        yield seen
        if task.done():
            task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class Cutter:
    """A TCP relay in front of a server: it can stop passing bytes on, or cut and refuse all connections."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._passing = asyncio.Event()
        self._passing.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._refusing = False

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut()
        self._passing.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Break every connection and take no new ones until `mend`."""
        self._refusing = True
        for writer in list(self._writers):
            writer.transport.abort()

    def stall(self) -> None:
        """Keep connections open but pass nothing on until `mend`."""
        self._passing.clear()

    def mend(self) -> None:
        self._refusing = False
        self._passing.set()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if self._refusing:
            writer.transport.abort()
            return
        try:
            there_reader, there_writer = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, there_writer}
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass_on(reader, there_writer))
                group.create_task(self._pass_on(there_reader, writer))
        finally:
            for each in (writer, there_writer):
                self._writers.discard(each)
                each.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                await self._passing.wait()
                writer.write(data)
                await writer.drain()
        writer.transport.abort()
