"""One pod from start to end: init containers, sidecars, containers, restarts, deadline, deletion.

A separate task writes every status to the API server, in order: an API server that is down delays the writes, not the
pod.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from lab.kubernetes.api import documents
from lab.kubernetes.api.documents import Object
from lab.kubernetes.jobs import environment, volumes
from lab.kubernetes.jobs.client import Api, Missing
from lab.kubernetes.jobs.container import Container, Launch, memory_limit
from lab.kubernetes.jobs.environment import CannotConfigure
from shared import times

# Variables of this machine that containers inherit.
_INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT")
_ADDRESS = "127.0.0.1"
_DEADLINE_MESSAGE = "Pod was active on the node longer than the specified deadline"
_DEFAULT_MESSAGE_PATH = "/dev/termination-log"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Where pods run: the command of each image, the folder of all pods, and the seconds before a first restart.

    `images` may change while pods run, as a registry does. `places` is how many pods run at once; None is no limit.
    """

    api: Api
    images: Mapping[str, Sequence[str]]
    folder: Path
    restart_seconds: float
    places: asyncio.Semaphore | None = None


class PodRun:
    """A running pod. The caller reports a deletion with `delete` and `vanish`; `run` returns when the pod has ended."""

    def __init__(self, node: Node, pod: Object) -> None:
        self._node, self._pod = node, pod
        self.uid = documents.uid(pod)
        self._folder = node.folder / self.uid
        spec = pod["spec"]
        waiting_for = "PodInitializing" if spec.get("initContainers") else "ContainerCreating"
        self._init = [Container(each, waiting_for, self._queue_status) for each in spec.get("initContainers") or ()]
        self._main = [Container(each, waiting_for, self._queue_status) for each in spec["containers"]]
        self._initialized = not self._init
        self._started_at = times.now()
        self._stopping = asyncio.Event()
        self._stop_grace = float(spec.get("terminationGracePeriodSeconds", 30))
        self._deleted = self._vanished = False
        self.over = False
        self._end: Object = {}
        self._statuses: asyncio.Queue[Object] = asyncio.Queue()

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{documents.namespace(self._pod)}/pods/{documents.name(self._pod)}"

    def delete(self, pod: Object) -> None:
        """The pod is being deleted: its containers get SIGTERM and the grace period."""
        self._deleted = True
        self._stop_grace = float(documents.metadata(pod).get("deletionGracePeriodSeconds") or 0)
        self._stopping.set()

    def vanish(self) -> None:
        """The pod no longer exists: kill its processes."""
        self._vanished = True
        self._stop_grace = 0.0
        self._stopping.set()
        for each in self._all():
            each.send(signal.SIGKILL)

    async def remove(self) -> None:
        """The last step of a deletion, after all processes have ended."""
        with contextlib.suppress(Missing):
            await self._node.api.delete(self.path, self.uid, grace_seconds=0)

    async def run(self) -> None:
        writer = asyncio.create_task(self._write_statuses())
        try:
            async with self._place():
                await self._run_to_end()
            self._queue_status(over=True)
            await self._statuses.join()
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
        self.over = True
        if self._deleted and not self._vanished:
            await self.remove()

    @contextlib.asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        """A place on the node, once one is free. A pod that is stopped before that needs none: it starts nothing."""
        places = self._node.places
        if places is None:
            yield
            return
        taken = asyncio.create_task(places.acquire())
        stopped = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({taken, stopped}, return_when=asyncio.FIRST_COMPLETED)
            self._started_at = times.now()
            yield
        finally:
            stopped.cancel()
            taken.cancel()
            await asyncio.gather(taken, stopped, return_exceptions=True)
            if not taken.cancelled():
                places.release()

    async def _run_to_end(self) -> None:
        containers = asyncio.create_task(self._run_containers())
        stop = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({containers, stop}, timeout=self._seconds_left(), return_when=asyncio.FIRST_COMPLETED)
            if not containers.done():
                if not stop.done():
                    self._end = {"phase": "Failed", "reason": "DeadlineExceeded", "message": _DEADLINE_MESSAGE}
                    self._stopping.set()
                await self._stop(self._all())
                await asyncio.wait({containers})
            containers.result()
        except asyncio.CancelledError:
            self.vanish()
            raise
        finally:
            for task in (containers, stop):
                task.cancel()
            await asyncio.gather(containers, stop, return_exceptions=True)

    def _seconds_left(self) -> float | None:
        seconds = self._pod["spec"].get("activeDeadlineSeconds")
        if seconds is None:
            return None
        return max(0.0, (self._started_at + timedelta(seconds=seconds) - times.now()).total_seconds())

    async def _run_containers(self) -> None:
        self._queue_status()
        if not await self._prepare():
            return
        sidecars: list[asyncio.Task[int]] = []
        try:
            if await self._initialize(sidecars):
                policy = self._pod["spec"].get("restartPolicy", "Always")
                async with asyncio.TaskGroup() as group:
                    for each in self._main:
                        group.create_task(self._run_container(each, policy))
        finally:
            if sidecars:
                self._stopping.set()
                await self._stop(list(reversed(self._init)))
                await asyncio.wait(sidecars)

    async def _prepare(self) -> bool:
        """Create the pod's folders and files; if a source is missing, its containers wait."""
        try:
            contents = await volumes.volume_contents(self._pod, self._fetch, self._new_token)
            account = await self._service_account()
        except CannotConfigure as problem:
            for each in self._all():
                each.wait_because("ContainerCreating", str(problem))
            await self._stopping.wait()
            return False
        await asyncio.to_thread(volumes.fill_volumes, self._folder, contents)
        await asyncio.to_thread(_write, self._folder / "serviceaccount", account)
        return True

    async def _initialize(self, sidecars: list[asyncio.Task[int]]) -> bool:
        policy = self._pod["spec"].get("restartPolicy", "Always")
        for each in self._init:
            if each.spec.get("restartPolicy") == "Always":
                sidecars.append(asyncio.create_task(self._run_container(each, "Always")))
            elif await self._run_container(each, "OnFailure" if policy == "Always" else policy):
                return False
        self._initialized = not self._stopping.is_set()
        return self._initialized

    async def _run_container(self, container: Container, policy: str) -> int:
        """Run it as often as the restart policy asks; return the last exit code."""
        attempts = _attempts(self._node.restart_seconds)
        while not self._stopping.is_set():
            launch = await self._launch(container)
            if launch is None:
                await self._pause(next(attempts))
                continue
            code = await container.run(launch)
            again = policy == "Always" or (policy == "OnFailure" and code != 0)
            if self._stopping.is_set() or not again:
                return code
            container.back_off(self._node.restart_seconds)
            await self._pause(self._node.restart_seconds)
        return container.exit_code or 0

    async def _launch(self, container: Container) -> Launch | None:
        """What to start; None if the container has to wait, with the reason in its status."""
        spec = container.spec
        entrypoint = self._node.images.get(spec["image"])
        if entrypoint is None:
            problem_text = f'failed to pull image "{spec["image"]}": not found'
            container.wait_because("ErrImagePull", problem_text)
            container.wait_because(
                "ImagePullBackOff", f'Back-off pulling image "{spec["image"]}": ErrImagePull: {problem_text}'
            )
            return None
        mounts = volumes.mounts(spec, self._folder)
        try:
            stated = await environment.variables(self._pod, spec, self._fetch)
        except CannotConfigure as problem:
            container.wait_because("CreateContainerConfigError", str(problem))
            return None
        arguments = [*(spec.get("command") or entrypoint), *(spec.get("args") or ())]
        message = self._message_file(spec, mounts)
        return Launch(
            command=[mounts.rewrite(environment.expanded(argument, stated)) for argument in arguments],
            environment=self._surroundings(message, mounts)
            | {key: mounts.rewrite(value) for key, value in stated.items()},
            folder=Path(mounts.rewrite(spec["workingDir"])) if "workingDir" in spec else self._folder,
            log=self._folder / "logs" / f"{container.name}.log",
            message=message,
            memory_limit=memory_limit(spec),
        )

    def _message_file(self, spec: Object, mounts: volumes.Mounts) -> Path:
        stated = spec.get("terminationMessagePath", _DEFAULT_MESSAGE_PATH)
        rewritten = mounts.rewrite(stated)
        return Path(rewritten) if rewritten != stated else self._folder / "messages" / spec["name"]

    def _surroundings(self, message: Path, mounts: volumes.Mounts) -> dict[str, str]:
        """Variables that the cluster and the runtime set, and those a process needs from this machine."""
        return {name: os.environ[name] for name in _INHERITED if name in os.environ} | {
            "HOSTNAME": documents.name(self._pod),
            "KUBERNETES_API_URL": self._node.api.server.url,
            "SERVICE_ACCOUNT_PATH": str(mounts.folders[volumes.SERVICE_ACCOUNT_MOUNT]),
            "TERMINATION_MESSAGE_PATH": str(message),
        }

    async def _service_account(self) -> dict[str, bytes]:
        if self._pod["spec"].get("automountServiceAccountToken") is False:
            return {}
        namespace = documents.namespace(self._pod)
        files = {"token": (await self._new_token()).encode(), "namespace": namespace.encode()}
        if ca_file := self._node.api.server.ca_file:
            files["ca.crt"] = await asyncio.to_thread(ca_file.read_bytes)
        return files

    async def _new_token(self) -> str:
        name = self._pod["spec"].get("serviceAccountName") or "default"
        accounts = f"/api/v1/namespaces/{documents.namespace(self._pod)}/serviceaccounts"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        try:
            if name == "default":
                with contextlib.suppress(Missing):
                    await self._node.api.create(accounts, {"metadata": {"name": name}})
            answer = await self._node.api.create(f"{accounts}/{name}/token", request)
        except Missing:
            raise CannotConfigure(f'serviceaccount "{name}" not found') from None
        return str(answer["status"]["token"])

    def _fetch(self, plural: str, name: str) -> Awaitable[Object]:
        return self._node.api.get(f"/api/v1/namespaces/{documents.namespace(self._pod)}/{plural}/{name}")

    async def _stop(self, containers: list[Container]) -> None:
        """SIGTERM, the grace period, SIGKILL."""
        for each in containers:
            each.send(signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._stop_grace):
                for each in containers:
                    await each.idle.wait()
        for each in containers:
            each.send(signal.SIGKILL)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    def _all(self) -> list[Container]:
        return [*self._init, *self._main]

    def _queue_status(self, *, over: bool = False) -> None:
        self._statuses.put_nowait(self._status(over=over))

    async def _write_statuses(self) -> None:
        while True:
            status = await self._statuses.get()
            if not self._vanished:
                with contextlib.suppress(Missing):
                    await self._node.api.patch_status(self.path, self.uid, status)
            self._statuses.task_done()

    def _status(self, *, over: bool) -> Object:
        ready = all(each.running for each in self._main)
        facts = {"PodScheduled": True, "Initialized": self._initialized, "ContainersReady": ready, "Ready": ready}
        moment = times.to_seconds(times.now())
        status: Object = {
            "phase": self._phase(over=over),
            "startTime": times.to_seconds(self._started_at),
            "hostIP": _ADDRESS,
            "podIP": _ADDRESS,
            "conditions": [
                {"type": name, "status": str(holds), "lastTransitionTime": moment} for name, holds in facts.items()
            ],
            "containerStatuses": [each.status for each in self._main],
        }
        if self._init:
            status["initContainerStatuses"] = [each.status for each in self._init]
        return status | (self._end if over else {})

    def _phase(self, *, over: bool) -> str:
        if over:
            codes = [each.exit_code for each in self._main]
            return "Succeeded" if all(code == 0 for code in codes) else "Failed"
        return "Running" if all(each.started for each in self._main) else "Pending"


def _attempts(seconds: float) -> Iterator[float]:
    """The waits between attempts to start a container: they double up to the kubelet's ratio of 10 s to 5 min."""
    longest = seconds * 30
    while True:
        yield seconds
        seconds = min(2 * seconds, longest)


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
