"""No client leaves a connection open when its loop ends, whatever its requests were doing: Python would warn later.

The server never answers and never closes. A client that waits for its end of TLS would leave the connection to the
garbage collector, which then fails some other test.
"""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from dispatcher.api.client import ApiClient
from dispatcher.api.settings import ApiSettings
from dispatcher.engine.ports import ApiRequest
from lab.certificates import self_signed
from lab.hypershift.operator import Operator
from lab.kubernetes import LabKubernetes
from lab.kubernetes.jobs.client import Api
from lab.maestro import LabMaestro
from lab.tls import Tls
from shared.kubernetes import Access, FixedAccess, KubernetesClient
from shared.maestro.http.pool import HttpPool
from shared.network.tls import verifying
from tests.support.connections import TIMEOUT, SilentServer, left_open, silent_server

Ask = Callable[[], Coroutine[Any, Any, object]]
PODS = "/api/v1/namespaces/default/pods"


@asynccontextmanager
async def job_runner(server: SilentServer) -> AsyncIterator[Ask]:
    async with Api(server) as api:
        yield lambda: api.get(PODS)


@asynccontextmanager
async def job_runners_watch(server: SilentServer) -> AsyncIterator[Ask]:
    async def watch() -> None:
        async for _ in api.watch(PODS, since="1"):
            pass

    async with Api(server) as api:
        yield watch


@asynccontextmanager
async def maestro_rest(server: SilentServer) -> AsyncIterator[Ask]:
    pool = HttpPool(server.url, trust=verifying(server.ca_file), timeout=30.0)
    try:
        yield lambda: pool.exchange("GET", "/api/maestro/v1/consumers", {})
    finally:
        await pool.close()


@asynccontextmanager
async def simulated_operator(server: SilentServer) -> AsyncIterator[Ask]:
    async with Operator(server.url, server.admin_token, server.ca_file) as operator:
        yield lambda: asyncio.wait([operator.task])


@asynccontextmanager
async def kubernetes_client(server: SilentServer) -> AsyncIterator[Ask]:
    access = Access(server=server.url, ca_file=server.ca_file)
    async with KubernetesClient(FixedAccess(access)) as client:
        yield lambda: client.kind("v1", "Pod")


@asynccontextmanager
async def hyperfleet_api(server: SilentServer) -> AsyncIterator[Ask]:
    async with ApiClient(ApiSettings(base_url=server.url)) as client:
        yield lambda: client.send(ApiRequest(method="GET", url="/clusters"))


CLIENTS = [job_runner, job_runners_watch, maestro_rest, simulated_operator, kubernetes_client, hyperfleet_api]


@pytest.mark.parametrize("greets", [True, False], ids=["waiting for an answer", "in the handshake"])
@pytest.mark.parametrize("how", ["cancelled", "closed"])
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__.replace("_", " "))
def test_a_client_leaves_no_connection_open(
    client: Callable[[SilentServer], AbstractAsyncContextManager[Ask]],
    how: str,
    *,
    greets: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> None:
        async with client(server) as ask:
            request = asyncio.ensure_future(ask())
            await server.reached()
            if how == "cancelled":
                request.cancel()
                await asyncio.wait([request])
        request.cancel()
        with contextlib.suppress(Exception, asyncio.CancelledError):
            await request

    with silent_server(tmp_path, greets=greets) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(server.ca_file))
        assert left_open(run) == []


@pytest.mark.parametrize("turns", range(12))
def test_maestros_client_is_cancelled_at_any_moment_of_connecting(turns: int, tmp_path: Path) -> None:
    async def run() -> None:
        async with maestro_rest(server) as ask:
            request = asyncio.ensure_future(ask())
            for _ in range(turns):
                await asyncio.sleep(0)
            time.sleep(0.01)  # noqa: ASYNC251 - the loop learns of the connection only after the cancellation
            request.cancel()
            await asyncio.wait([request])

    with silent_server(tmp_path) as server:
        assert left_open(run) == []


@contextlib.contextmanager
def idle_client(port: int, ca_file: Path) -> Iterator[None]:
    """A client that has sent half of a request and does nothing more, not even when the server ends TLS."""
    with (
        socket.create_connection(("127.0.0.1", port), TIMEOUT) as plain,
        verifying(ca_file).wrap_socket(plain, server_hostname="127.0.0.1") as connection,
    ):
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        yield


@asynccontextmanager
async def lab_kubernetes(tls: Tls) -> AsyncIterator[int]:
    async with LabKubernetes(tls=tls) as server:
        yield server.port


@asynccontextmanager
async def lab_maestro(tls: Tls) -> AsyncIterator[int]:
    async with LabMaestro(tls=tls) as server:
        yield int(server.rest_url.rpartition(":")[2])


@pytest.mark.parametrize("server", [lab_kubernetes, lab_maestro], ids=["lab-kubernetes", "lab-maestro"])
def test_a_stand_in_ends_with_no_connection_open(
    server: Callable[[Tls], AbstractAsyncContextManager[int]], tmp_path: Path
) -> None:
    tls = self_signed(tmp_path)
    with contextlib.ExitStack() as clients:

        async def run() -> None:
            async with server(tls) as port:
                for _ in range(3):
                    await asyncio.to_thread(clients.enter_context, idle_client(port, tls.certificate))

        assert left_open(run) == []
