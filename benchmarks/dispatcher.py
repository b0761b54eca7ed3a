"""The dispatcher end to end: RabbitMQ and a Kubernetes API server, both real, and a stub of the HyperFleet API.

Beside each rate stands a bare probe that makes the same calls with no engine. They take turns, so that a noisy machine
is noisy for both. CPU is the consumer's process alone. With `LONG=1` there are 10,000 objects and 1,000 watched Jobs.
"""

import asyncio
import os
import re
import shutil
import statistics
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

from benchmarks._dispatcher.adapters import JOB, JOBS_NAMESPACE, TWO_OBJECTS
from benchmarks._dispatcher.servers import Consumer, Servers, clock, start_servers
from shared import times
from shared.kubernetes import ObjectRef, PatchType

LONG = bool(os.environ.get("LONG"))
NEW, AGAIN = 1000, 300
ROUNDS = 5
LATENCIES = 100
ALIVE, ALIVE_RATE, ALIVE_SECONDS = 10_000, 50, 60
WATCHED, IDLE_SECONDS = 1000, 30


@dataclass(frozen=True, slots=True)
class Rate:
    events: int
    seconds: float
    cpu_seconds: float

    @property
    def cpu_ms(self) -> float:
        return self.cpu_seconds / self.events * 1000

    def shown(self) -> str:
        return f"{self.events / self.seconds:.1f}/s ({self.cpu_ms:.2f} ms)"


def main() -> None:
    if not (shutil.which("go") and Path("/usr/lib/rabbitmq").exists()):
        print("\ndispatcher: not measured, it needs Go and RabbitMQ")
        return
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measure(Path(folder)))


async def _measure(folder: Path) -> None:
    async with start_servers(folder) as servers:
        await _throughput(servers)
        await _latency(servers)
        await _job_latency(servers)
        if LONG:
            await _many_objects(servers)
            await _idle(servers)


