"""HyperShift on a simulated management cluster: it plays the sequences on the HostedClusters that a work agent holds.

`Operator` does the same on an API server. Here the objects live in the agent's memory, and each new status is reported
through it.
"""

import asyncio
import contextlib
import uuid
from collections import defaultdict
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from lab.hypershift.sequences import Json, Script, next_step, preparation, written
from lab.maestro.agent import Agent
from shared import times

KIND = "HostedCluster"
NODE_POOL = "NodePool"
# Seconds that machines take to become nodes.
_NODES_TAKE = 240.0

Key = tuple[str, str]


class HyperShiftOnAgent:
    """Reconciles every HostedCluster of one agent, `speed` times as fast as the real operator."""

    def __init__(self, agent: Agent, *, speed: float = 1.0) -> None:
        self.clusters: dict[Key, Json] = {}
        self._agent, self._speed = agent, speed
        self._scripts: dict[Key, Script] = {}
        self._changed: defaultdict[Key, asyncio.Event] = defaultdict(asyncio.Event)
        self._pools: set[Key] = set()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run(), name=f"hypershift-{self._agent.consumer}")
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    def play(self, namespace: str, name: str, script: Script) -> None:
        """What happens to one cluster from now on."""
        self._scripts[namespace, name] = script
        self._changed[namespace, name].set()

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                self._agent.works_changed.clear()
                self._take_node_pools(group)
                self._take_clusters(group)
                await self._agent.works_changed.wait()

    def _take_clusters(self, group: asyncio.TaskGroup) -> None:
        held = dict(self._held(KIND))
        for key in self.clusters.keys() - held.keys():
            del self.clusters[key]
            self._changed[key].set()
        for key, manifest in held.items():
            before = self.clusters.get(key)
            updated = _updated(before, manifest)
            if updated == before:
                continue
            self.clusters[key] = updated
            self._changed[key].set()
            if before is None:
                group.create_task(self._reconcile(key, updated["metadata"]["uid"]))

    def _take_node_pools(self, group: asyncio.TaskGroup) -> None:
        held = dict(self._held(NODE_POOL))
        for key in held.keys() - self._pools:
            group.create_task(self._provide_nodes(key, held[key]))
        self._pools = set(held)

    async def _provide_nodes(self, key: Key, manifest: Json) -> None:
        """The nodes of a pool join after a while, all at once."""
        self._agent.change(NODE_POOL, *key, _pool_status(ready=False, replicas=0))
        await asyncio.sleep(_NODES_TAKE / self._speed)
        if key in self._pools:
            replicas = int(manifest["spec"].get("replicas") or 0)
            self._agent.change(NODE_POOL, *key, _pool_status(ready=True, replicas=replicas))

    def _held(self, kind: str) -> Iterator[tuple[Key, Json]]:
        for work in self._agent.held.values():
            for each in work.bundle.get("manifests") or ():
                if each.get("kind") == kind and not work.deleting:
                    yield (each["metadata"]["namespace"], each["metadata"]["name"]), each

    async def _reconcile(self, key: Key, uid: str) -> None:
        """Until this cluster is gone; one that takes its name has another uid and its own task."""
        changed = self._changed[key]
        while (cluster := self.clusters.get(key)) and cluster["metadata"]["uid"] == uid:
            changed.clear()
            step = next_step(cluster, self._scripts.get(key, Script()), times.now())
            if await _happens(changed, within=step.takes / self._speed if step else None):
                continue
            assert step is not None
            status = written(cluster, step, times.now())
            self.clusters[key] = {**cluster, "status": status}
            self._agent.change(KIND, *key, status)


async def _happens(event: asyncio.Event, *, within: float | None) -> bool:
    try:
        async with asyncio.timeout(within):
            return await event.wait()
    except TimeoutError:
        return False


def _pool_status(*, ready: bool, replicas: int) -> Json:
    condition = {"type": "Ready", "status": str(ready), "reason": "AsExpected" if ready else "WaitingForNodes"}
    return {"replicas": replicas, "conditions": [condition]}


def _updated(cluster: Json | None, manifest: Json) -> Json:
    """The object that a manifest makes: spec from the manifest, identity and status from the object that is there."""
    before: dict[str, Any] = dict(cluster["metadata"]) if cluster else {"uid": str(uuid.uuid4()), "generation": 1}
    if cluster and cluster["applied"] != manifest["spec"]:
        before["generation"] += 1
    updated: dict[str, Any] = {
        **manifest,
        "metadata": {**before, **manifest["metadata"], "uid": before["uid"], "generation": before["generation"]},
        "applied": manifest["spec"],
        "status": (cluster or {}).get("status") or {},
    }
    addition = preparation(updated)
    updated["spec"] = {**manifest["spec"], **addition.get("spec", {})}
    updated["metadata"] = {**updated["metadata"], **addition.get("metadata", {})}
    return updated
