"""The operator is killed with -9 after every single write, and converges all the same, with nothing doubled."""

import asyncio
import contextlib
import multiprocessing
import signal
from collections.abc import Awaitable
from multiprocessing.context import ForkServerProcess

from shared.kubernetes import ObjectRef
from tests.e2e.bridge.conftest import Clusters
from tests.e2e.bridge.test_story import left
from tests.support.bridge_lab import BridgeLab, has
from tests.support.dying_operator import live_and_die

DEADLINE = 400.0
# Processes start from one that has imported everything already.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.support.dying_operator"])


async def keep_restarting(clusters: Clusters, deaths: list[int | None]) -> None:
    """Runs until it is cancelled; `deaths` are the exit codes of the processes."""
    environment = {
        "BRIDGE_KUBECONFIG": str(clusters.management.kubeconfig),
        "HEALTH_PORT": "0",
        "METRICS_PORT": "0",
    }
    while True:
        process = FORKS.Process(target=live_and_die, args=(environment,), daemon=True)
        process.start()
        try:
            await end_of(process)
            deaths.append(process.exitcode)
        finally:
            process.kill()
            process.join()


async def end_of(process: ForkServerProcess) -> None:
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(process.sentinel, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(process.sentinel)


async def while_dying(clusters: Clusters, reached: Awaitable[object]) -> int:
    """How often the operator was killed until something was reached."""
    deaths: list[int | None] = []
    restarting = asyncio.create_task(keep_restarting(clusters, deaths))
    try:
        await reached
    finally:
        restarting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await restarting
    assert set(deaths) == {-signal.SIGKILL}
    return len(deaths)


async def test_it_converges_however_often_it_is_killed(clusters: Clusters, lab: BridgeLab) -> None:
    async with asyncio.timeout(DEADLINE):
        await lab.create_dpu_cluster()
        await lab.create_bridge()
        key = lab.ref("v1", "Secret", "dpu-etcd-encryption-key")
        made: dict[str, str] = {}

        async def note_the_first() -> None:
            made["key"] = (await lab.until(key, lambda _: True))["data"]["key"]
            made["infra"] = (await lab.until(lab.hosted_cluster(), lambda _: True))["spec"]["infraID"]

        noting = asyncio.create_task(note_the_first())
        # The finalizer, the claim, eight objects, the kubeconfig, its reference, and statuses.
        assert await while_dying(clusters, lab.until(lab.bridge(), has("Ready"))) >= 12
        await noting
        assert (await lab.client.get(key))["data"]["key"] == made["key"]
        assert (await lab.client.get(lab.hosted_cluster()))["spec"]["infraID"] == made["infra"]
        reference = (await lab.client.get(lab.dpu_cluster()))["spec"]["kubeconfig"]
        await lab.client.get(ObjectRef(api_version="v1", kind="Secret", namespace=lab.dpf, name=reference))

        await lab.client.delete(lab.bridge())
        assert await while_dying(clusters, lab.until_gone(lab.bridge())) >= 10
        assert await left(lab) == []
