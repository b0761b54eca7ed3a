"""Two dispatchers on one subscription, one of them with a clock that is ahead."""

import asyncio

from lab.api.rules.values import Resource
from tests.support.dispatcher import DispatcherProcess, JobWorker, System, available_in

CLOCK_AHEAD = 2.0
TURNS = 3
# Less than any pod takes to start, and less than the clock is ahead.
POD_SECONDS = 1.5


async def compare_replicas(system: System, *, clusters: int) -> None:
    """Two replicas send hardly more statuses than one, and no cluster goes back to an older state."""
    alone = [system.api.add_cluster(f"alone-{number}") for number in range(clusters)]

    async with JobWorker(system.client, delay=lambda: POD_SECONDS), system.dispatcher(POD_NAME="one") as one:
        await one.serving()
        await _run_turns(system, alone)
        by_one = _reports(system, alone)
        async with system.dispatcher(POD_NAME="two", clock_ahead=CLOCK_AHEAD) as two:
            await two.serving()
            together = [system.api.add_cluster(f"together-{number}") for number in range(clusters)]
            await _run_turns(system, together)
    by_two = _reports(system, together)
    assert by_two <= 1.2 * by_one, f"{by_two} statuses of two replicas, {by_one} of one"
    for cluster in together:
        _require_no_return(system, cluster)


async def take_over(system: System) -> None:
    """The replica that is left watches after the other was killed."""
    cluster = system.api.add_cluster("take-over")
    async with system.dispatcher(POD_NAME="one") as one, system.dispatcher(POD_NAME="two") as two:
        first, second = await _by_role(one, two)
        await system.publish(cluster)
        await system.until(lambda: system.available(cluster) == (1, "False"), "the Job runs")
        await first.kill()
        async with JobWorker(system.client):
            await system.until(lambda: system.available(cluster) == (1, "True"), "the other replica reports the Job")
        await second.leading()


async def _by_role(one: DispatcherProcess, two: DispatcherProcess) -> tuple[DispatcherProcess, DispatcherProcess]:
    """The one that leads, and the other."""
    await one.serving()
    await two.serving()
    leading = [asyncio.create_task(each.leading()) for each in (one, two)]
    await asyncio.wait(leading, return_when=asyncio.FIRST_COMPLETED)
    first = one if leading[0].done() else two
    for task in leading:
        task.cancel()
    await asyncio.gather(*leading, return_exceptions=True)
    return (one, two) if first is one else (two, one)


async def _run_turns(system: System, clusters: list[Resource]) -> None:
    for turn in range(TURNS):
        if turn:
            for cluster in clusters:
                system.api.store.patch(system.api.store.get(cluster.id), spec={"turn": turn})
        for cluster in clusters:
            await system.publish(cluster)
        await system.until(lambda: all(_is_settled(system, cluster) for cluster in clusters), "all are available")
        await asyncio.sleep(0)


def _is_settled(system: System, cluster: Resource) -> bool:
    return system.available(cluster) == (system.api.store.get(cluster.id).generation, "True")


def _reports(system: System, clusters: list[Resource]) -> int:
    """How many statuses were sent, stored or not."""
    ids = {cluster.id for cluster in clusters}
    return sum(seen.method == "PUT" and not ids.isdisjoint(seen.path.split("/")) for seen in system.api.journal.entries)


def _require_no_return(system: System, cluster: Resource) -> None:
    """Generations never go back, and a generation that is Available stays so."""
    states = [(each["observed_generation"], available_in(each)) for each in system.stored_reports(cluster)]
    assert states == sorted(states), f"{cluster.id} went back: {states}"
