"""The operator's loop: it lists and watches HostedClusters and writes the next step of each.

One task per cluster. Every write carries the resourceVersion it was decided on; after a conflict the operator decides
again. A status that the API server rejects is a bug of the lab and ends the operator.
"""

import asyncio
import contextlib
import json
import ssl
from collections import defaultdict
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp

from lab.hypershift.sequences import FINALIZER, Json, Script, Step, next_step, preparation, written
from shared import times
from shared.network.session_sockets import SessionSockets

API = "/apis/hypershift.openshift.io/v1beta1"
MERGE = "application/merge-patch+json"
RELIST_SECONDS = 0.2
_TIMEOUT = aiohttp.ClientTimeout(total=30.0)
_UNLIMITED = aiohttp.ClientTimeout(total=None)
_NETWORK_ERRORS = (aiohttp.ClientError, OSError)
# Another writer was first, or the object is gone; the watch brings the new state.
_OVERTAKEN = (HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND)

Key = tuple[str, str]


class Refused(RuntimeError):
    """The API server rejects a write of the lab."""


class Operator:
    """Reconciles every HostedCluster of one API server, `speed` times as fast as the real operator.

    `clusters` has their last known state; `play` sets the script of one, before or after it exists. `task` ends only
    with an error.
    """

    def __init__(self, url: str, token: str, ca_file: Path | None = None, *, speed: float = 1.0) -> None:
        self.clusters: dict[Key, Json] = {}
        self._url, self._token, self._ca_file, self._speed = url, token, ca_file, speed
        self._scripts: dict[Key, Script] = {}
        self._changed: defaultdict[Key, asyncio.Event] = defaultdict(asyncio.Event)
        self._gone: defaultdict[Key, asyncio.Event] = defaultdict(asyncio.Event)
        self._reconciled: set[Key] = set()

    async def __aenter__(self) -> Self:
        trust = ssl.create_default_context(cafile=str(self._ca_file)) if self._ca_file else True
        self._sockets = SessionSockets()
        self._http = aiohttp.ClientSession(
            self._url,
            headers={"Authorization": f"Bearer {self._token}"},
            connector=aiohttp.TCPConnector(ssl=trust, socket_factory=self._sockets.create),
            timeout=_TIMEOUT,
        )
        self.task = asyncio.create_task(self._run(), name="hypershift-operator")
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.task.cancel()
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await self.task
        finally:
            await self._http.close()
            await self._sockets.close()

    def play(self, namespace: str, name: str, script: Script) -> None:
        self._scripts[namespace, name] = script
        self._changed[namespace, name].set()

    async def gone(self, namespace: str, name: str) -> None:
        """Wait until a cluster is deleted."""
        await self._gone[namespace, name].wait()

    def check(self) -> None:
        """Raise the error that ended the operator, if any."""
        if self.task.done():
            self.task.result()

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                with contextlib.suppress(*_NETWORK_ERRORS):
                    await self._follow(group)
                await asyncio.sleep(RELIST_SECONDS)

    async def _follow(self, group: asyncio.TaskGroup) -> None:
        """List, then watch until the server ends it."""
        async with self._http.get(f"{API}/hostedclusters") as answer:
            if answer.status == HTTPStatus.NOT_FOUND:
                return  # the CRD is not installed yet
            listed = await _good(answer)
        present = {_key(each): each for each in listed["items"]}
        for key in self.clusters.keys() - present.keys():
            self._forget(key)
        for cluster in present.values():
            self._update(cluster, group)
        query = {"watch": "1", "resourceVersion": listed["metadata"]["resourceVersion"]}
        async with self._http.get(f"{API}/hostedclusters", params=query, timeout=_UNLIMITED) as watched:
            watched.raise_for_status()
            async for line in watched.content:
                event = json.loads(line)
                match event["type"]:
                    case "ADDED" | "MODIFIED":
                        self._update(event["object"], group)
                    case "DELETED":
                        self._forget(_key(event["object"]))
                    case "ERROR":
                        return

    def _update(self, cluster: Json, group: asyncio.TaskGroup) -> None:
        key = _key(cluster)
        self.clusters[key] = cluster
        self._gone[key].clear()
        self._changed[key].set()
        if key not in self._reconciled:
            self._reconciled.add(key)
            group.create_task(self._reconcile(key), name=f"hosted-cluster-{key[1]}")

    def _forget(self, key: Key) -> None:
        self.clusters.pop(key, None)
        self._gone[key].set()
        self._changed[key].set()

    async def _reconcile(self, key: Key) -> None:
        changed = self._changed[key]
        while key in self.clusters:
            changed.clear()
            try:
                await self._advance(key, changed)
            except _NETWORK_ERRORS:
                await asyncio.sleep(RELIST_SECONDS)
                continue
            await changed.wait()
        self._reconciled.discard(key)

    async def _advance(self, key: Key, changed: asyncio.Event) -> None:
        """Write the next step after its delay; return if there is none, or if the cluster changed meanwhile."""
        cluster = self.clusters[key]
        if addition := preparation(cluster):
            await self._patch(cluster, addition)
            return
        script = self._scripts.get(key, Script())
        step = next_step(cluster, script, times.now())
        if step is None:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(step.takes / self._speed):
                await changed.wait()
            return
        await self._perform(cluster, step)

    async def _perform(self, cluster: Json, step: Step) -> None:
        if step.removes_finalizer:
            others = [each for each in cluster["metadata"]["finalizers"] if each != FINALIZER]
            await self._patch(cluster, {"metadata": {"finalizers": others}})
            return
        # A PUT, because a merge patch removes members that are null.
        changed = {**cluster, "status": written(cluster, step, times.now())}
        await self._write("PUT", f"{_path(cluster)}/status", changed, "application/json")

    async def _patch(self, cluster: Json, patch: dict[str, Any]) -> None:
        metadata = {"resourceVersion": cluster["metadata"]["resourceVersion"], **patch.get("metadata", {})}
        await self._write("PATCH", _path(cluster), {**patch, "metadata": metadata}, MERGE)

    async def _write(self, method: str, path: str, document: Json, media_type: str) -> None:
        headers = {"Content-Type": media_type}
        async with self._http.request(method, path, data=json.dumps(document), headers=headers) as answer:
            if answer.status not in _OVERTAKEN:
                await _good(answer)


def _path(cluster: Json) -> str:
    namespace, name = _key(cluster)
    return f"{API}/namespaces/{namespace}/hostedclusters/{name}"


def _key(cluster: Json) -> Key:
    return cluster["metadata"]["namespace"], cluster["metadata"]["name"]


async def _good(answer: aiohttp.ClientResponse) -> Any:
    is_refusal = HTTPStatus.BAD_REQUEST <= answer.status < HTTPStatus.INTERNAL_SERVER_ERROR
    if is_refusal and answer.status != HTTPStatus.TOO_MANY_REQUESTS:
        raise Refused(f"{answer.method} {answer.url}: {answer.status} {await answer.text()}")
    answer.raise_for_status()
    return await answer.json()
