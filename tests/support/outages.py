"""The components of the installed system that can be killed, and how each comes back."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from lab.real.cluster.cluster import Cluster
from lab.real.cluster.maestro import ClusterMaestro
from lab.real.installed.release import CONTROL_PLANE
from lab.real.installed.services import Services
from tests.support.cluster import JobNamespace, Refused

DISPATCHERS = f"--selector=app.kubernetes.io/instance={CONTROL_PLANE}"
RUNNING = "--field-selector=status.phase=Running"
# A cluster is looked at more often than this in a soak; without clusters there are no pods.
NO_POD_SECONDS = 30.0

# It lasts as long as the process: a server dies with the thread that started it.
_THREAD = ThreadPoolExecutor(max_workers=1, thread_name_prefix="servers")

Action = Callable[[], Awaitable[object]]


async def _by_itself() -> None:
    """Kubernetes replaces what was deleted."""


@dataclass(frozen=True, slots=True)
class Component:
    kill: Action
    start: Action = _by_itself

    async def restart(self) -> None:
        await self.kill()
        await self.start()


def servers(cluster: Cluster, services: Services, maestro: ClusterMaestro) -> dict[str, Component]:
    """The agent is started anew with Maestro, as the real one takes minutes to subscribe again."""

    def kill_maestro() -> None:
        maestro.agent.kill()
        maestro.server.kill()

    def start_maestro() -> None:
        maestro.server.start()
        maestro.agent.start()

    control_plane = cluster.control_plane
    return {
        "RabbitMQ": _server(services.broker.kill, services.broker.start),
        "HyperFleet API": _server(services.api.kill, services.api.start),
        "Kubernetes API server": _server(control_plane.kill_api_server, control_plane.start_api_server),
        "Maestro and its agent": _server(kill_maestro, start_maestro),
        "Maestro's agent": _server(maestro.agent.kill, maestro.agent.start),
    }


def pods(system: JobNamespace, jobs: JobNamespace, *, no_pod_seconds: float = NO_POD_SECONDS) -> dict[str, Component]:
    """Pods of Jobs are waited for, so that one is killed at work; Refused where there is none."""

    async def kill_dispatchers() -> None:
        if not await _delete_pods(system, DISPATCHERS, "--grace-period=0", "--force"):
            raise Refused("no dispatcher runs")

    async def kill_jobs() -> None:
        clock = asyncio.get_running_loop().time
        deadline = clock() + no_pod_seconds
        while True:
            try:
                await jobs.first(lambda _: True, "pods", RUNNING, within=deadline - clock())
            except TimeoutError:
                raise Refused("no pod of a Job runs") from None
            if await _delete_pods(jobs, RUNNING, "--wait=false"):
                return

    return {"dispatcher": Component(kill_dispatchers), "pods of Jobs": Component(kill_jobs)}


async def _delete_pods(namespace: JobNamespace, *options: str) -> bool:
    """Whether there were any: kubectl is content when a pod has ended meanwhile."""
    return " deleted" in await namespace.kubectl("delete", "pods", *options)


def _server(kill: Callable[[], None], start: Callable[[], None]) -> Component:
    return Component(lambda: _in_thread(kill), lambda: _in_thread(start))


async def _in_thread(action: Callable[[], None]) -> None:
    await asyncio.get_running_loop().run_in_executor(_THREAD, action)


async def dispatchers(system: JobNamespace) -> list[str]:
    """The names of the pods that are not being deleted."""
    listed = (await system.kubectl.get("pods", DISPATCHERS))["items"]
    return [each["metadata"]["name"] for each in listed if "deletionTimestamp" not in each["metadata"]]
