"""The stand-in server: three loopback ports and one store, which survives `kill`."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

import grpc

from lab import http_server
from lab.loopback import HOST, ReservedPort
from lab.maestro.faults import Faults
from lab.maestro.rest.api import RestApi
from lab.maestro.storage.store import Row, Store
from lab.maestro.streams.agents import AgentService, spec_event
from lab.maestro.streams.auth import Auth
from lab.maestro.streams.broadcast import Streams
from lab.maestro.streams.sources import SourceService, status_event
from lab.tls import Tls
from shared.maestro.wire.cloudevent_pb2_grpc import CloudEventServiceServicer, add_CloudEventServiceServicer_to_server
from shared.maestro.wire.codec import DATA_TYPE

_GRPC_OPTIONS = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", -1),  # the services limit it, with the real server's text
    ("grpc.max_send_message_length", -1),
)


class LabMaestro:
    """Maestro in memory. `kill` and `start` keep ports and rows, as a restart of a pod with a database does."""

    def __init__(
        self,
        *,
        heartbeat_seconds: float = 10.0,
        tls: Tls | None = None,
        known_tokens: tuple[str, ...] = ("good-token",),
        forbidden_sources: tuple[str, ...] = ("forbidden-source",),
        rest_port: int = 0,
        grpc_port: int = 0,
        broker_port: int = 0,
    ) -> None:
        self._auth = Auth(tls=tls, known_tokens=known_tokens, forbidden_sources=forbidden_sources)
        self._source_streams, self._agent_streams = Streams(heartbeat_seconds), Streams(heartbeat_seconds)
        self.store = Store(spec_changed=self._notify_agents, status_changed=self._notify_sources)
        self.faults = Faults(self._source_streams)
        self._wanted_ports = (rest_port, grpc_port, broker_port)
        self._reserved: list[ReservedPort] = []
        self._lifetime, self._running = contextlib.AsyncExitStack(), contextlib.AsyncExitStack()

    @property
    def rest_url(self) -> str:
        return f"{'https' if self._auth.tls else 'http'}://{HOST}:{self._port(0)}"

    @property
    def grpc_address(self) -> str:
        return f"{HOST}:{self._port(1)}"

    @property
    def broker_address(self) -> str:
        return f"{HOST}:{self._port(2)}"

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as lifetime:
            self._reserved = [_held(lifetime, port) for port in self._wanted_ports]
            lifetime.push_async_callback(self.kill)
            await self.start()
            self._lifetime = lifetime.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._lifetime.aclose()

    async def start(self) -> None:
        """Serve, with the same ports and rows as before. A running server is killed first; no stream is resumed."""
        await self.kill()
        async with contextlib.AsyncExitStack() as stack:
            for streams in (self._source_streams, self._agent_streams):
                await stack.enter_async_context(_broadcasting(streams))
            sources = SourceService(self.store, self._source_streams, self._auth, self.faults)
            agents = AgentService(self.store, self._agent_streams)
            await self._serve_rest(stack)
            await _serve_grpc(stack, sources, self.grpc_address, self._auth.credentials())
            await _serve_grpc(stack, agents, self.broker_address, None)
            self._running = stack.pop_all()

    async def kill(self) -> None:
        """Stop at once, without notice to clients."""
        await self._running.aclose()

    async def _serve_rest(self, stack: contextlib.AsyncExitStack) -> None:
        application = RestApi(self.store, self.faults).application()
        runner = await http_server.serve(application, self._port(0), self._auth.rest_context())
        stack.push_async_callback(http_server.stop, runner)

    def _notify_agents(self, action: str, row: Row) -> None:
        self._agent_streams.post((row.consumer_name, DATA_TYPE), spec_event(f"{action}_request", row))

    def _notify_sources(self, row: Row) -> None:
        self._source_streams.post(row.source, status_event(row))

    def _port(self, which: int) -> int:
        return self._reserved[which].number


def _held(lifetime: contextlib.AsyncExitStack, port: int) -> ReservedPort:
    reserved = ReservedPort(port)
    lifetime.callback(reserved.release)
    return reserved


async def _serve_grpc(
    stack: contextlib.AsyncExitStack,
    service: CloudEventServiceServicer,
    address: str,
    credentials: grpc.ServerCredentials | None,
) -> None:
    server = grpc.aio.server(options=_GRPC_OPTIONS)
    add_CloudEventServiceServicer_to_server(service, server)
    if credentials:
        server.add_secure_port(address, credentials)
    else:
        server.add_insecure_port(address)
    await server.start()
    stack.push_async_callback(server.stop, None)


@contextlib.asynccontextmanager
async def _broadcasting(streams: Streams) -> AsyncIterator[None]:
    task = asyncio.create_task(streams.broadcast())
    try:
        yield
    finally:
        streams.cut()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
