"""A dispatcher as a process of its own, on the lab's API, broker and Kubernetes."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol, Self

import aiohttp

from lab.api import LabApi
from lab.api.http_api.documents import resource_document
from lab.api.rules.values import AdapterStatus, Resource
from lab.broker import LabBroker
from lab.kubeconfig import kubeconfig
from lab.kubernetes import LabKubernetes
from lab.sentinel import EmbeddedPublisher, Publisher
from lab.sentinel.events import reconcile_event
from lab.signals import send_signal
from shared import times
from shared.errors import AlreadyExists, Conflict, Invalid, NotFound, Transient
from shared.kubernetes import Access, Change, FixedAccess, KubernetesClient, ObjectRef, PatchType, Selection, Watch
from tests.support.kubernetes import KubernetesServer, standin
from tests.support.small_adapter import ADAPTER, NAMESPACE, REPORTED, TOPIC, write_files

SOON = 240.0
FOREGROUND = "foregroundDeletion"
RUN_ENDED = "Event execution finished"
ENVIRONMENT = {
    "HYPERFLEET_LISTEN_HOST": "127.0.0.1",
    "HYPERFLEET_HEALTH_PORT": "0",
    "HYPERFLEET_METRICS_PORT": "0",
    "HYPERFLEET_LEASE_NAMESPACE": NAMESPACE,
}
JOBS = Selection(api_version="batch/v1", kind="Job", namespace=NAMESPACE)


class DispatcherProcess:
    """One process. Its log lines, which are JSON, are read as they come."""

    def __init__(self, arguments: list[str], environment: Mapping[str, str], *, clock_ahead: float = 0.0) -> None:
        self._arguments = arguments
        self._program = ["tests.support.skewed", str(clock_ahead)] if clock_ahead else ["dispatcher.cli"]
        self._environment = environment
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self.lines: list[dict[str, Any]] = []

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()

    async def start(self) -> None:
        self.lines.clear()
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", *self._program, "serve", *self._arguments),
            stderr=PIPE,
            limit=2**20,
            env={**os.environ, **self._environment},
        )
        self._reading = asyncio.create_task(self._read(self._process))

    async def serving(self) -> Self:
        """Return when it consumes messages."""
        await self.until_line(lambda line: line.get("msg") == "consuming messages")
        return self

    async def leading(self) -> Self:
        """Return when it owns the watches."""
        await self.until_line(lambda line: str(line.get("msg", "")).startswith("leading: "))
        return self

    async def until_run(self, *, count: int = 1, **fields: Any) -> dict[str, Any]:
        """The last line of a run with these fields, which it writes after it has counted and recorded itself."""
        return await self.until_line(
            lambda line: str(line.get("msg", "")).startswith(RUN_ENDED) and fields.items() <= line.items(), count=count
        )

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def port(self) -> int:
        """Of health and objects."""
        return int(next(line["health_port"] for line in self.lines if line.get("msg") == "serving"))

    @property
    def metrics_port(self) -> int:
        return int(next(line["metrics_port"] for line in self.lines if line.get("msg") == "serving"))

    def resident_kib(self) -> int:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    async def get(self, path: str) -> tuple[int, str]:
        async with aiohttp.ClientSession() as http, http.get(f"http://127.0.0.1:{self.port}{path}") as answer:
            return answer.status, await answer.text()

    async def metrics(self) -> str:
        url = f"http://127.0.0.1:{self.metrics_port}/metrics"
        async with aiohttp.ClientSession() as http, http.get(url) as answer:
            return await answer.text()

    async def until_ready(self, *, ready: bool = True) -> None:
        """Readiness has no event to await, as a kubelet finds."""
        answer = (0, "")
        try:
            async with asyncio.timeout(SOON):
                while (answer := await self.get("/readyz"))[0] != (200 if ready else 503):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"readiness stays {answer}") from None

    async def until_line(self, wanted: Callable[[dict[str, Any]], bool], *, count: int = 1) -> dict[str, Any]:
        """The line that is wanted, or the last of `count` such lines."""
        try:
            async with asyncio.timeout(SOON):
                while True:
                    found = [line for line in self.lines if wanted(line)]
                    if len(found) >= count:
                        return found[count - 1]
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"no such line among {self.lines[-20:]}") from None

    async def terminate(self) -> int:
        """SIGTERM; the exit code comes back."""
        assert self._process is not None
        send_signal(self._process, signal.SIGTERM)
        return await self._ended()

    async def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
        await self._ended()

    async def ended(self) -> int:
        """The exit code, when it has ended by itself."""
        return await self._ended()

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        send_signal(self._process, number)

    async def _ended(self) -> int:
        if self._process is None:
            return 0
        async with asyncio.timeout(SOON):
            code = await self._process.wait()
            if self._reading is not None:
                await self._reading
        return code

    async def _read(self, process: Process) -> None:
        assert process.stderr is not None
        while line := await process.stderr.readline():
            with contextlib.suppress(ValueError):
                self.lines.append(json.loads(line))
                self._news.set()
                continue
            self.lines.append({"msg": line.decode(errors="replace").rstrip()})
            self._news.set()


class Broker(Protocol):
    """A broker around a dispatcher. `section` is the broker config that leads to it."""

    @property
    def section(self) -> dict[str, Any]: ...

    async def publish(self, body: bytes) -> None: ...

    def publisher(self) -> Publisher:
        """Sentinel's way to it."""

    async def kill(self) -> None: ...

    async def start(self) -> None: ...


