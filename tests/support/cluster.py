"""What tests on a real cluster stand on: a namespace that allows little, Jobs in it, and what kubectl shows of them."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lab.real.cluster import job_template
from lab.real.servers.agent import RealAgent
from tests.support.adapter import Cluster

# Generous, because the machine may be slow; nothing waits this long unless it is broken.
TIMEOUT = 300.0
RETRY_SECONDS = 0.2
MOST_JOBS = 12
# Jobs that may follow a deletion before its end is taken for one that the agent will never confirm.
PATIENT_JOBS = 3
# How long the status reporter waits for a last report and writes it; within the pod's own grace period.
REPORTER_GRACE_SECONDS = 20
# Longer than any look at a Job that has ended takes.
KEPT_SECONDS = 3600
# What kubectl says when the machine stood still for 10 s, and how often a connection is tried.
_NOT_CONNECTED, _CONNECTIONS = "TLS handshake timeout", 5
ACCOUNT = "maestro-adapter-sa"
DATA_ANNOTATION = "hyperfleet.io/adapter-report"

Document = dict[str, Any]


class Refused(RuntimeError):
    """kubectl failed; the message has its output."""


@dataclass(frozen=True, slots=True)
class Kubectl:
    """The command with one kubeconfig; `options` go before each command, such as the namespace or another token."""

    program: Path
    kubeconfig: Path
    options: tuple[str, ...] = ()

    def with_(self, *options: str) -> "Kubectl":
        return Kubectl(self.program, self.kubeconfig, (*self.options, *options))

    async def __call__(self, *arguments: str, stdin: Any = None) -> str:
        """What it printed. A server that was too slow to be connected to is asked again: nothing was sent to it."""
        for _ in range(_CONNECTIONS - 1):
            try:
                return await self._once(*arguments, stdin=stdin)
            except Refused as error:
                if _NOT_CONNECTED not in str(error):
                    raise
        return await self._once(*arguments, stdin=stdin)

    async def _once(self, *arguments: str, stdin: Any) -> str:
        process = await asyncio.create_subprocess_exec(
            *self._command(arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        content = None if stdin is None else (stdin if isinstance(stdin, str) else json.dumps(stdin)).encode()
        try:
            async with _ending(process), asyncio.timeout(TIMEOUT):
                output, errors = await process.communicate(content)
        except TimeoutError:
            raise Refused(f"kubectl {' '.join(arguments)} did not end in {TIMEOUT:.0f} s") from None
        if process.returncode != 0:
            raise Refused(errors.decode().strip())
        return output.decode()

    async def get(self, *arguments: str) -> Document:
        document: Document = json.loads(await self("get", *arguments, "--output=json"))
        return document

    @contextlib.asynccontextmanager
    async def lines(self, *arguments: str) -> AsyncIterator[asyncio.StreamReader]:
        """What a command that goes on prints, as long as somebody listens."""
        process = await asyncio.create_subprocess_exec(
            *self._command(arguments), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, limit=2**22
        )
        assert process.stdout is not None
        async with _ending(process):
            yield process.stdout

    def _command(self, arguments: Sequence[str]) -> tuple[str, ...]:
        return (str(self.program), f"--kubeconfig={self.kubeconfig}", *self.options, *arguments)


@dataclass(frozen=True, slots=True)
class JobNamespace:
    """One namespace, in which only restricted pods may run."""

    kubectl: Kubectl
    name: str

    async def create(self, *documents: Document) -> None:
        await self.kubectl("create", "--filename=-", stdin={"apiVersion": "v1", "kind": "List", "items": documents})

    async def job(self, name: str) -> "Seen":
        return Seen(await self.kubectl.get("job", name))

    async def until(self, name: str, holds: Callable[["Seen"], Any]) -> "Seen":
        """The Job once something holds of it; fails with what was seen instead."""
        last: list[Document] = []

        def reached(document: Document) -> Any:
            last[:] = [document]
            return holds(Seen(document))

        try:
            return Seen(await self.first(reached, "jobs", f"--field-selector=metadata.name={name}"))
        except TimeoutError:
            status = last[0].get("status") if last else "there was no such Job"
            raise AssertionError(f"not seen; the Job's status is {status}\n{await self.story(name)}") from None

    async def ended(self, name: str, how: str) -> "Seen":
        """The Job once it has ended, which must be in this way."""
        seen = await self.until(name, lambda job: job.over)
        assert seen.over == how, f"ended with {seen.over}: {seen.conditions}\n{await self.story(name)}"
        return seen

    async def first(self, holds: Callable[[Document], Any], *what: str, within: float = TIMEOUT) -> Document:
        """The first object of these for which something holds. A watch that breaks is begun again."""
        async with asyncio.timeout(within):
            while True:
                async with self.kubectl.lines("get", *what, "--watch", "--output=json") as output:
                    async for document in _documents(output):
                        if holds(document):
                            return document
                await asyncio.sleep(RETRY_SECONDS)

    async def pods(self, job: str) -> list[Document]:
        listed: list[Document] = (await self.kubectl.get("pods", f"--selector=job-name={job}"))["items"]
        return listed

    async def terminated(self, job: str, container: str) -> Document:
        """How a container of the Job's only pod ended, as the kubelet says."""
        (pod,) = await self.pods(job)
        (ended,) = (
            each["state"]["terminated"] for each in pod["status"]["containerStatuses"] if each["name"] == container
        )
        found: Document = ended
        return found

    async def running_pod(self, job: str) -> str:
        """The name of the Job's pod, once all of its containers run."""

        def runs(pod: Document) -> bool:
            states = [each["state"] for each in pod["status"].get("containerStatuses", ())]
            return "deletionTimestamp" not in pod["metadata"] and bool(states) and all("running" in s for s in states)

        name: str = (await self.first(runs, "pods", f"--selector=job-name={job}"))["metadata"]["name"]
        return name

    async def pod_with_listening_reporter(self, job: str) -> str:
        """The name of the Job's pod, once its reporter waits for a report and would notice a signal."""
        pod = await self.running_pod(job)
        await self.logged(pod, "status-reporter", "no report yet")
        return pod

    async def logged(self, pod: str, container: str, text: str) -> None:
        """Return when a container has logged this text. A stream that breaks is begun again, from the first line."""
        try:
            async with asyncio.timeout(TIMEOUT):
                while True:
                    async with self.kubectl.lines("logs", pod, f"--container={container}", "--follow") as output:
                        async for line in output:
                            if text in line.decode():
                                return
                    await asyncio.sleep(RETRY_SECONDS)
        except TimeoutError:
            raise AssertionError(f"{pod} has not logged {text!r}") from None

    async def gone(self, what: str, name: str) -> None:
        await self.kubectl("wait", "--for=delete", f"{what}/{name}", f"--timeout={TIMEOUT:.0f}s")

    async def expire(self, job: str) -> None:
        """Let the TTL of a Job that has ended be over; return when it is gone with its pods."""
        await self.kubectl("patch", "job", job, '--patch={"spec": {"ttlSecondsAfterFinished": 0}}')
        await self.gone("job", job)

    async def story(self, job: str) -> str:
        """All that there is to know of a Job that did not do as expected."""
        chapters = []
        for command in (
            ("describe", "job", job),
            ("describe", "pods", f"--selector=job-name={job}"),
            ("logs", f"--selector=job-name={job}", "--all-containers", "--prefix", "--tail=20"),
        ):
            with contextlib.suppress(Refused):
                chapters.append(await self.kubectl(*command))
        return "\n".join(chapters)


