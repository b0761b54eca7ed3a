"""Many clusters are created, updated and deleted while one component after another is killed; what was seen is kept."""

import asyncio
import contextlib
import random
import time
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import TypeVar

import httpx

from lab.hypershift.operator import Operator
from lab.real.cluster.maestro import ClusterMaestro
from tests.support.adapter import SPEC
from tests.support.cluster import Refused
from tests.support.hyperfleet_api import BASE
from tests.support.installed import NEW_VERSION, Clusters, Document, Status
from tests.support.outages import Component

CHANGES = ("created", "updated", "deleted")
# How many live at a time: a tenth of all, so that a soak of many clusters ends within the hour.
MIN_AT_ONCE, AT_ONCE_SHARE = 8, 10
# A cluster that takes longer has been lost.
LOST_SECONDS = 1200.0
OUTAGE_SECONDS = (2.0, 6.0)
CALM_SECONDS = (8.0, 16.0)
_POLL_SECONDS = 1.0

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Span:
    """Something that lasted, in seconds since the beginning."""

    name: str
    began: float
    ended: float

    @property
    def seconds(self) -> float:
        return self.ended - self.began


@dataclass(slots=True)
class Record:
    """What was seen. `changes` has three spans for each cluster, from the change on the API to its last report."""

    changes: dict[str, list[Span]] = field(default_factory=lambda: defaultdict(list))
    outages: list[Span] = field(default_factory=list)
    lost: dict[str, str] = field(default_factory=dict)
    works: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    hosted_clusters: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _began: float = field(default_factory=time.monotonic)

    @property
    def now(self) -> float:
        return time.monotonic() - self._began

    @property
    def duplicates(self) -> list[str]:
        """Clusters that had a second work or a second HostedCluster."""
        return sorted(
            {name for seen in (self.works, self.hosted_clusters) for name, uids in seen.items() if len(uids) > 1}
        )


