"""RabbitMQ, a Kubernetes API server and the stub API around a consumer: the dispatcher, or the bare probe."""

import asyncio
import contextlib
import json
import os
import sys
import time
import uuid
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aio_pika
import aiohttp
from aio_pika.abc import AbstractExchange

from benchmarks._dispatcher.adapters import NAME, write_files
from benchmarks._process import cpu_seconds, resident_mib
from dispatcher.brokers.rabbitmq import RabbitSettings, RabbitSubscription
from lab.real.servers.kubernetes import RealKubernetes
from lab.real.servers.rabbitmq import RealRabbitMq
from shared.kubernetes import Access, FixedAccess, KubernetesClient

LONGEST = 900.0
DISPATCHER, PROBE = "bench-dispatcher", "bench-probe"
"""Their topics, so that both can run at the same time."""


class Consumer:
    """A process that consumes a topic, and what it has used."""

    def __init__(self, topic: str, process: Process, ports: dict[str, int]) -> None:
        self.topic = topic
        self.process = process
        self.ports = ports

    def cpu_seconds(self) -> float:
        return cpu_seconds(self.process.pid)

    def resident_mib(self) -> float:
        return resident_mib(self.process.pid)


@dataclass(frozen=True, slots=True)
class Seen:
    """`requests` by method; `statuses` is when each cluster's last status arrived."""

    requests: dict[str, int]
    statuses: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Servers:
    folder: Path
    rabbitmq: RealRabbitMq
    kubernetes: RealKubernetes
    client: KubernetesClient
    exchanges: dict[str, AbstractExchange]
    http: aiohttp.ClientSession
    api_port: int

    async def seen(self) -> Seen:
        async with self.http.get(f"http://127.0.0.1:{self.api_port}/_seen") as answer:
            return Seen(**await answer.json())

    async def until_reported(self, clusters: Iterable[str], *, since: float = 0.0) -> Seen:
        """When every cluster has a status that arrived after `since`."""
        wanted = set(clusters)
        async with asyncio.timeout(LONGEST):
            while True:
                seen = await self.seen()
                if all(seen.statuses.get(each, -1.0) >= since for each in wanted):
                    return seen
                await asyncio.sleep(0.1)

    async def publish(self, topic: str, clusters: Iterable[str]) -> None:
        for cluster in clusters:
            message = aio_pika.Message(event_about(cluster), delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
            await self.exchanges[topic].publish(message, routing_key="")

    @contextlib.asynccontextmanager
    async def dispatcher(self, task: dict[str, Any], *, parallelism: int = 16) -> AsyncIterator[Consumer]:
        arguments = write_files(
            self.folder,
            task,
            topic=DISPATCHER,
            api_port=self.api_port,
            kubeconfig=self.kubernetes.kubeconfig,
            rabbitmq_url=self.rabbitmq.url,
            parallelism=parallelism,
        )
        environment = {
            "HYPERFLEET_LISTEN_HOST": "127.0.0.1",
            "HYPERFLEET_HEALTH_PORT": "0",
            "HYPERFLEET_METRICS_PORT": "0",
        }
        async with self._consumer(DISPATCHER, ["dispatcher.cli", "serve", *arguments], environment) as consumer:
            yield consumer

    @contextlib.asynccontextmanager
    async def probe(self, *, parallelism: int = 16) -> AsyncIterator[Consumer]:
        addresses = {
            "api_port": self.api_port,
            "kubernetes": self.kubernetes.url,
            "token": self.kubernetes.admin_token,
            "ca_file": str(self.kubernetes.ca_file),
            "rabbitmq": self.rabbitmq.url,
            "queue": _subscription(self.rabbitmq, PROBE).queue_name,
            "parallelism": parallelism,
        }
        async with self._consumer(PROBE, ["benchmarks._dispatcher.probe", json.dumps(addresses)], {}) as consumer:
            yield consumer

    @contextlib.asynccontextmanager
    async def _consumer(self, topic: str, command: list[str], environment: dict[str, str]) -> AsyncIterator[Consumer]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", *command, stderr=PIPE, limit=2**22, env={**os.environ, **environment}
        )
        ports: dict[str, int] = {}
        ready = asyncio.Event()
        reading = asyncio.create_task(_read(process, ports, ready))
        try:
            async with asyncio.timeout(LONGEST):
                await ready.wait()
            yield Consumer(topic, process, ports)
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()
            await reading


async def _read(process: Process, ports: dict[str, int], ready: asyncio.Event) -> None:
    """The log, to its end, so that the process never waits for us."""
    assert process.stderr is not None
    while line := await process.stderr.readline():
        if b'"serving"' in line:
            fields = json.loads(line)
            ports.update(health=fields["health_port"], metrics=fields["metrics_port"])
        if b"consuming messages" in line:
            ready.set()


def event_about(cluster: str) -> bytes:
    event = {
        "specversion": "1.0",
        "id": str(uuid.uuid4()),
        "source": "hyperfleet-sentinel",
        "type": "com.redhat.hyperfleet.cluster.reconcile",
        "datacontenttype": "application/json",
        "data": {"generation": 1, "href": f"/api/hyperfleet/v1/clusters/{cluster}", "id": cluster, "kind": "Cluster"},
    }
    return json.dumps(event, separators=(",", ":")).encode()


@contextlib.asynccontextmanager
async def start_servers(folder: Path) -> AsyncIterator[Servers]:
    rabbitmq, kubernetes = RealRabbitMq(folder), RealKubernetes(folder)
    rabbitmq.start()
    kubernetes.prepare()
    kubernetes.start()
    stub = await asyncio.create_subprocess_exec(sys.executable, "-m", "benchmarks._dispatcher.stub_api", stdout=PIPE)
    assert stub.stdout is not None
    access = Access(server=kubernetes.url, authorization=f"Bearer {kubernetes.admin_token}", ca_file=kubernetes.ca_file)
    try:
        api_port = int(json.loads(await stub.stdout.readline())["port"])
        for topic in (DISPATCHER, PROBE):
            await _declare_queue(rabbitmq, topic)
        async with (
            aiohttp.ClientSession() as http,
            KubernetesClient(FixedAccess(access)) as client,
            await aio_pika.connect(rabbitmq.url) as connection,
        ):
            channel = await connection.channel(publisher_confirms=False)
            yield Servers(
                folder=folder,
                rabbitmq=rabbitmq,
                kubernetes=kubernetes,
                client=client,
                exchanges={topic: await channel.get_exchange(topic) for topic in (DISPATCHER, PROBE)},
                http=http,
                api_port=api_port,
            )
    finally:
        stub.terminate()
        await stub.wait()
        kubernetes.stop()
        rabbitmq.stop()


async def _declare_queue(server: RealRabbitMq, topic: str) -> None:
    connection = await RabbitSubscription(_subscription(server, topic)).connect(lambda _: None)
    await connection.close()


def _subscription(server: RealRabbitMq, topic: str) -> RabbitSettings:
    return RabbitSettings(url=server.url, topic=topic, subscription=NAME)


def clock() -> float:
    """The clock that all processes of the machine share."""
    return time.monotonic()
