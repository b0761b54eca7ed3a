"""What is asked of a dispatcher over a long time: crashes, shutdowns, very many events. The gate and `make soak` differ
in size only.
"""

import asyncio
import copy
import os
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from lab.api.rules.values import Resource
from lab.sentinel import LabSentinel, Sentinel
from tests.support.dispatcher import SOON, DispatcherProcess, JobWorker, LabSystem, System
from tests.support.small_adapter import TASK, TOPIC

SOAK = bool(os.environ.get("SOAK"))
LONG = 3600.0 if SOAK else 600.0
CLUSTERS = 500 if SOAK else 20
KILLS = 20 if SOAK else 5
TERMINATIONS = 50 if SOAK else 10
EVENTS = 20_000 if SOAK else 1_000
WARM_UP = 2_000 if SOAK else 300
CUT_SECONDS = 10.0
AT_ONCE = 16
_CLUSTER = r"/clusters/[^/]+$"


async def survive_crashes(system: System, *, seed: int) -> None:
    """Kill the dispatcher at random while events flow, once with the broker, once with the API server."""
    chance = random.Random(seed)
    clusters = [system.api.add_cluster(f"crash-{number}") for number in range(CLUSTERS)]
    settings = Sentinel(
        api_url=system.api.url,
        topic=TOPIC,
        poll_interval=timedelta(seconds=0.3),
        debounce=timedelta(seconds=0.5),
        stale=timedelta(seconds=20),
        page_size=100,
    )
    dispatcher = system.dispatcher()
    async with (
        LabSentinel(settings, system.broker.publisher()),
        JobWorker(system.client, delay=lambda: chance.uniform(0, 0.3)) as worker,
        dispatcher,
    ):
        for turn in range(KILLS):
            await _some_requests(system, chance)
            for cluster in chance.sample(clusters, k=len(clusters) // 5):
                system.api.store.patch(system.api.store.get(cluster.id), spec={"turn": turn})
            await _some_requests(system, chance)
            if turn == 1:
                await system.broker.kill()
                await dispatcher.kill()
                await system.broker.start()
            elif turn == 2:
                await system.kubernetes.kill()
                await asyncio.sleep(CUT_SECONDS)
                await dispatcher.kill()
                await system.kubernetes.start()
            else:
                await dispatcher.kill()
            await dispatcher.start()
        await system.until(
            lambda: all(_is_settled(system, cluster) for cluster in clusters),
            "all clusters are available",
            timeout=LONG,
        )
        await dispatcher.terminate()  # what it still had to say is said
    assert worker.doubled() == [], "one Job was created for each generation"
    for cluster in clusters:
        _require_newest_report(system, cluster)


async def survive_shutdowns(system: System, *, seed: int) -> None:
    """Replace the dispatcher by a new one while as many runs as may are in flight, as a rolling update does."""
    chance = random.Random(seed)
    # Either dispatcher gets half of them, and has a full house until as many again have been reported.
    clusters = [system.api.add_cluster(f"shutdown-{number}") for number in range(4 * AT_ONCE)]
    task, journal = status_only_task(), system.api.journal
    running, in_flight = system.dispatcher(task=task), []
    sent: Counter[tuple[int, str]] = Counter()
    await running.start()
    await running.serving()
    for turn in range(TERMINATIONS):
        successor = system.dispatcher(task=task)
        await successor.start()
        await successor.serving()
        sent += _sent(system)
        journal.entries.clear()
        system.api.faults.clear()
        answered = system.api.faults.hold(method="GET", path=_CLUSTER, times=0)
        for cluster in clusters:
            await system.publish(cluster, turn=turn)
        await system.until(lambda: len(journal.entries) >= 2 * AT_ONCE, "as many run as may")
        system.api.faults.clear()
        system.api.faults.delay(0.05, method="GET", path=_CLUSTER, times=0)
        answered.set()
        reached = chance.randint(0, AT_ONCE)
        await system.until(lambda: _sent(system).total() >= reached, "some are reported")  # noqa: B023
        assert await running.terminate() == 0
        in_flight.append(next(line["running"] for line in running.lines if line.get("msg") == "shutting down"))
        running = successor
        await system.until(lambda: len(_sent(system)) == len(clusters), "no event is lost", timeout=LONG)
    await running.terminate()
    assert max(in_flight) == AT_ONCE, f"so many runs were in flight: {in_flight}"
    sent += _sent(system)
    assert sent == Counter({(turn, cluster.id): 1 for turn in range(TERMINATIONS) for cluster in clusters})


async def stay_small(system: LabSystem) -> None:
    """Handle very many events: memory, files and tasks do not grow."""
    clusters = [system.api.add_cluster(f"leak-{number}") for number in range(50)]
    async with system.dispatcher() as dispatcher, JobWorker(system.client):
        await dispatcher.serving()
        await _handle(system, clusters, WARM_UP)
        await system.until(lambda: all(_is_settled(system, cluster) for cluster in clusters), "all are available")
        before = await _usage(dispatcher)
        await _handle(system, clusters, EVENTS)
        after = await _usage_once(
            dispatcher, lambda used: used.files <= before.files + 2 and used.tasks <= before.tasks + 2
        )
    assert after.resident_kib <= before.resident_kib * 1.1, (before, after)


def status_only_task() -> dict[str, Any]:
    """An adapter that reports every event, with the turn the event was published in."""
    task = copy.deepcopy(TASK)
    del task["resources"]
    task["params"].append({"name": "turn", "source": "event.turn", "required": True})
    build = task["post"]["payloads"][0]["build"]
    build["data"] = {"turn": {"expression": "turn"}}
    return task


@dataclass(frozen=True, kw_only=True)
class Usage:
    resident_kib: int
    files: int
    tasks: int


async def _usage(dispatcher: DispatcherProcess) -> Usage:
    found = re.search(r"^hyperfleet_adapter_tasks\{.*\} ([0-9.e+]+)$", await dispatcher.metrics(), re.MULTILINE)
    assert found is not None
    return Usage(resident_kib=dispatcher.resident_kib(), files=dispatcher.open_files(), tasks=int(float(found[1])))


async def _usage_once(dispatcher: DispatcherProcess, small: Callable[[Usage], bool]) -> Usage:
    """The usage, once it is small: connections stay open for some seconds after their last request."""
    used = await _usage(dispatcher)
    try:
        async with asyncio.timeout(SOON):
            while not small(used):
                await asyncio.sleep(0.5)
                used = await _usage(dispatcher)
    except TimeoutError:
        raise AssertionError(f"it stays at {used}") from None
    return used


async def _handle(system: LabSystem, clusters: list[Resource], events: int) -> None:
    for start in range(0, events, len(clusters)):
        for cluster in clusters[: events - start]:
            await system.publish(cluster)
        await system.broker.until_consumed()


async def _some_requests(system: System, chance: random.Random) -> None:
    for _ in range(chance.randint(1, 2 * CLUSTERS)):
        await system.api.journal.change()


def _is_settled(system: System, cluster: Resource) -> bool:
    return system.available(cluster) == (system.api.store.get(cluster.id).generation, "True")


def _require_newest_report(system: System, cluster: Resource) -> None:
    reports = [(each["observed_generation"], each["observed_time"]) for each in system.stored_reports(cluster)]
    status = system.status(cluster)
    assert status is not None
    assert _is_settled(system, cluster), f"an older state was left for {cluster.id}"
    assert reports[-1] == max(reports), f"a status older than the newest was stored for {cluster.id}"
    assert status.observed_generation == reports[-1][0]


def _sent(system: System) -> Counter[tuple[int, str]]:
    """How often each turn's status of each cluster was sent, whatever the answer."""
    entries = [seen for seen in system.api.journal.entries if seen.method == "PUT"]
    return Counter((seen.json["data"]["turn"], seen.path.split("/")[-2]) for seen in entries)
