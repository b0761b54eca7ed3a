"""HyperShift on a simulated management cluster: it plays the sequences on the HostedClusters that a work agent holds.

`Operator` does the same on an API server. Here the objects live in the agent's memory, and each new status is reported
through it.
"""

import asyncio
import contextlib
import uuid
from types import TracebackType
from typing import Any, Self

from lab.hypershift.sequences import Json, Script, next_step, preparation, written
from lab.maestro.agent import Agent
from shared import times

KIND = "HostedCluster"
NODE_POOL = "NodePool"
# Seconds that machines take to become nodes.
_NODES_TAKE = 240.0
# How often the agent's works are looked at; the steps themselves take as long as the sequences say.
_LOOK_SECONDS = 0.05

Key = tuple[str, str]


class HyperShiftOnAgent:
    """Reconciles every HostedCluster of one agent, `speed` times as fast as the real operator."""

    def __init__(self, agent: Agent, *, speed: float = 1.0) -> None:
        self.clusters: dict[Key, Json] = {}
        self._agent, self._speed = agent, speed
        self._scripts: dict[Key, Script] = {}
        self._default = Script()

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

    def play_all(self, script: Script) -> None:
        """What happens to the clusters that have no script of their own."""
        self._default = script

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as group:
            reconciled: set[Key] = set()
            pools: set[Key] = set()
            while True:
                held_pools = self._held(NODE_POOL)
                for key in held_pools.keys() - pools:
                    group.create_task(self._provide_nodes(key, held_pools[key]))
                pools = set(held_pools)
                for key, manifest in self._held().items():
                    self.clusters[key] = _updated(self.clusters.get(key), manifest)
                    if key not in reconciled:
                        reconciled.add(key)
                        group.create_task(self._reconcile(key))
                for key in reconciled - self._held().keys():
                    reconciled.discard(key)
                    self.clusters.pop(key, None)
                await asyncio.sleep(_LOOK_SECONDS)

    async def _provide_nodes(self, key: Key, manifest: Json) -> None:
        """The nodes of a pool join after a while, all at once."""
        await self._agent.observe(NODE_POOL, *key, _pool_status(ready=False, replicas=0))
        await asyncio.sleep(_NODES_TAKE / self._speed)
        if key in self._held(NODE_POOL):
            replicas = int(manifest["spec"].get("replicas") or 0)
            await self._agent.observe(NODE_POOL, *key, _pool_status(ready=True, replicas=replicas))

    def _held(self, kind: str = KIND) -> dict[Key, Json]:
        return {
            (each["metadata"]["namespace"], each["metadata"]["name"]): each
            for held in self._agent.held.values()
            for each in held.bundle.get("manifests") or ()
            if each.get("kind") == kind and not held.deleting
        }

    async def _reconcile(self, key: Key) -> None:
        while cluster := self.clusters.get(key):
            step = next_step(cluster, self._scripts.get(key, self._default), times.now())
            if step is None:
                await asyncio.sleep(_LOOK_SECONDS)
                continue
            await asyncio.sleep(step.takes / self._speed)
            if key not in self.clusters:
                return
            status = written(self.clusters[key], step, times.now())
            self.clusters[key] = {**self.clusters[key], "status": status}
            await self._agent.observe(KIND, *key, status)


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
