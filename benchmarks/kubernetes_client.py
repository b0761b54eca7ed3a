"""The Kubernetes client: calls per second and CPU per call, on the real API server where it can be had.

Beside each number stands a bare aiohttp session that makes the same requests, and the `kubernetes` package's own client
for reads. Start cost is that of a fresh interpreter.
"""

import asyncio
import contextlib
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.maestro import start_cost
from dispatcher.engine.ports import Query
from dispatcher.transports.kubernetes import KubernetesTransport
from lab.real.servers.kubernetes import RealKubernetes
from shared.kubernetes import KubernetesClient, ObjectRef, access_source
from shared.network.tls import verifying

CALLS = 300
ROUNDS = 7
AT_ONCE = 16
STARTS = 5
MANAGER = "bench"
NAMESPACE = "default"

Call = Callable[[int], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Cost:
    per_second: float
    cpu_ms: float

    def __str__(self) -> str:
        return f"{self.per_second:7.0f}/s ({self.cpu_ms:.2f})"


def main() -> None:
    print("\nKubernetes client: calls per second (CPU ms per call of the client's process)\n")
    columns = ("bare aiohttp", "client", "transport", "kubernetes package")
    print(f"{'server':<9} {'call':<22}{''.join(f'{each:>19}' for each in columns)} {'CPU client/bare':>16}")
    with _server() as (name, kubeconfig):
        asyncio.run(_measure(name, kubeconfig))
    _start_cost()


@contextlib.contextmanager
def _server() -> Iterator[tuple[str, Path]]:
    """A server in a process of its own, or its CPU would be counted as the client's."""
    with tempfile.TemporaryDirectory() as folder:
        if not shutil.which("go"):
            with _stand_in(Path(folder)) as kubeconfig:
                yield "stand-in", kubeconfig
            return
        server = RealKubernetes(Path(folder))
        server.prepare()
        server.start()
        try:
            yield "real", server.kubeconfig
        finally:
            server.stop()


@contextlib.contextmanager
def _stand_in(folder: Path) -> Iterator[Path]:
    import subprocess  # noqa: PLC0415 - only where there is no real server

    kubeconfig = folder / "kubeconfig"
    command = [sys.executable, "-m", "lab.kubernetes.command", "--kubeconfig", str(kubeconfig)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        process.stdout.readline()
        yield kubeconfig
    finally:
        process.terminate()
        process.wait()


async def _measure(server: str, kubeconfig: Path) -> None:
    async with KubernetesClient(access_source(str(kubeconfig))) as client, _bare(client) as bare:
        transport, package = KubernetesTransport(client, manager=MANAGER), _package(kubeconfig)
        for number in range(CALLS):
            await client.apply(_document(number), manager=MANAGER)

        async def find(number: int) -> object:
            return await transport.find(_query(number))

        async def apply(number: int) -> object:
            return await client.apply(_document(number), manager=MANAGER)

        get = _getting(client)
        await _row(server, "get, one by one", 1, [bare.get, get, find, package])
        await _row(server, f"get, {AT_ONCE} at once", AT_ONCE, [bare.get, get, find, None])
        await _row(server, "apply, unchanged", 1, [bare.apply, apply, None, None])
        await _row(server, f"apply, {AT_ONCE} at once", AT_ONCE, [bare.apply, apply, None, None])


async def _row(server: str, label: str, at_once: int, calls: list[Call | None]) -> None:
    """Rounds of all in turn, so that what else the machine does falls on each alike; medians of the rounds."""
    rounds = [[await _cost(call, at_once) if call else None for call in calls] for _ in range(ROUNDS)]
    medians = [_median([each for each in column if each]) for column in zip(*rounds, strict=True)]
    shown = "".join(f"{each or ''!s:>19}" for each in medians)
    bare, ours = medians[:2]
    assert bare is not None
    assert ours is not None
    print(f"{server:<9} {label:<22}{shown} {ours.cpu_ms / bare.cpu_ms:>16.2f}")


def _median(costs: list[Cost]) -> Cost | None:
    if not costs:
        return None
    return Cost(*(statistics.median(getattr(each, name) for each in costs) for name in ("per_second", "cpu_ms")))


def _getting(client: KubernetesClient) -> Call:
    return lambda number: client.get(
        ObjectRef(api_version="v1", kind="ConfigMap", namespace=NAMESPACE, name=f"bench-{number}")
    )


class _Bare:
    """The same requests with nothing around them."""

    def __init__(self, session: aiohttp.ClientSession, url: str, options: dict[str, Any]) -> None:
        self._session, self._url, self._options = session, url, options

    async def get(self, number: int) -> None:
        async with self._session.get(f"{self._url}/bench-{number}", **self._options) as answer:
            json.loads(await answer.read())

    async def apply(self, number: int) -> None:
        headers = {**self._options["headers"], "Content-Type": "application/apply-patch+yaml"}
        url = f"{self._url}/bench-{number}?fieldManager={MANAGER}&force=true"
        options = {**self._options, "headers": headers}
        async with self._session.patch(url, data=json.dumps(_document(number)), **options) as answer:
            json.loads(await answer.read())


@contextlib.asynccontextmanager
async def _bare(client: KubernetesClient) -> AsyncIterator[_Bare]:
    access = await client.access()
    headers = {"Authorization": access.authorization, "Accept-Encoding": "identity"}
    async with aiohttp.ClientSession() as session:
        url = f"{access.server}/api/v1/namespaces/{NAMESPACE}/configmaps"
        yield _Bare(session, url, {"headers": headers, "ssl": verifying(access.ca_file)})


async def _cost(call: Call, at_once: int) -> Cost:
    turns = asyncio.Semaphore(at_once)

    async def one(number: int) -> None:
        async with turns:
            await call(number)

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(one(number) for number in range(CALLS)))
    return Cost(CALLS / (time.perf_counter() - wall), (time.process_time() - cpu) / CALLS * 1000)


def _package(kubeconfig: Path) -> Call:
    """The `kubernetes` package's own client, which blocks."""
    import kubernetes  # noqa: PLC0415 - imported before anything is measured

    connection = kubernetes.config.new_client_from_config(str(kubeconfig))  # type: ignore[no-untyped-call]
    api = kubernetes.client.CoreV1Api(connection)

    async def get(number: int) -> None:
        api.read_namespaced_config_map(f"bench-{number}", NAMESPACE)

    return get


def _query(number: int) -> Query:
    return Query(api_version="v1", kind="ConfigMap", namespace=NAMESPACE, name=f"bench-{number}")


def _document(number: int) -> dict[str, Any]:
    metadata = {"name": f"bench-{number}", "namespace": NAMESPACE, "labels": {"app": "bench"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": "x" * 2000}}


def _start_cost() -> None:
    print("\nstart cost of a fresh interpreter, median\n")
    for label, code in (
        ("python", "pass"),
        ("aiohttp", "import aiohttp"),
        ("shared.kubernetes", "import shared.kubernetes"),
        ("kubernetes.config", "import kubernetes.config"),
    ):
        runs = [start_cost(code) for _ in range(STARTS)]
        cpu, memory = (statistics.median(values) for values in zip(*runs, strict=True))
        print(f"{label:<30} {cpu * 1000:6.0f} ms CPU {memory / 1024:6.1f} MiB")


if __name__ == "__main__":
    main()
