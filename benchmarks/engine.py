"""The engine alone: runs per second on one core over ports that answer from memory.

The adapter is the corpus's Namespace and ConfigMap: four params, a precondition with a call and captures, two resources
and a status of three conditions. The budget is 2,500 runs a second for events of clusters that are there already, which
is nearly all of them. The best of many batches counts, each short enough for one slice of the scheduler: on a machine
that others use, a process that is interrupted finds its caches cold, and CPU time stretches.
Printed beside it: runs that create and runs that update, the share of the languages, memory that a run leaves behind,
and how long a configuration of some hundred resources takes to load.
"""

import asyncio
import cProfile
import json
import pstats
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dispatcher.config.loading import load
from dispatcher.engine.engine import Engine
from dispatcher.engine.ports import ApiRequest, ApiResponse, Object, Ports, Query
from dispatcher.engine.runs import Event, RunRequest, Status

CORPUS = Path(__file__).parents[1] / "tests" / "conformance" / "adapters"
ADAPTER = CORPUS / "namespace-and-configmap"
BUDGET = 2_500
RUNS, BATCH, CLUSTERS = 8_000, 20, 500
RESOURCES = 300


class Api:
    """One cluster that is not reconciled; every status is stored."""

    def __init__(self) -> None:
        conditions = [{"type": "Reconciled", "status": "False", "observed_generation": 5}]
        cluster = {"id": "c", "name": "my-cluster", "generation": 5, "spec": {}, "status": {"conditions": conditions}}
        self._cluster = json.dumps(cluster).encode()

    async def send(self, request: ApiRequest) -> ApiResponse:
        body = self._cluster if request.method == "GET" else b"{}"
        return ApiResponse(status=200, body=body, url=request.url)


class Cluster:
    """Objects by kind and name, as a transport keeps them."""

    def __init__(self) -> None:
        self._objects: dict[tuple[str, str], Object] = {}

    async def find(self, query: Query) -> list[Object]:
        found = self._objects.get((query.kind, query.name))
        return [] if found is None else [found]

    async def create(self, manifest: Object, **_: Any) -> Object:
        self._objects[manifest["kind"], manifest["metadata"]["name"]] = manifest
        return manifest

    async def update(self, manifest: Object, *_: Any, **__: Any) -> Object:
        return await self.create(manifest)

    async def delete(self, *_: Any, **__: Any) -> Object | None:
        raise NotImplementedError

    async def wait_gone(self, *_: Any, **__: Any) -> bool:
        raise NotImplementedError

    async def differs(self, *_: Any, **__: Any) -> bool:
        raise NotImplementedError


class NoSecrets:
    async def read(self, kind: Any, namespace: str, name: str, key: str) -> str:
        raise NotImplementedError


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def engine() -> Engine:
    environment: Mapping[str, str] = {"REGION": "us-east-1", "PATH": "/usr/bin"}
    loaded = load(ADAPTER / "adapter-config.yaml", ADAPTER / "task-config.yaml", environment=environment)
    ports = Ports(
        api=Api(),
        transports={"kubernetes": Cluster()},
        secrets=NoSecrets(),
        clock=SystemClock(),
        environment=environment,
    )
    return Engine(loaded.adapter, ports)


def requests(generation: int, count: int) -> list[RunRequest]:
    return [
        RunRequest(
            event=Event(
                id=str(number),
                type="com.redhat.hyperfleet.cluster.reconcile",
                source="hyperfleet-sentinel",
                data={"id": f"c{number % CLUSTERS}", "kind": "Cluster", "href": "/c", "generation": generation},
            )
        )
        for number in range(count)
    ]


def batches(generation: int) -> Iterator[list[RunRequest]]:
    """Every cluster once."""
    asked = requests(generation, CLUSTERS)
    return (asked[start : start + BATCH] for start in range(0, CLUSTERS, BATCH))


async def run_all(engine: Engine, asked: list[RunRequest]) -> float:
    """Runs in a second of CPU."""
    started = time.process_time()
    for request in asked:
        result = await engine.run(request)
        assert result.status is Status.SUCCESS, result.errors
    return len(asked) / (time.process_time() - started)


async def measure() -> float:
    running = engine()
    created = [await run_all(running, batch) for batch in batches(5)]
    unchanged = [await run_all(running, requests(5, BATCH)) for _ in range(RUNS // BATCH)]
    updated = [await run_all(running, batch) for generation in range(6, 10) for batch in batches(generation)]
    print(f"{'best':>8} {'median':>8}  runs in a second of CPU")
    for rates, what in (
        (unchanged, "nothing to do"),
        (created, "two objects created"),
        (updated, "two objects updated"),
    ):
        print(f"{max(rates):8.0f} {statistics.median(rates):8.0f}  {what}")
    return max(unchanged)


async def memory() -> None:
    running = engine()
    await run_all(running, requests(5, CLUSTERS))
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    await run_all(running, requests(5, RUNS))
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(
        f"\nmemory: {(after - before) / RUNS:.0f} bytes left behind by a run, {(peak - before) / 1024:.0f} KiB at most"
    )


async def shares() -> None:
    running = engine()
    await run_all(running, requests(5, CLUSTERS))
    profile = cProfile.Profile()
    profile.enable()
    await run_all(running, requests(5, 1_000))
    profile.disable()
    stats = pstats.Stats(profile).get_stats_profile().func_profiles
    total = sum(each.tottime for each in stats.values())
    languages = sum(each.tottime for each in stats.values() if "/languages/" in each.file_name)
    print(f"share of the languages in a run: {languages / total:.0%} (under a profiler, which favours neither)")


def loading() -> None:
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "task-config.yaml"
        text = (ADAPTER / "task-config.yaml").read_text()
        start, end = text.index("  - name: clusterConfig"), text.index("post:\n")
        block = text[start:end]
        many = "".join(
            block.replace("clusterConfig", f"config{n}").replace("-config", f"-{n}") for n in range(RESOURCES)
        )
        task.write_text(text[:end] + many + text[end:])
        started = time.process_time()
        loaded = load(ADAPTER / "adapter-config.yaml", task, environment={})
        seconds = time.process_time() - started
    print(f"load and check {len(loaded.adapter.resources)} resources: {seconds:.2f} s, budget 2 s")


def main() -> None:
    print("\nThe engine with ports in memory\n")
    rate = asyncio.run(measure())
    asyncio.run(memory())
    asyncio.run(shares())
    loading()
    print(f"\n{rate:.0f} runs/s, {'within' if rate >= BUDGET else 'OVER'} the budget of {BUDGET} runs/s")


if __name__ == "__main__":
    main()