class Soak:
    """`progress` gets a line after each tenth of the clusters."""

    def __init__(
        self,
        clusters: Clusters,
        components: Mapping[str, Component],
        count: int,
        *,
        seed: int,
        progress: Callable[[str], None],
    ) -> None:
        self.record = Record()
        self._progress, self._ended = progress, 0
        self._clusters, self._components = clusters, components
        self._random = random.Random(seed)
        self._names = [f"s-{uuid.uuid4().hex[:12]}" for _ in range(count)]
        self._places = asyncio.Semaphore(max(MIN_AT_ONCE, count // AT_ONCE_SHARE))
        self._all_killed = asyncio.Event()

    async def run(self, operator: Operator, maestro: ClusterMaestro) -> None:
        async with self._observed(operator, maestro), self._in_trouble(), asyncio.TaskGroup() as group:
            for name in self._names:
                group.create_task(self._live(name))

    async def _live(self, name: str) -> None:
        async with self._places:
            try:
                async with asyncio.timeout(LOST_SECONDS):
                    cluster = await self._create(name)
                    await self._change(name, "updated", cluster, self._update, lambda seen: seen.is_upgraded)
                    if name == self._names[-1]:  # a quick run must not end before every component was killed
                        await self._all_killed.wait()
                    await self._delete(name, cluster)
            except TimeoutError:
                self.record.lost[name] = f"not {CHANGES[len(self.record.changes.get(name, ()))]}"
            self._ended += 1
            if self._ended % max(1, len(self._names) // 10) == 0:
                count, lost = f"{self._ended} of {len(self._names)}", len(self.record.lost)
                self._progress(f"{self.record.now:6.0f} s  {count} clusters have ended, {lost} lost")

    async def _create(self, name: str) -> Document:
        began = self.record.now
        cluster = await _insist(lambda: self._created(name))
        await self._until(cluster, lambda seen: seen.is_available(1))
        self._note(name, "created", began)
        return cluster

    async def _created(self, name: str) -> Document:
        """One that was stored although nobody heard so is found by its name."""
        body = {"kind": "Cluster", "name": name, "spec": SPEC}
        answer = await self._clusters.api.http.post(f"{BASE}/clusters", json=body)
        if answer.status_code == httpx.codes.CONFLICT:
            listed = await self._clusters.api.get("/clusters", search=f"name = '{name}'")
            found: Document = listed["items"][0]
            return found
        created: Document = answer.raise_for_status().json()
        return created

    async def _change(
        self,
        name: str,
        what: str,
        cluster: Document,
        change: Callable[[Document], Awaitable[None]],
        reached: Callable[[Status], bool],
    ) -> None:
        began = self.record.now
        await _insist(lambda: change(cluster))
        await self._until(cluster, reached)
        self._note(name, what, began)

    async def _update(self, cluster: Document) -> None:
        spec = {**SPEC, "openshift_version": NEW_VERSION}
        (await self._clusters.api.http.patch(cluster["href"], json={"spec": spec})).raise_for_status()

    async def _delete(self, name: str, cluster: Document) -> None:
        began = self.record.now
        await _insist(lambda: self._deleted(cluster))
        while not await _insist(lambda: self._clusters.api.is_gone(cluster)):  # noqa: ASYNC110 - the API has no events
            await asyncio.sleep(_POLL_SECONDS)
        self._note(name, "deleted", began)

    async def _deleted(self, cluster: Document) -> None:
        answer = await self._clusters.api.http.delete(cluster["href"])
        if answer.status_code != httpx.codes.NOT_FOUND:
            answer.raise_for_status()

    async def _until(self, cluster: Document, reached: Callable[[Status], bool]) -> None:
        while not reached(await _insist(lambda: self._clusters.status(cluster))):  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)

    def _note(self, name: str, what: str, began: float) -> None:
        self.record.changes[name].append(Span(what, began, self.record.now))

    @contextlib.asynccontextmanager
    async def _in_trouble(self) -> AsyncIterator[None]:
        """Meanwhile, one component after another is killed. At the end all are up; one that does not come back ends the soak."""
        over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._kill_in_turn(over))
            try:
                yield
            finally:
                over.set()

    async def _kill_in_turn(self, over: asyncio.Event) -> None:
        while not over.is_set():
            for name, component in self._components.items():
                await _pause(over, self._random.uniform(*CALM_SECONDS))
                if over.is_set():
                    return
                with contextlib.suppress(Refused):  # no such pod at the moment, or the API server is not ready yet
                    await self._kill(name, component)

    async def _kill(self, name: str, component: Component) -> None:
        await component.kill()
        began = self.record.now  # not before: a pod to kill is waited for
        await asyncio.sleep(self._random.uniform(*OUTAGE_SECONDS))
        await component.start()
        self.record.outages.append(Span(name, began, self.record.now))
        if {outage.name for outage in self.record.outages} == set(self._components):
            self._all_killed.set()

    @contextlib.asynccontextmanager
    async def _observed(self, operator: Operator, maestro: ClusterMaestro) -> AsyncIterator[None]:
        """Meanwhile, every work and every HostedCluster of a cluster is counted by its identity."""

        async def observe() -> None:
            while True:
                for (_, name), found in list(operator.clusters.items()):
                    self.record.hosted_clusters[name].add(found["metadata"]["uid"])
                with contextlib.suppress(
                    OSError, HTTPException, ValueError
                ):  # Maestro is away, or was killed meanwhile
                    for work in await asyncio.to_thread(maestro.works):
                        self.record.works[work["manifests"][0]["metadata"]["name"]].add(work["id"])
                await asyncio.sleep(_POLL_SECONDS)

        task = asyncio.create_task(observe())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def _pause(over: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await over.wait()


async def _insist(call: Callable[[], Awaitable[Answer]]) -> Answer:
    """Again and again while the API is away."""
    while True:
        with contextlib.suppress(httpx.TransportError):
            try:
                return await call()
            except httpx.HTTPStatusError as error:
                if not error.response.is_server_error:
                    raise
        await asyncio.sleep(_POLL_SECONDS)
