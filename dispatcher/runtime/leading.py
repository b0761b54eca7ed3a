"""The work that only one replica does, which is to watch. Its owner is the holder of a Lease."""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable

from dispatcher.observability.metrics import Metrics
from dispatcher.runtime.settings import RuntimeSettings
from shared import logs
from shared.kubernetes import KubernetesClient, Lease

_LONGEST_NAME = 253

log = logs.get(__name__)

Work = Callable[[], Awaitable[None]]


class Leadership:
    """`leads` says whether this process does the works now."""

    def __init__(self, works: Iterable[Work], metrics: Metrics) -> None:
        self._works = tuple(works)
        self._gauge = metrics.leader()
        self.leads = False

    async def lead_alone(self) -> None:
        """Without a Lease: there must be no other replica."""
        log.info("watching without a Lease: run one replica only")
        await self._lead()

    async def lead_by_lease(self, client: KubernetesClient, *, adapter: str, settings: RuntimeSettings) -> None:
        """For ever, whenever the Lease is ours; ends only with a defect of the works."""
        lease = Lease(
            client,
            name=lease_name(adapter),
            namespace=settings.lease_namespace or (await client.access()).namespace,
            identity=settings.identity or socket.gethostname(),
        )
        await lease.lead(self._lead)

    async def _lead(self) -> None:
        self._set(leads=True)
        try:
            async with asyncio.TaskGroup() as group:
                for work in self._works:
                    group.create_task(_run(work))
                await asyncio.get_running_loop().create_future()  # also where there is nothing to do
        finally:
            self._set(leads=False)

    def _set(self, *, leads: bool) -> None:
        self.leads = leads
        self._gauge.set(int(leads))


async def _run(work: Work) -> None:
    await work()


def lease_name(adapter: str) -> str:
    """A name of Kubernetes that only this adapter has."""
    plain = re.sub(r"[^a-z0-9.-]+", "-", adapter.lower()).strip("-.")
    return f"hyperfleet-adapter-{plain}"[:_LONGEST_NAME].rstrip("-.")
