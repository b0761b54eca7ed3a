"""Jobs in tests: a runner, Jobs made of shell scripts, and their visible state."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab.kubernetes.jobs import JobRunner
from tests.support.kubernetes import TIMEOUT, Api, Document, KubernetesServer, eventually, good

IMAGES = {"shell": ("sh", "-c"), "python": (sys.executable, "-c"), "nowhere": ("no-such-program",)}


def runner_of(server: KubernetesServer, api: Api, folder: Path) -> JobRunner:
    """A runner of the Jobs in a test's namespace."""
    return JobRunner(server, images=IMAGES, folder=folder, namespace=api.namespace, retry_seconds=0.05)


def shell(script: str, name: str = "adapter", **more: Any) -> Document:
    return {"name": name, "image": "shell", "args": [script], **more}


def job_of(*containers: Document, pod: Document | None = None, **spec: Any) -> Document:
    template = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 5, "containers": list(containers)}
    return {"metadata": {"name": "j"}, "spec": {"template": {"spec": template | (pod or {})}, **spec}}


async def reached(api: Api, plural: str, holds: Callable[[Document], Any], **query: Any) -> Document:
    """The first object of a kind for which something holds, seen through a watch."""
    seen: Document = {}
    try:
        async with asyncio.timeout(TIMEOUT), api.watch(plural, **query) as watch:
            while not (seen and holds(seen)):
                _, seen = await watch.next()
    except TimeoutError:
        raise AssertionError(f"not reached in {TIMEOUT:g} s; last seen {seen}") from None
    return seen


def conditions(job: Document) -> dict[str, str]:
    """Reasons of the conditions that hold, by type."""
    listed = job.get("status", {}).get("conditions") or ()
    return {each["type"]: each["reason"] for each in listed if each["status"] == "True"}


def has_ended(job: Document) -> bool:
    return bool(conditions(job).keys() & {"Complete", "Failed"})


async def ended(api: Api, job: Document) -> Document:
    """Create a Job and wait for its end."""
    good(await api.create("jobs", job))
    return await reached(api, "jobs", has_ended)


async def pods(api: Api) -> list[Document]:
    listed: list[Document] = good(await api.get("pods"))["items"]
    return sorted(listed, key=lambda each: each["metadata"]["creationTimestamp"])


async def only_pod(api: Api) -> Document:
    [pod] = await pods(api)
    return pod


def state(pod: Document, container: str = "adapter", *, which: str = "state") -> Document:
    statuses = [
        each
        for field in ("containerStatuses", "initContainerStatuses")
        for each in pod.get("status", {}).get(field) or ()
        if each["name"] == container
    ]
    found: Document = statuses[0][which] if statuses else {}
    return found


def is_running(container: str = "adapter") -> Callable[[Document], bool]:
    return lambda pod: "running" in state(pod, container)


def log_of(runner: JobRunner, pod: Document, container: str = "adapter") -> str:
    return (runner.folder_of(pod) / "logs" / f"{container}.log").read_text()


def wrote(runner: JobRunner, text: str) -> Callable[[Document], bool]:
    """Whether a pod is running and has logged something."""

    def holds(pod: Document) -> bool:
        file = runner.folder_of(pod) / "logs" / "adapter.log"
        return file.exists() and text in file.read_text()

    return holds


async def logged(runner: JobRunner, api: Api, text: str) -> Document:
    """The only pod, once its adapter has logged something."""
    pod = await reached(api, "pods", is_running())

    async def heard() -> bool:
        return wrote(runner, text)(pod)

    await eventually(heard)
    return pod