class EmbeddedBroker:
    def __init__(self, server: LabBroker) -> None:
        self.server = server
        self.kill, self.start = server.kill, server.start

    @property
    def section(self) -> dict[str, Any]:
        return {"type": "embedded", "embedded": {"address": self.server.address}}

    async def publish(self, body: bytes) -> None:
        self.server.publish(TOPIC, body)

    def publisher(self) -> Publisher:
        return EmbeddedPublisher(self.server.address)

    async def until_consumed(self) -> None:
        async with asyncio.timeout(SOON):
            await self.server.until_consumed(TOPIC, ADAPTER)

    async def until_held(self, count: int = 1) -> None:
        async with asyncio.timeout(SOON):
            await self.server.until_held(TOPIC, ADAPTER, count)

    async def until_waiting(self, count: int = 1) -> None:
        """The broker may read a process's last frames after the process has ended."""
        async with asyncio.timeout(SOON):
            await self.server.until_waiting(TOPIC, ADAPTER, count)


@dataclass
class System:
    """A HyperFleet API, a broker and a Kubernetes API server with a namespace for the adapter's Jobs."""

    folder: Path
    api: LabApi
    broker: Broker
    kubernetes: KubernetesServer
    client: KubernetesClient

    def dispatcher(
        self, *, task: dict[str, Any] | None = None, clock_ahead: float = 0.0, **environment: str
    ) -> DispatcherProcess:
        arguments = write_files(
            self.folder,
            api_url=self.api.url,
            kubeconfig=str(self.folder / "kubeconfig"),
            broker={"broker": self.broker.section},
            task=task,
        )
        return DispatcherProcess(arguments, {**ENVIRONMENT, **environment}, clock_ahead=clock_ahead)

    async def publish(self, cluster: Resource, **data: Any) -> None:
        """An event about the cluster as it is now; `data` is added to the event's."""
        await self.broker.publish(event_about(self.api.store.get(cluster.id), **data))

    def status(self, cluster: Resource) -> AdapterStatus | None:
        return next((each for each in self.api.store.statuses(cluster.id) if each.adapter == ADAPTER), None)

    def available(self, cluster: Resource) -> tuple[int, str] | None:
        """The generation and the Available condition that were reported last."""
        status = self.status(cluster)
        if status is None:
            return None
        condition = next(each for each in status.conditions if each.type == "Available")
        return status.observed_generation, condition.status

    def reason(self, cluster: Resource) -> str:
        """The reason of the Available condition that was reported last."""
        status = self.status(cluster)
        found = (each.reason for each in status.conditions if each.type == "Available") if status else iter(())
        return next(found, "") or ""

    async def until(self, reached: Callable[[], bool], what: str, *, timeout: float = SOON) -> None:
        """Return when it is so; looked at after every request to the API."""
        try:
            async with asyncio.timeout(timeout):
                while not reached():
                    await self.api.journal.change()
        except TimeoutError:
            raise AssertionError(f"not reached: {what}") from None

    def exists(self, cluster: Resource) -> bool:
        return any(each.id == cluster.id for each in self.api.store.find())

    def stored_reports(self, cluster: Resource) -> list[dict[str, Any]]:
        """The statuses the API has stored, in order."""
        return [
            seen.json
            for seen in self.api.journal.entries
            if seen.method == "PUT" and seen.status == HTTPStatus.CREATED and f"/{cluster.id}/" in seen.path
        ]

    async def jobs(self) -> list[dict[str, Any]]:
        return await self.client.list(JOBS)

    async def delete_jobs(self) -> None:
        """As the TTL does."""
        for job in await self.jobs():
            await self.client.delete(ObjectRef.of(job))


@dataclass
class LabSystem(System):
    """All of it in the lab."""

    broker: EmbeddedBroker