@contextlib.asynccontextmanager
async def _ending(process: asyncio.subprocess.Process) -> AsyncIterator[None]:
    """It is over when this is left. A timeout that fires meanwhile waits for that; a killed process ends at once."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        end = asyncio.create_task(process.communicate())
        try:
            await asyncio.shield(end)
        except asyncio.CancelledError:
            await end
            raise


async def _documents(output: asyncio.StreamReader) -> AsyncIterator[Document]:
    """Kubectl writes each object over many lines; a closing brace at the margin ends it."""
    lines: list[bytes] = []
    async for line in output:
        lines.append(line)
        if line.rstrip() == b"}":
            yield json.loads(b"".join(lines))
            lines.clear()


@dataclass(frozen=True, slots=True)
class Seen:
    """A Job as kubectl shows it. A test that fails shows its conditions."""

    document: Document

    def __repr__(self) -> str:
        shown = (f"{name}={each['status']} ({each.get('reason', '')})" for name, each in self.conditions.items())
        return f"Seen({', '.join(shown)})"

    @property
    def conditions(self) -> dict[str, Document]:
        return {each["type"]: each for each in self.document.get("status", {}).get("conditions", ())}

    @property
    def data(self) -> Any:
        annotation = self.document["metadata"].get("annotations", {}).get(DATA_ANNOTATION)
        return None if annotation is None else json.loads(annotation)

    @property
    def over(self) -> str:
        """How the Job ended, by the controller's reason; empty while it goes on."""
        ends = [self.conditions.get(each, {}) for each in ("Complete", "Failed")]
        return next((str(each["reason"]) for each in ends if each.get("status") == "True"), "")

    def reason(self, type_: str) -> str:
        return str(self.conditions.get(type_, {}).get("reason", ""))

    def message(self, type_: str) -> str:
        return str(self.conditions.get(type_, {}).get("message", ""))

    def has_condition(self, type_: str, status: str, reason: str) -> bool:
        found = self.conditions.get(type_, {})
        return (found.get("status"), found.get("reason")) == (status, reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTemplate:
    """The Job that we ship, without a namespace; its images and where Maestro is are the test's.

    `slowness` lengthens all of its deadlines, for a machine on which an outage takes longer than it should.
    """

    adapter_image: str
    reporter_image: str
    maestro_api_url: str = "https://maestro.example.com"
    maestro_grpc_url: str = "maestro.example.com:8090"
    consumer: str = "nobody"
    slowness: int = 1

    def controlplane(self, cluster: Cluster, **spec: Any) -> Document:
        """The Job of the cluster's generation, which stays until the test removes it. `spec` replaces more of it."""
        rendered: Document = job_template.rendered(
            cluster.snapshot(),
            adapter_image=self.adapter_image,
            reporter_image=self.reporter_image,
            maestro_api_url=self.maestro_api_url,
            maestro_grpc_url=self.maestro_grpc_url,
            consumer=self.consumer,
        )
        del rendered["metadata"]["namespace"]  # the test's own
        self._lengthen(rendered["spec"])
        rendered["spec"] |= {"ttlSecondsAfterFinished": KEPT_SECONDS, **spec}
        return rendered

    def script(self, name: str, script: str, *, limit: str = "128Mi", **spec: Any) -> Document:
        """The same Job for another adapter, which is a shell script."""
        job = self.controlplane(Cluster(), **spec)
        job["metadata"] = {"name": name}
        inside = job["spec"]["template"]["spec"]
        job["spec"]["template"] = {"spec": inside}
        adapter, reporter = inside["containers"]
        adapter |= {"command": ["sh", "-c", script], "resources": {"limits": {"memory": limit}}, "env": []}
        adapter["volumeMounts"] = [each for each in adapter["volumeMounts"] if each["name"] == "results"]
        inside["volumes"] = [each for each in inside["volumes"] if each["name"] in {"results", "account"}]
        reporter["env"] = [each for each in reporter["env"] if each["name"] != "JOB_NAME"]
        reporter["env"].append({"name": "LOG_LEVEL", "value": "debug"})
        return job

    def _lengthen(self, spec: Document) -> None:
        if self.slowness == 1:
            return
        pod = spec["template"]["spec"]
        spec["activeDeadlineSeconds"] *= self.slowness
        pod["activeDeadlineSeconds"] *= self.slowness
        pod["terminationGracePeriodSeconds"] *= self.slowness
        _, reporter = pod["containers"]
        grace = str(REPORTER_GRACE_SECONDS * self.slowness)
        reporter["env"].append({"name": "SHUTDOWN_GRACE_SECONDS", "value": grace})
        for variable in (each for container in pod["containers"] for each in container["env"]):
            if variable["name"] in {"ADAPTER_TIME_BUDGET", "MAX_WAIT_TIME_SECONDS"}:
                variable["value"] = re.sub(r"\d+", lambda each: str(int(each[0]) * self.slowness), variable["value"])


class Jobs:
    """Job after Job for a cluster, each once the former one is gone by its TTL."""

    def __init__(self, namespace: JobNamespace, template: JobTemplate) -> None:
        self.namespace, self._template = namespace, template

    async def start(self, wanted: Cluster, **spec: Any) -> str:
        job = self._template.controlplane(wanted, **spec)
        await self.namespace.create(job)
        return str(job["metadata"]["name"])

    async def run(self, wanted: Cluster, how: str = "CompletionsReached") -> Seen:
        """One Job from its creation to its removal."""
        name = await self.start(wanted)
        seen = await self.namespace.ended(name, how)
        await self.namespace.expire(name)
        return seen

    async def until(self, wanted: Cluster, reached: Callable[[Seen], bool]) -> Seen:
        for _ in range(MOST_JOBS):
            seen = await self.run(wanted)
            if reached(seen):
                return seen
        raise AssertionError(f"not reached in {MOST_JOBS} Jobs; the last one has {seen.conditions} and {seen.data}")

    async def until_finalized(self, wanted: Cluster, agent: RealAgent) -> Seen:
        """Maestro's agent sometimes never confirms a deletion; it is then started anew, as an operator would."""
        for _ in range(PATIENT_JOBS):
            seen = await self.run(wanted)
            if _is_finalized(seen):
                return seen
        agent.kill()
        agent.start()
        return await self.until(wanted, _is_finalized)


def _is_finalized(seen: Seen) -> bool:
    return bool(seen.conditions["Finalized"]["status"] == "True")


def rights() -> list[Document]:
    """The account of such Jobs and what its token may do: the file that we ship, without a namespace."""
    documents: list[Document] = list(yaml.safe_load_all((job_template.FOLDER / "rbac.yaml").read_text()))
    for each in documents:
        for named in (each["metadata"], *each.get("subjects", ())):
            del named["namespace"]
    return documents


def restricted(namespace: str) -> Document:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels}}


@contextlib.asynccontextmanager
async def job_namespace(kubectl: Kubectl, name: str) -> AsyncIterator[JobNamespace]:
    """A restricted namespace with the service account of our Jobs; deleted at the end."""
    await kubectl("create", "--filename=-", stdin=restricted(name))
    namespace = JobNamespace(kubectl.with_(f"--namespace={name}"), name)
    await namespace.create(*rights())
    try:
        yield namespace
    finally:
        await kubectl("delete", "namespace", name, "--wait=false")


def client_certificate(authority: Path, certificate: Path, key: Path) -> Document:
    """The adapter's identity towards Maestro, as the template expects it."""
    files = {"ca.crt": authority, "tls.crt": certificate, "tls.key": key}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "maestro-client-tls"},
        "stringData": {name: file.read_text() for name, file in files.items()},
    }
