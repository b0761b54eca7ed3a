"""The stand-in as a whole: three ports on loopback over one store, which outlives a crash."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Self

import grpc
from aiohttp import web

from lab.maestro.agents import AgentService, spec_event
from lab.maestro.faults import Faults
from lab.maestro.gatekeeping import Gatekeeper
from lab.maestro.rest import RestApi
from lab.maestro.sources import SourceService, status_event
from lab.maestro.store import Row, Store
from lab.maestro.streams import Streams
from lab.tls import Tls
from shared.maestro.codec import DATA_TYPE
from shared.maestro.wire.cloudevent_pb2_grpc import CloudEventServiceServicer, add_CloudEventServiceServicer_to_server

HOST = "127.0.0.1"
_AT_ONCE = 0.001  # seconds; 0 would be for ever
_GRPC_OPTIONS = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", -1),  # limited by the services, in the real server's words
    ("grpc.max_send_message_length", -1),
)


class LabMaestro:
    """Maestro in memory. `kill` and `start` keep the ports and the rows, as a crash of a pod with a database would."""

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
        self._gatekeeper = Gatekeeper(tls=tls, known_tokens=known_tokens, forbidden_sources=forbidden_sources)
        self._source_streams, self._agent_streams = Streams(heartbeat_seconds), Streams(heartbeat_seconds)
        self.store = Store(spec_changed=self._tell_agents, status_changed=self._tell_sources)
        self.faults = Faults(self._source_streams)
        self._wanted_ports = (rest_port, grpc_port, broker_port)
        self._reserved: list[socket.socket] = []
        self._lifetime, self._running = contextlib.AsyncExitStack(), contextlib.AsyncExitStack()

    @property
    def rest_url(self) -> str:
        return f"{'https' if self._gatekeeper.tls else 'http'}://{HOST}:{self._port(0)}"

    @property
    def grpc_address(self) -> str:
        return f"{HOST}:{self._port(1)}"

    @property
    def broker_address(self) -> str:
        return f"{HOST}:{self._port(2)}"

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as lifetime:
            self._reserved = [lifetime.enter_context(_reserved(port)) for port in self._wanted_ports]
            lifetime.push_async_callback(self.kill)
            await self.start()
            self._lifetime = lifetime.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._lifetime.aclose()

    async def start(self) -> None:
        """Serve, on the same ports and rows as before; what still runs is killed first, and no stream is resumed."""
        await self.kill()
        async with contextlib.AsyncExitStack() as stack:
            for streams in (self._source_streams, self._agent_streams):
                await stack.enter_async_context(_broadcasting(streams))
            sources = SourceService(self.store, self._source_streams, self._gatekeeper, self.faults)
            agents = AgentService(self.store, self._agent_streams)
            await self._serve_rest(stack)
            await _serve_grpc(stack, sources, self.grpc_address, self._gatekeeper.credentials())
            await _serve_grpc(stack, agents, self.broker_address, None)
            self._running = stack.pop_all()

    async def kill(self) -> None:
        """Stop at once, whatever is going on; nothing is told to anybody."""
        await self._running.aclose()

    async def _serve_rest(self, stack: contextlib.AsyncExitStack) -> None:
        application = RestApi(self.store, self.faults).application()
        runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=_AT_ONCE, access_log=None)
        stack.push_async_callback(runner.cleanup)
        await runner.setup()
        await web.TCPSite(runner, HOST, self._port(0), ssl_context=self._gatekeeper.rest_context()).start()

    def _tell_agents(self, action: str, row: Row) -> None:
        self._agent_streams.post((row.consumer_name, DATA_TYPE), spec_event(f"{action}_request", row))

    def _tell_sources(self, row: Row) -> None:
        self._source_streams.post(row.source, status_event(row))

    def _port(self, which: int) -> int:
        port: int = self._reserved[which].getsockname()[1]
        return port


def _reserved(port: int) -> socket.socket:
    """A port that stays ours while nobody listens on it: bound, so that no one else is given it."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        holder.bind((HOST, port))
    except OSError as error:
        holder.close()
        raise OSError(error.errno, f"port {port} on {HOST} cannot be had: {error.strerror}") from error
    return holder


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
