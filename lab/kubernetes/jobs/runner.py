"""Runs the Jobs of an API server on this machine: a Job controller that creates pods, and a node that runs them."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object
from lab.kubernetes.jobs.client import Api, ApiServer
from lab.kubernetes.jobs.controller import NODE, JobController
from lab.kubernetes.jobs.informer import Informer
from lab.kubernetes.jobs.pod import Node, PodRun

# Shorter than on a cluster, so that tests do not wait.
RETRY_SECONDS = 0.2


class JobRunner:
    """Runs the Jobs of an API server, in one namespace or in all, while the context manager is open.

    `images` maps an image to its command. A container with any other image is in ImagePullBackOff until it has one.
    With `max_pods` the node runs so many pods at once, and the others are pending.
    """

    def __init__(
        self,
        server: ApiServer,
        *,
        images: Mapping[str, Sequence[str]],
        folder: Path,
        namespace: str = "",
        retry_seconds: float = RETRY_SECONDS,
        max_pods: int | None = None,
    ) -> None:
        self._api = Api(server)
        places = None if max_pods is None else asyncio.Semaphore(max_pods)
        self._node = Node(api=self._api, images=images, folder=folder, restart_seconds=retry_seconds, places=places)
        self._controller = JobController(self._api, retry_seconds=retry_seconds)
        self._within = f"namespaces/{namespace}/" if namespace else ""
        self._runs: dict[str, PodRun] = {}

    def folder_of(self, pod: Object) -> Path:
        """The folder of a pod: `volumes/<name>`, `logs/<container>.log`, `serviceaccount`, `messages/<container>`."""
        return self._node.folder / documents.uid(pod)

    async def __aenter__(self) -> Self:
        await self._api.__aenter__()
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        self._controller.stop()
        try:
            await self._task
        except asyncio.CancelledError:
            pass
        finally:
            await self._api.__aexit__()

    async def _run(self) -> None:
        controller = self._controller
        jobs = Informer(
            self._api,
            f"/apis/batch/v1/{self._within}jobs",
            changed=controller.job_changed,
            removed=controller.job_removed,
        )
        pods = Informer(self._api, f"/api/v1/{self._within}pods", changed=self._pod_changed, removed=self._pod_removed)
        async with asyncio.TaskGroup() as self._group:
            for each in (jobs.run(), pods.run(), controller.run()):
                self._group.create_task(each)

    def _pod_changed(self, pod: Object) -> None:
        self._controller.pod_changed(pod)
        uid = documents.uid(pod)
        if documents.at(pod, "spec", "nodeName") != NODE:
            return
        if run := self._runs.get(uid):
            if documents.deleting(pod):
                self._delete(run, pod)
        elif documents.at(pod, "status", "phase") == "Pending" or documents.deleting(pod):
            self._start(pod)

    def _start(self, pod: Object) -> None:
        run = self._runs[documents.uid(pod)] = PodRun(self._node, pod)
        if documents.deleting(pod):
            run.delete(pod)
        self._group.create_task(run.run())

    def _delete(self, run: PodRun, pod: Object) -> None:
        if run.over:
            self._group.create_task(run.remove())
        else:
            run.delete(pod)

    def _pod_removed(self, pod: Object) -> None:
        self._controller.pod_removed(pod)
        if run := self._runs.pop(documents.uid(pod), None):
            run.vanish()
