"""How a dispatcher stops."""

import signal

from dispatcher.runtime.leading import lease_name
from shared.kubernetes import ObjectRef
from tests.support.dispatcher import LabSystem
from tests.support.endurance import status_only_task
from tests.support.small_adapter import ADAPTER, NAMESPACE, TOPIC


async def test_running_work_is_finished_and_what_has_not_begun_goes_back_to_the_broker(system: LabSystem) -> None:
    clusters = [system.api.add_cluster(f"c-{number}") for number in range(20)]
    answered = system.api.faults.hold(method="GET", times=0)
    async with system.dispatcher(task=status_only_task()) as dispatcher:
        await dispatcher.serving()
        for cluster in clusters:
            await system.publish(cluster, turn=0)
        await system.broker.until_held(20)
        await system.until(lambda: _running(system) == 16, "as many run as may")
        dispatcher.signal(signal.SIGTERM)
        await system.broker.until_waiting(4)
        answered.set()
        assert await dispatcher.ended() == 0
    reported = sum(system.status(cluster) is not None for cluster in clusters)
    assert reported == 16
    assert system.broker.server.waiting(TOPIC, ADAPTER) == 4


async def test_the_lease_is_the_pods_for_10_s_and_is_given_back_at_the_end(system: LabSystem) -> None:
    ref = ObjectRef(api_version="coordination.k8s.io/v1", kind="Lease", name=lease_name(ADAPTER), namespace=NAMESPACE)
    holders: list[str] = []
    while "" not in holders and len(holders) < 3:  # a machine that stalls outlasts the 3 s that it has for that
        async with system.dispatcher(POD_NAME="small-0") as dispatcher:
            await dispatcher.leading()
            held = (await system.client.get(ref))["spec"]
            assert (held["holderIdentity"], held["leaseDurationSeconds"]) == ("small-0", 10)
            assert await dispatcher.terminate() == 0
        holders.append((await system.client.get(ref))["spec"]["holderIdentity"])
    assert "" in holders


async def test_a_second_signal_ends_it_at_once(system: LabSystem) -> None:
    cluster = system.api.add_cluster("one")
    system.api.faults.hang(method="GET", times=0)
    async with system.dispatcher() as dispatcher:
        await dispatcher.serving()
        await system.publish(cluster)
        await system.until(lambda: _running(system) == 1, "it runs")
        dispatcher.signal(signal.SIGTERM)
        await dispatcher.until_line(lambda line: line["msg"] == "shutting down")
        dispatcher.signal(signal.SIGTERM)
        assert await dispatcher.ended() == 1
    await system.broker.until_waiting()


async def test_after_the_grace_period_messages_of_unfinished_runs_go_back(system: LabSystem) -> None:
    cluster = system.api.add_cluster("one")
    system.api.faults.hang(method="GET", times=0)
    async with system.dispatcher(HYPERFLEET_SHUTDOWN_GRACE="200ms") as dispatcher:
        await dispatcher.serving()
        await system.publish(cluster)
        await system.until(lambda: _running(system) == 1, "it runs")
        assert await dispatcher.terminate() == 0
    await system.broker.until_waiting()


async def test_a_configuration_that_cannot_serve_is_refused_before_anything_runs(system: LabSystem) -> None:
    async with system.dispatcher(HYPERFLEET_RUN_DEADLINE="soon", HYPERFLEET_HEALTH_PORT="-1") as dispatcher:
        assert await dispatcher.ended() == 2
    (line,) = [each["msg"] for each in dispatcher.lines if "HYPERFLEET" in each["msg"]]
    assert "HYPERFLEET_RUN_DEADLINE" in line
    assert "HYPERFLEET_HEALTH_PORT" in line


def _running(system: LabSystem) -> int:
    """How many runs have asked for their cluster and wait for the answer."""
    return len({seen.path for seen in system.api.journal.entries if seen.method == "GET"})
