"""The Job controller: watches Jobs and pods, decides (`job_decisions`), and carries the plan out."""

import asyncio
import contextlib
import secrets
from dataclasses import replace
from datetime import datetime

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object
from lab.kubernetes.jobs.client import Api, Missing
from lab.kubernetes.jobs.job_decisions import JobPod, Plan, decide
from shared import times

NODE = "lab"
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_LONGEST_PREFIX = 57


class JobController:
    """Reconciles one Job at a time, whenever the Job or one of its pods changed."""

    def __init__(self, api: Api, *, retry_seconds: float) -> None:
        self._api = api
        self._retry = retry_seconds
        self._jobs: dict[str, Object] = {}
        self._pods: dict[str, dict[str, JobPod]] = {}
        self._failed_at: dict[str, datetime] = {}
        self._due: asyncio.Queue[str] = asyncio.Queue()
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def job_changed(self, job: Object) -> None:
        uid = documents.uid(job)
        if uid not in self._jobs or _is_newer(job, self._jobs[uid]):
            self._jobs[uid] = job
            self._due.put_nowait(uid)

    def job_removed(self, job: Object) -> None:
        """The pods of a removed Job are deleted when its turn in the queue comes."""
        uid = documents.uid(job)
        self._jobs.pop(uid, None)
        self._due.put_nowait(uid)

    def pod_changed(self, pod: Object) -> None:
        self._remember(JobPod(pod))

    def pod_removed(self, pod: Object) -> None:
        self._remember(JobPod(pod, gone=True))

    async def run(self) -> None:
        while True:
            uid = await self._due.get()
            with contextlib.suppress(Missing):
                await self._step(uid)

    def stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()

    def _remember(self, pod: JobPod) -> None:
        owner = next((each for each in documents.owners(pod.document) if each.get("controller")), None)
        if owner is None or owner["kind"] != "Job":
            return
        pods = self._pods.setdefault(owner["uid"], {})
        before = pods.get(documents.uid(pod.document))
        if before is not None:
            if not pod.gone and not _is_newer(pod.document, before.document):
                return
            pod = replace(pod, was_terminating=before.was_terminating or before.terminating)
        if pod.phase == "Failed" and (before is None or before.phase != "Failed"):
            self._failed_at[owner["uid"]] = times.now()
        pods[documents.uid(pod.document)] = pod
        self._due.put_nowait(owner["uid"])

    async def _step(self, uid: str) -> None:
        job, pods = self._jobs.get(uid), list(self._pods.get(uid, {}).values())
        if job is None:
            await self._delete_pods(uid, pods)
        elif not documents.deleting(job):
            plan = decide(job, pods, times.now(), last_failure=self._failed_at.get(uid), retry=self._retry)
            await self._carry_out(job, plan)

    async def _delete_pods(self, uid: str, pods: list[JobPod]) -> None:
        for pod in pods:
            if not pod.gone and not documents.deleting(pod.document):
                with contextlib.suppress(Missing):
                    await self._api.delete(_path(pod.document, "pods", "/api/v1"), documents.uid(pod.document))
        if all(pod.gone for pod in pods):
            self._pods.pop(uid, None)
            self._failed_at.pop(uid, None)

    async def _carry_out(self, job: Object, plan: Plan) -> None:
        uid, path = documents.uid(job), _path(job, "jobs", "/apis/batch/v1")
        for pod in plan.delete:
            with contextlib.suppress(Missing):
                await self._api.delete(_path(pod, "pods", "/api/v1"), documents.uid(pod))
        if plan.remove_job:
            await self._api.delete(path, uid)
            return
        for _ in range(plan.create):
            pod = await self._api.create(_path(job, "pods", "/api/v1", collection=True), _pod_of(job))
            self._pods.setdefault(uid, {})[documents.uid(pod)] = JobPod(pod)
        if _would_change(job.get("status") or {}, plan.status):
            self._jobs[uid] = await self._api.patch_status(path, uid, plan.status)
            self._due.put_nowait(uid)
        self._schedule(uid, plan.requeue_after)

    def _schedule(self, uid: str, seconds: float | None) -> None:
        if timer := self._timers.pop(uid, None):
            timer.cancel()
        if seconds is not None:
            self._timers[uid] = asyncio.get_running_loop().call_later(seconds, self._due.put_nowait, uid)


def _is_newer(document: Object, other: Object) -> bool:
    version, other_version = (int(documents.metadata(each)["resourceVersion"]) for each in (document, other))
    return version > other_version


def _pod_of(job: Object) -> Object:
    template, name = job["spec"]["template"], documents.name(job)
    suffix = "".join(secrets.choice(_SUFFIX_LETTERS) for _ in range(5))
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": name,
        "uid": documents.uid(job),
        "controller": True,
        "blockOwnerDeletion": True,
    }
    metadata = {key: value for key, value in documents.metadata(template).items() if key in ("labels", "annotations")}
    metadata |= {"name": f"{name[:_LONGEST_PREFIX]}-{suffix}", "ownerReferences": [owner]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {**template["spec"], "nodeName": NODE}}


def _would_change(present: Object, wanted: Object) -> bool:
    known = {key: value for key, value in wanted.items() if key != "conditions"}
    return bool(wanted.get("conditions")) or any(
        (present.get(key) or 0) != (value or 0) for key, value in known.items()
    )


def _path(document: Object, plural: str, prefix: str, *, collection: bool = False) -> str:
    name = "" if collection else f"/{documents.name(document)}"
    return f"{prefix}/namespaces/{documents.namespace(document)}/{plural}{name}"
