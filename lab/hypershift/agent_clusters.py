"""The simulated operator on a simulated work agent: the HostedClusters in its works become available step by step."""

import asyncio
import contextlib
import uuid
from typing import Any, Self

import grpc

from lab.hypershift.sequences import Json, Script, next_step, preparation, written
from lab.maestro.agent import Agent
from lab.maestro.agent.agent_status import Key, identity
from shared import times

_KIND = "HostedCluster"


class AgentClusters:
    """Reconciles the HostedClusters of one agent, `speed` times as fast as the real operator."""

    def __init__(self, agent: Agent, *, speed: float) -> None:
        self._agent, self._speed = agent, speed
        self._manifests: dict[Key, Json] = {}
        self._clusters: dict[Key, dict[str, Any]] = {}
        self._steps: dict[Key, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run(), name=f"hosted-clusters-{self._agent.consumer}")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                self._synchronize(group)
                await self._agent.works_changed.wait()
                self._agent.works_changed.clear()

    def _synchronize(self, group: asyncio.TaskGroup) -> None:
        wanted = {
            identity(manifest): manifest
            for held in self._agent.held.values()
            if not held.deleting
            for manifest in held.bundle.get("manifests") or ()
            if manifest.get("kind") == _KIND
        }
        for key in self._manifests.keys() - wanted.keys():
            self._steps.pop(key).cancel()
            del self._manifests[key], self._clusters[key]
        for key, manifest in wanted.items():
            if manifest == self._manifests.get(key):
                continue
            if key in self._steps:
                self._steps[key].cancel()
            self._manifests[key] = manifest
            self._clusters[key] = _stored(manifest, self._clusters.get(key))
            self._steps[key] = group.create_task(self._reconcile(key))

    async def _reconcile(self, key: Key) -> None:
        while True:
            cluster = self._clusters[key]
            for part, members in preparation(cluster).items():
                cluster[part] = {**cluster[part], **members}
            step = next_step(cluster, Script(), times.now())
            if step is None:
                return
            await asyncio.sleep(step.takes / self._speed)
            cluster["status"] = written(cluster, step, times.now())
            with contextlib.suppress(grpc.aio.AioRpcError):  # Maestro is down; the agent reports again after its resync
                await self._agent.observe(*key, cluster["status"])


def _stored(manifest: Json, before: Json | None) -> dict[str, Any]:
    """The object as an API server stores it after this manifest was applied."""
    known: Json = before["metadata"] if before else {"uid": str(uuid.uuid4()), "generation": 0}
    metadata = {**known, **manifest["metadata"], "generation": known["generation"] + 1}
    return {**manifest, "metadata": metadata, "status": before["status"] if before else {}}