async def _throughput(servers: Servers) -> None:
    print("\ndispatcher: events per second (CPU ms per event) with a Namespace and a ConfigMap per cluster\n")
    print(_row("events", "at once", "dispatcher", "bare probe", "CPU ratio", "in each round"))
    for parallelism in (16, 1):
        async with (
            servers.dispatcher(TWO_OBJECTS, parallelism=parallelism) as ours,
            servers.probe(parallelism=parallelism) as bare,
        ):
            pair = _Pair(servers, ours, bare)
            await pair.run(_names(50))  # connections and caches
            new = [await pair.run(_names(NEW // ROUNDS)) for _ in range(ROUNDS)]
            again = [await pair.run(each.clusters[: AGAIN // ROUNDS]) for each in new]
            for what, rounds in ((f"{NEW} new clusters", new), (f"{AGAIN} of them again", again)):
                print(_row(what, str(parallelism), *_compared(rounds)))
            print(_row("memory", "", *(f"{each.resident_mib():.0f} MiB" for each in (ours, bare))))


@dataclass(frozen=True, slots=True)
class _Round:
    """The same clusters, first to the one and then to the other."""

    clusters: list[str]
    ours: Rate
    bare: Rate


@dataclass(frozen=True, slots=True)
class _Pair:
    servers: Servers
    ours: Consumer
    bare: Consumer

    async def run(self, clusters: list[str]) -> _Round:
        """The clusters of the bare probe have a name of their own: each consumer creates the objects of its own."""
        ours = await _run(self.servers, self.ours, clusters)
        bare = await _run(self.servers, self.bare, [f"p-{each}" for each in clusters])
        return _Round(clusters, ours, bare)


def _compared(rounds: list[_Round]) -> tuple[str, ...]:
    ours, bare = _together([each.ours for each in rounds]), _together([each.bare for each in rounds])
    ratios = [each.ours.cpu_ms / each.bare.cpu_ms for each in rounds]
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    return ours.shown(), bare.shown(), f"{ours.cpu_ms / bare.cpu_ms:.2f}", spread


def _row(what: str, *columns: str) -> str:
    widths = (7, 20, 20, 10, 14)
    return f"{what:<20}" + "".join(f" {each:>{width}}" for each, width in zip(columns, widths, strict=False))


async def _run(servers: Servers, consumer: Consumer, clusters: list[str]) -> Rate:
    began, cpu = clock(), consumer.cpu_seconds()
    await servers.publish(consumer.topic, clusters)
    seen = await servers.until_reported(clusters, since=began)
    ended = max(seen.statuses[each] for each in clusters)
    return Rate(len(clusters), ended - began, consumer.cpu_seconds() - cpu)


async def _latency(servers: Servers) -> None:
    ours_waited, bare_waited = [], []
    async with servers.dispatcher(TWO_OBJECTS) as ours, servers.probe() as bare:
        await _Pair(servers, ours, bare).run(_names(50))
        for _ in range(LATENCIES):
            ours_waited.append(await _wait(servers, ours))
            bare_waited.append(await _wait(servers, bare))
    print("\npublish to PUT on an idle system, new clusters")
    print(f"dispatcher {_percentiles(ours_waited)}; bare probe {_percentiles(bare_waited)}")


async def _wait(servers: Servers, consumer: Consumer) -> float:
    (cluster,) = _names(1)
    began = clock()
    await servers.publish(consumer.topic, [cluster])
    seen = await servers.until_reported([cluster], since=began)
    return seen.statuses[cluster] - began


async def _job_latency(servers: Servers) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": JOBS_NAMESPACE}}
    await servers.client.create(namespace)
    clusters, waits = _names(LATENCIES), []
    async with servers.dispatcher(JOB) as consumer:
        await _run(servers, consumer, clusters)
        for cluster in clusters:
            began = clock()
            await _set_available(servers, cluster)
            seen = await servers.until_reported([cluster], since=began)
            waits.append(seen.statuses[cluster] - began)
    print(f"condition on a Job to PUT: {_percentiles(waits)}")


async def _many_objects(servers: Servers) -> None:
    clusters = _names(ALIVE)
    async with servers.dispatcher(TWO_OBJECTS) as consumer:
        await _run(servers, consumer, clusters)
        before, began, oldest = await servers.seen(), consumer.resident_mib(), 0.0
        already_written = written(await _metrics(servers, consumer))
        for second in range(ALIVE_SECONDS):
            batch = clusters[second * ALIVE_RATE : (second + 1) * ALIVE_RATE]
            pause = asyncio.create_task(asyncio.sleep(1))
            await servers.publish(consumer.topic, batch)
            oldest = max(oldest, oldest_wake(await _metrics(servers, consumer)))
            await pause
        after, ended, events = await servers.seen(), consumer.resident_mib(), ALIVE_RATE * ALIVE_SECONDS
        writes = (written(await _metrics(servers, consumer)) - already_written) / events
    calls = {name: (count - before.requests.get(name, 0)) / events for name, count in after.requests.items()}
    shown = ", ".join(f"{count:.2f} {name}" for name, count in calls.items())
    print(f"\n{ALIVE} objects alive: {began:.0f} MiB, and {ended:.0f} MiB after {events} further events")
    print(f"an unchanged event costs {shown} of the HyperFleet API, and writes {writes:.2f} Kubernetes objects")
    print(f"oldest wake at {ALIVE_RATE}/s: {oldest:.2f} s")


async def _idle(servers: Servers) -> None:
    clusters = _names(WATCHED)
    async with servers.dispatcher(JOB) as consumer:
        await _run(servers, consumer, clusters)
        await asyncio.sleep(5)
        before = consumer.cpu_seconds()
        await asyncio.sleep(IDLE_SECONDS)
        used = consumer.cpu_seconds() - before
    print(f"idle with {WATCHED} watched Jobs: {used / IDLE_SECONDS:.2%} of a core")


async def _metrics(servers: Servers, consumer: Consumer) -> str:
    async with servers.http.get(f"http://127.0.0.1:{consumer.ports['metrics']}/metrics") as answer:
        return await answer.text()


def oldest_wake(metrics: str) -> float:
    found = re.search(r"^hyperfleet_adapter_queue_oldest_wake_seconds\{.*\} (\S+)$", metrics, re.MULTILINE)
    return float(found[1]) if found else 0.0


def written(metrics: str) -> float:
    """How many objects runs have created or changed."""
    counts = re.findall(r'^hyperfleet_adapter_applies_total\{.*operation="(\w+)".*\} (\S+)$', metrics, re.MULTILINE)
    return sum(float(count) for operation, count in counts if operation != "skip")


async def _set_available(servers: Servers, cluster: str) -> None:
    now = times.to_seconds(times.now())
    condition = {"type": "Available", "status": "True", "reason": "Done", "message": "", "lastTransitionTime": now}
    ref = ObjectRef(api_version="batch/v1", kind="Job", name=f"bench-{cluster}", namespace=JOBS_NAMESPACE)
    body = {"status": {"conditions": [condition]}}
    await servers.client.patch(ref, body, type_=PatchType.STRATEGIC, subresource="status")


def _names(count: int) -> list[str]:
    return [str(uuid.uuid4()) for _ in range(count)]


def _together(rates: list[Rate]) -> Rate:
    return Rate(
        events=sum(each.events for each in rates),
        seconds=sum(each.seconds for each in rates),
        cpu_seconds=sum(each.cpu_seconds for each in rates),
    )


def _percentiles(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    p99 = ordered[int(0.99 * (len(ordered) - 1))]
    return f"p50 {statistics.median(ordered) * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms"