@contextlib.asynccontextmanager
async def lab_system(folder: Path) -> AsyncIterator[LabSystem]:
    async with (
        LabApi(required_adapters={"Cluster": [ADAPTER]}) as api,
        LabBroker() as broker,
        LabKubernetes() as kubernetes,
    ):
        broker.subscribe(TOPIC, ADAPTER)
        async with cluster_client(folder, standin(kubernetes)) as client:
            yield LabSystem(folder, api, EmbeddedBroker(broker), standin(kubernetes), client)


@contextlib.asynccontextmanager
async def cluster_client(folder: Path, server: KubernetesServer) -> AsyncIterator[KubernetesClient]:
    """The admin's client, the admin's kubeconfig in the folder, and the namespace of Jobs."""
    (folder / "kubeconfig").write_text(kubeconfig(server.url, server.admin_token, server.ca_file))
    access = Access(
        server=server.url,
        authorization=f"Bearer {server.admin_token}",
        ca_file=server.ca_file,
        verify=bool(server.ca_file),
    )
    async with KubernetesClient(FixedAccess(access)) as client:
        with contextlib.suppress(AlreadyExists):
            await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        yield client


class JobWorker:
    """Stands for the containers of Jobs: sets the conditions that a status reporter would set, after `delay` seconds.

    The conditions of the first Job it sees have the reason `Job1`, of the second `Job2`, and so on. It keeps a record of
    the Jobs it has seen.
    """

    def __init__(
        self,
        client: KubernetesClient,
        *,
        delay: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._client, self._delay = client, delay
        self._tasks: set[asyncio.Task[None]] = set()
        self.present: dict[str, str] = {}
        self.created = 0
        self._seen: dict[tuple[str, str], set[str]] = {}
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in (self._watching, *self._tasks):
            task.cancel()
        await asyncio.gather(self._watching, *self._tasks, return_exceptions=True)

    def doubled(self) -> list[tuple[str, str]]:
        """The clusters and generations of which there was more than one Job, at the same time or one after another."""
        return [made_for for made_for, uids in self._seen.items() if len(uids) > 1]

    async def until_gone(self) -> None:
        """Return when no Job is left, as the watch says."""
        async with asyncio.timeout(SOON):
            while self.present:
                self._changed.clear()
                await self._changed.wait()

    async def _watch(self) -> None:
        async for event in Watch(self._client, JOBS).events():
            metadata = event.object["metadata"]
            name = metadata["name"]
            self._changed.set()
            if FOREGROUND in metadata.get("finalizers", ()):
                self._spawn(self._collect(name))
            if event.change is Change.DELETED:
                self.present.pop(name, None)
            elif event.change is Change.ADDED:
                self.created += 1
                self.present[name] = metadata["uid"]
                self._seen.setdefault(_made_for(metadata), set()).add(metadata["uid"])
                self._spawn(self._work(event.object, f"Job{self.created}"))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _collect(self, name: str) -> None:
        """The garbage collector's part, where no controller manager runs: the pods of the Job are gone."""
        ref = ObjectRef(api_version="batch/v1", kind="Job", name=name, namespace=NAMESPACE)
        while True:
            with contextlib.suppress(NotFound, Conflict):
                try:
                    await self._client.patch(ref, {"metadata": {"finalizers": None}}, type_=PatchType.MERGE)
                except Transient:
                    await asyncio.sleep(0.1)
                    continue
            return

    async def _work(self, job: Mapping[str, Any], reason: str) -> None:
        while True:
            await asyncio.sleep(self._delay())
            try:
                await set_conditions(self._client, job, reason=reason)
            except Transient:
                continue
            except (NotFound, Conflict, Invalid):
                return  # another Job has taken its place
            return


def _made_for(metadata: Mapping[str, Any]) -> tuple[str, str]:
    """The cluster and the generation."""
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    return str(labels.get("hyperfleet.io/cluster-id")), str(annotations.get("hyperfleet.io/generation"))


async def set_conditions(client: KubernetesClient, job: Mapping[str, Any], *, reason: str = "Done") -> None:
    """What a status reporter does at the end."""
    now = times.to_seconds(times.now())
    conditions = [
        {"type": each, "status": "True", "reason": reason, "message": "", "lastTransitionTime": now}
        for each in REPORTED
    ]
    metadata = job["metadata"]
    ref = ObjectRef(api_version="batch/v1", kind="Job", name=metadata["name"], namespace=NAMESPACE)
    body = {"metadata": {"uid": metadata["uid"]}, "status": {"conditions": conditions}}
    await client.patch(ref, body, type_=PatchType.STRATEGIC, subresource="status")


def event_about(cluster: Resource, **data: Any) -> bytes:
    event = json.loads(reconcile_event(resource_document(cluster), times.now()).body)
    event["data"] |= data
    return json.dumps(event).encode()


def available_in(report: Mapping[str, Any]) -> str:
    return str(next(each["status"] for each in report["conditions"] if each["type"] == "Available"))
