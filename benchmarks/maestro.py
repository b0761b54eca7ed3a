"""The Maestro client: calls per second and CPU per call, on the stand-in and, where it can be had, on the real server.

Beside each number stands a bare probe that makes the same calls with httpx and a stub, as a script would, so that what
the client costs or spares can be seen whatever else the machine is doing. Start cost is that of a fresh interpreter.
"""

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import grpc.aio
import httpx

from lab.real.servers.maestro import RealMaestro
from lab.real.servers.postgres import Postgres
from shared import times
from shared.maestro import MaestroClient, MaestroSettings, work_id
from shared.maestro.wire.cloudevent_pb2 import PublishRequest
from shared.maestro.wire.cloudevent_pb2_grpc import CloudEventServiceStub
from shared.maestro.wire.codec import spec_request
from shared.model.manifestwork import ManifestWork

CALLS = 400
AT_ONCE = 16
STARTS = 10

Call = Callable[[int], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Rate:
    per_second: float
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Server:
    name: str
    rest_url: str
    grpc_address: str


def main() -> None:
    print("\nMaestro client: calls per second (CPU ms per call of the client's process)\n")
    print(f"{'server':<10} {'call':<24} {'client':>18} {'bare probe':>18} {'client/probe':>13}")
    asyncio.run(_on_stand_in())
    if shutil.which("go") and Path("/usr/lib/postgresql").exists():
        _on_real()
    else:
        print("real       not measured: it needs Go and PostgreSQL")
    _start_cost()


async def _on_stand_in() -> None:
    # In a process of its own, or its CPU would be counted as the client's.
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import lab.maestro.command as c; c.main()",
        "--output",
        "json",
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        addresses = json.loads(await process.stdout.readline())
        await _measure(Server("stand-in", addresses["rest"], addresses["grpc"]))
    finally:
        process.terminate()
        await process.wait()


def _on_real() -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = Postgres(Path(folder))
        database.start()
        server = RealMaestro(Path(folder), database, "bench")
        try:
            server.prepare()
            server.start()
            real = Server("real", f"http://127.0.0.1:{server.rest_port}", f"127.0.0.1:{server.grpc_port}")
            asyncio.run(_measure(real))
        finally:
            server.stop()
            database.stop()


async def _measure(server: Server) -> None:
    source, consumer = f"bench-{uuid.uuid4().hex[:8]}", f"bench-{uuid.uuid4().hex[:8]}"
    settings = MaestroSettings(
        grpc_server_address=server.grpc_address, http_server_address=server.rest_url, source_id=source, insecure=True
    )
    async with (
        MaestroClient(settings) as client,
        httpx.AsyncClient(base_url=f"{server.rest_url}/api/maestro/v1") as http,
        grpc.aio.insecure_channel(server.grpc_address) as channel,
    ):
        await client.consumers.create(consumer)
        works, probe = client.works(consumer), _Probe(http, channel, source, consumer)
        for label, at_once, ours, bare in (
            ("create, one by one", 1, lambda n: works.create(_work(consumer, f"a{n}")), probe.creating("b")),
            (
                f"create, {AT_ONCE} at once",
                AT_ONCE,
                lambda n: works.create(_work(consumer, f"c{n}")),
                probe.creating("d"),
            ),
            ("get, one by one", 1, lambda n: works.get(f"a{n}"), probe.getting("a")),
            (f"get, {AT_ONCE} at once", AT_ONCE, lambda n: works.get(f"c{n}"), probe.getting("c")),
        ):
            _row(server.name, label, await _rate(ours, at_once), await _rate(bare, at_once))


class _Probe:
    """The calls the client makes, made with nothing around them."""

    def __init__(self, http: httpx.AsyncClient, channel: grpc.aio.Channel, source: str, consumer: str) -> None:
        self._http, self._source, self._consumer = http, source, consumer
        self._stub = CloudEventServiceStub(channel)

    def creating(self, prefix: str) -> Call:
        async def create(number: int) -> None:
            name = f"{prefix}{number}"
            search = f"consumer_name='{self._consumer}' and payload->'metadata'->>'name'='{name}'"
            (await self._http.get("/resource-bundles", params={"search": search})).json()
            work = _work(self._consumer, name, uid=work_id(self._source, self._consumer, name))
            event = spec_request("create", work, source=self._source, at=times.now()).to_proto()
            await self._stub.Publish(PublishRequest(event=event))

        return create

    def getting(self, prefix: str) -> Call:
        async def get(number: int) -> None:
            uid = work_id(self._source, self._consumer, f"{prefix}{number}")
            (await self._http.get(f"/resource-bundles/{uid}")).raise_for_status().json()

        return get


async def _rate(call: Call, at_once: int) -> Rate:
    turns = asyncio.Semaphore(at_once)

    async def one(number: int) -> None:
        async with turns:
            await call(number)

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(one(number) for number in range(CALLS)))
    return Rate(CALLS / (time.perf_counter() - wall), (time.process_time() - cpu) / CALLS * 1000)


def _row(server: str, label: str, ours: Rate, bare: Rate) -> None:
    shown = [f"{rate.per_second:8.0f}/s ({rate.cpu_ms:.2f})" for rate in (ours, bare)]
    print(f"{server:<10} {label:<24} {shown[0]:>18} {shown[1]:>18} {ours.per_second / bare.per_second:>13.2f}")


def _work(consumer: str, name: str, uid: str = "") -> ManifestWork:
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "default"},
        "data": {"key": "x" * 2000},
    }
    return ManifestWork(name=name, consumer=consumer, manifests=(manifest,), uid=uid)


def _start_cost() -> None:
    print("\nstart cost of a fresh interpreter, median\n")
    for label, code in (
        ("python", "pass"),
        ("grpc.aio + protobuf + httpx", "import grpc.aio, google.protobuf, httpx"),
        ("shared.maestro", "import shared.maestro"),
        ("shared.model.report", "import shared.model.report"),
    ):
        runs = [start_cost(code) for _ in range(STARTS)]
        cpu, memory = (statistics.median(values) for values in zip(*runs, strict=True))
        print(f"{label:<30} {cpu * 1000:6.0f} ms CPU {memory / 1024:6.1f} MiB")


def start_cost(code: str) -> tuple[float, float]:
    """CPU seconds and the largest memory in KiB of an interpreter that does this and nothing else."""
    # Asked of the child itself: the operating system counts the parent's memory before the exec as the child's.
    probe = "; import re; print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    process = subprocess.Popen([sys.executable, "-c", code + probe], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    memory = float(process.stdout.read())
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime, memory


if __name__ == "__main__":
    main()
