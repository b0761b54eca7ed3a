"""What every test of the sidecar stands on: a Job with its pod on an API server, and the reporter as a real process."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.signals import send_signal
from tests.support.kubernetes import TIMEOUT, Api, Document, KubernetesServer, good, unique

# What the chart grants the sidecar, and nothing else.
ROLE = (
    {"apiGroups": ["batch"], "resources": ["jobs/status"], "verbs": ["patch"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "watch"]},
)
DATA_ANNOTATION = "hyperfleet.io/adapter-report"
APPLIED = {"type": "Applied", "status": "True", "reason": "Created", "message": "it is there"}
AVAILABLE = {"type": "Available", "status": "False", "reason": "Provisioning", "message": "not yet"}
HEALTHY = {"type": "Health", "status": "True", "reason": "NoIssues", "message": ""}


@dataclass(slots=True)
class Scene:
    """One Job with one pod. The test plays the kubelet and the adapter; the reporter is real."""

    api: Api
    name: str
    folder: Path
    environment: dict[str, str]
    process: asyncio.subprocess.Process | None = None
    output: list[str] = field(default_factory=list)

    @property
    def report_file(self) -> Path:
        return self.folder / "results" / "adapter-report.json"

    def write(self, document: Any) -> None:
        """As a careful adapter writes: all of it or nothing."""
        temporary = self.report_file.with_suffix(".tmp")
        temporary.write_text(document if isinstance(document, str) else json.dumps(document))
        temporary.rename(self.report_file)

    async def start(self, *prefix: str, **environment: str) -> None:
        """Start the reporter; `prefix` is a program that runs it."""
        self.process = await asyncio.create_subprocess_exec(
            *prefix,
            *(sys.executable, "-m", "status_reporter"),
            env={**os.environ, **self.environment, **environment},
            stderr=asyncio.subprocess.PIPE,
        )

    async def container(self, state: Document, *, restarts: int = 0, **pod_status: Any) -> None:
        """Set the state of the adapter's container, as the kubelet would."""
        statuses = [
            {
                "name": name,
                "state": state if name == "adapter" else {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
                "restartCount": restarts if name == "adapter" else 0,
                "image": "x",
                "imageID": "x",
                "ready": False,
            }
            for name in ("adapter", "status-reporter")
        ]
        body = {"status": {"phase": "Running", "containerStatuses": statuses, **pod_status}}
        good(await self.api.patch("pods", self.name, body, "status"))

    async def runs(self, **more: Any) -> None:
        await self.container({"running": {"startedAt": "2026-01-01T00:00:00Z"}}, **more)

    async def ends(self, exit_code: int = 0, *, reason: str = "", **more: Any) -> None:
        reason = reason or ("Completed" if exit_code == 0 else "Error")
        terminated = {"exitCode": exit_code, "reason": reason, "startedAt": None, "finishedAt": None, **more}
        await self.container({"terminated": {key: value for key, value in terminated.items() if value is not None}})

    async def job(self) -> Document:
        return good(await self.api.get("jobs", self.name))

    async def conditions(self) -> dict[str, Document]:
        return {each["type"]: each for each in (await self.job()).get("status", {}).get("conditions", [])}

    async def until(self, reached: Callable[[dict[str, Document]], bool]) -> dict[str, Document]:
        """The Job's conditions once they satisfy `reached`, as a watch on the Job shows them."""
        last: dict[str, Document] = {}
        try:
            async with asyncio.timeout(TIMEOUT):
                while True:
                    job = await self.job()
                    last = {each["type"]: each for each in job.get("status", {}).get("conditions", [])}
                    if reached(last):
                        return last
                    version = job["metadata"]["resourceVersion"]
                    query = {"fieldSelector": f"metadata.name={self.name}", "resourceVersion": version}
                    async with self.api.watch("jobs", **query) as watch:
                        await watch.next()
        except TimeoutError:
            raise AssertionError(
                f"not seen; the Job says {last}; the reporter says {await self.last_log_lines()}"
            ) from None

    async def until_reason(self, type_: str, reason: str) -> dict[str, Document]:
        return await self.until(lambda conditions: conditions.get(type_, {}).get("reason") == reason)

    async def data(self) -> Any:
        annotations = (await self.job())["metadata"].get("annotations", {})
        return json.loads(annotations[DATA_ANNOTATION]) if DATA_ANNOTATION in annotations else None

    async def exit_code(self) -> int:
        """How the reporter ended; its log goes to `output`."""
        assert self.process is not None
        async with asyncio.timeout(TIMEOUT):
            _, errors = await self.process.communicate()
        self.output = errors.decode().splitlines()
        assert self.process.returncode is not None
        return self.process.returncode

    async def until_logged(self, expected: str) -> None:
        """Wait for a line of the reporter's log that contains `expected`."""
        assert self.process is not None
        assert self.process.stderr is not None
        async with asyncio.timeout(TIMEOUT):
            async for line in self.process.stderr:
                if expected in line.decode():
                    return
        raise AssertionError(f"the log ended without {expected!r}")

    async def last_log_lines(self) -> str:
        """What the reporter has logged since it was last listened to; it is ended for that."""
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        _, errors = await self.process.communicate()
        return errors.decode()[-3000:]

    def terminate(self) -> None:
        assert self.process is not None
        send_signal(self.process, signal.SIGTERM)

    @property
    def termination_message(self) -> str:
        return (self.folder / "termination-log").read_text()


@contextlib.asynccontextmanager
async def scene_on(
    server: KubernetesServer, api: Api, folder: Path, *, rules: tuple[Mapping[str, Any], ...] = ROLE, **spec: Any
) -> AsyncIterator[Scene]:
    """A Job, its pod and the reporter's account with these rights; the reporter is not started yet."""
    name = unique("controlplane")
    account = await api.new_account([dict(rule) for rule in rules])
    containers = [{"name": each, "image": "x"} for each in ("adapter", "status-reporter")]
    pod_spec = {"restartPolicy": "Never", "containers": containers, **spec}
    job = {"metadata": {"name": name}, "spec": {"template": {"spec": pod_spec}}}
    created = good(await api.create("jobs", job))
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": name,
        "uid": created["metadata"]["uid"],
        "controller": True,
    }
    good(await api.create("pods", {"metadata": {"name": name, "ownerReferences": [owner]}, "spec": pod_spec}))
    (folder / "results").mkdir()
    scene = Scene(api, name, folder, _environment(server, account, name, folder))
    try:
        yield scene
    finally:
        if scene.process is not None and scene.process.returncode is None:
            scene.process.kill()
            await scene.process.communicate()


def _environment(server: KubernetesServer, account: Api, name: str, folder: Path) -> dict[str, str]:
    secrets = folder / "account"
    secrets.mkdir()
    (secrets / "token").write_text(account.token)
    (secrets / "namespace").write_text(account.namespace)
    if server.ca_file:
        (secrets / "ca.crt").write_bytes(server.ca_file.read_bytes())
    return {
        "KUBERNETES_API_URL": server.url,
        "SERVICE_ACCOUNT_PATH": str(secrets),
        "POD_NAME": name,
        "RESULTS_INPUT_PATH": str(folder / "results" / "adapter-report.json"),
        "TERMINATION_MESSAGE_PATH": str(folder / "termination-log"),
        "CONDITION_TYPE": "Applied,Available,Health",
        "MAX_WAIT_TIME_SECONDS": "600",
        "LOG_LEVEL": "debug",
    }
