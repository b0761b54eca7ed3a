"""The loop that plays the HyperShift operator: it lists and watches HostedClusters, and writes what comes next.

Each cluster is tended on its own. Every write names the version it was decided on, so whoever wrote in between only
makes the operator look again. A status that the API server refuses is a mistake of the lab and ends the operator.
"""

import asyncio
import contextlib
import json
import ssl
from collections import defaultdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from lab.hypershift.sequences import FINALIZER, Json, Script, Step, next_step, preparation, written
from shared import times

API = "/apis/hypershift.openshift.io/v1beta1"
MERGE = "application/merge-patch+json"
RELIST_SECONDS = 0.2
_TIMEOUT = 30.0
# Somebody else wrote first, or the object has gone: the watch tells.
_OVERTAKEN = (httpx.codes.CONFLICT, httpx.codes.NOT_FOUND)

Key = tuple[str, str]


class Refused(RuntimeError):
    """The API server does not take what the lab writes, or does not let it."""


class Operator:
    """Tends every HostedCluster of one API server, `speed` times as fast as the real operator.

    `clusters` shows them as they were last seen; `play` changes the script of one, before or after it exists. `life`
    ends only by an error.
    """

    def __init__(self, url: str, token: str, ca_file: Path | None = None, *, speed: float = 1.0) -> None:
        self.clusters: dict[Key, Json] = {}
        self._url, self._token, self._ca_file, self._speed = url, token, ca_file, speed
        self._scripts: dict[Key, Script] = {}
        self._changed: defaultdict[Key, asyncio.Event] = defaultdict(asyncio.Event)
        self._gone: defaultdict[Key, asyncio.Event] = defaultdict(asyncio.Event)
        self._tended: set[Key] = set()

    async def __aenter__(self) -> Self:
        trust = ssl.create_default_context(cafile=str(self._ca_file)) if self._ca_file else True
        headers = {"Authorization": f"Bearer {self._token}"}
        self._http = httpx.AsyncClient(base_url=self._url, verify=trust, headers=headers, timeout=_TIMEOUT)
        self.life = asyncio.create_task(self._live(), name="hypershift-operator")
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.life.cancel()
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await self.life
        finally:
            await self._http.aclose()

    def play(self, namespace: str, name: str, script: Script) -> None:
        self._scripts[namespace, name] = script
        self._changed[namespace, name].set()

    async def gone(self, namespace: str, name: str) -> None:
        """Return when a cluster that was there is no more."""
        await self._gone[namespace, name].wait()

    def check(self) -> None:
        """Raise what ended the operator, if something did."""
        if self.life.done():
            self.life.result()

    async def _live(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                with contextlib.suppress(httpx.HTTPError):
                    await self._follow(group)
                await asyncio.sleep(RELIST_SECONDS)

    async def _follow(self, group: asyncio.TaskGroup) -> None:
        """List, then watch until the server ends it."""
        answer = await self._http.get(f"{API}/hostedclusters")
        if answer.status_code == httpx.codes.NOT_FOUND:
            return  # nobody has told the server what a HostedCluster is yet
        listed = _good(answer)
        present = {_key(each): each for each in listed["items"]}
        for key in self.clusters.keys() - present.keys():
            self._forget(key)
        for cluster in present.values():
            self._learn(cluster, group)
        query = {"watch": "1", "resourceVersion": listed["metadata"]["resourceVersion"]}
        async with self._http.stream("GET", f"{API}/hostedclusters", params=query, timeout=None) as watched:
            watched.raise_for_status()
            async for line in watched.aiter_lines():
                event = json.loads(line)
                match event["type"]:
                    case "ADDED" | "MODIFIED":
                        self._learn(event["object"], group)
                    case "DELETED":
                        self._forget(_key(event["object"]))
                    case "ERROR":
                        return

    def _learn(self, cluster: Json, group: asyncio.TaskGroup) -> None:
        key = _key(cluster)
        self.clusters[key] = cluster
        self._gone[key].clear()
        self._changed[key].set()
        if key not in self._tended:
            self._tended.add(key)
            group.create_task(self._tend(key), name=f"hosted-cluster-{key[1]}")

    def _forget(self, key: Key) -> None:
        self.clusters.pop(key, None)
        self._gone[key].set()
        self._changed[key].set()

    async def _tend(self, key: Key) -> None:
        changed = self._changed[key]
        while key in self.clusters:
            changed.clear()
            try:
                await self._advance(key, changed)
            except httpx.HTTPError:
                await asyncio.sleep(RELIST_SECONDS)
                continue
            await changed.wait()
        self._tended.discard(key)

    async def _advance(self, key: Key, changed: asyncio.Event) -> None:
        """Write what comes next when its time has come; return where nothing does, or where something changed."""
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
        # A merge patch would take a member away that is to be null.
        told = {**cluster, "status": written(cluster, step, times.now())}
        _check(await self._http.put(f"{_path(cluster)}/status", json=told))

    async def _patch(self, cluster: Json, patch: dict[str, Any]) -> None:
        metadata = {"resourceVersion": cluster["metadata"]["resourceVersion"], **patch.get("metadata", {})}
        content = json.dumps({**patch, "metadata": metadata})
        _check(await self._http.patch(_path(cluster), content=content, headers={"Content-Type": MERGE}))


def _path(cluster: Json) -> str:
    namespace, name = _key(cluster)
    return f"{API}/namespaces/{namespace}/hostedclusters/{name}"


def _key(cluster: Json) -> Key:
    return cluster["metadata"]["namespace"], cluster["metadata"]["name"]


def _check(answer: httpx.Response) -> None:
    if answer.status_code not in _OVERTAKEN:
        _good(answer)


def _good(answer: httpx.Response) -> Any:
    if answer.is_client_error and answer.status_code != httpx.codes.TOO_MANY_REQUESTS:
        raise Refused(f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text}")
    answer.raise_for_status()
    return answer.json()
