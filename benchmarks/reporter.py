"""The status reporter: how soon a Job shows what happened, and what a whole run of the sidecar costs.

Times run from the cause (the rename of the file, the request that changes the pod's status) to the event of a watch on
the Job that shows the condition; a bare PATCH stands beside them. Each run is a process of its own, started as in the
image. Other processes only add to the CPU time of a run, so the least is nearest to its own.
"""

import base64
import contextlib
import http.client
import itertools
import json
import os
import re
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks import _image
from lab.real.artifacts import images
from lab.real.servers.kubernetes import RealKubernetes

REPORTS, ENDINGS, RUNS, STARTS = 200, 100, 15, 15
# Sidecars are started in groups ahead of their turn, so that no start disturbs a measurement.
GROUP = 10
NAMESPACE = "default"
JOBS, PODS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs", f"/api/v1/namespaces/{NAMESPACE}/pods"
APPLIED = {"type": "Applied", "status": "True", "reason": "Created", "message": "it is there"}
REPORT = json.dumps({"conditions": [APPLIED], "data": {"version": "4.22.0"}})
ENDED = {"terminated": {"exitCode": 1, "reason": "Error"}}
REPORTER = (*_image.PYTHON, "-m", "status_reporter")

_numbers = itertools.count()


def main() -> None:
    print("\nstatus reporter: milliseconds from the cause to the condition, as a watch on the Job shows it\n")
    print(f"{'server':<10} {'cause':<28} {'runs':>5} {'p50':>8} {'p99':>8} {'most':>8}")
    with _stand_in() as server:
        _measure(server)
    if any(images.kept().glob("kubernetes-*/kube-apiserver")):
        with _real() as server:
            _measure(server)
    else:
        print("(the real API server has not been built here, so it is left out: `make e2e` builds it)")
    _start_cost()


@dataclass(frozen=True, slots=True)
class Server:
    """An API server, as its admin's kubeconfig describes it."""

    name: str
    url: str
    token: str
    authority: str

    @classmethod
    def of(cls, name: str, kubeconfig: Path) -> "Server":
        document = json.loads(kubeconfig.read_text())
        cluster = document["clusters"][0]["cluster"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        return cls(name, cluster["server"], document["users"][0]["user"]["token"], authority)


@contextlib.contextmanager
def _stand_in() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = Path(folder) / "kubeconfig"
        command = [sys.executable, "-m", "lab.kubernetes.command", "--kubeconfig", str(kubeconfig)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        try:
            process.stdout.readline()
            server = Server.of("stand-in", kubeconfig)
            _Api(server).until_ready()
            yield server
        finally:
            process.terminate()
            process.wait()


@contextlib.contextmanager
def _real() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        real = RealKubernetes(Path(folder))
        try:
            real.prepare()
            real.start()
            yield Server.of("real", real.kubeconfig)
        finally:
            real.stop()


class _Api:
    """The admin's requests on one connection; a watch has one of its own."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._trust = ssl.create_default_context(cadata=server.authority)
        self._connection = self._connect()

    def call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        kind = "application/strategic-merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {self._server.token}", "Content-Type": kind}
        self._connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = self._connection.getresponse()
        document: dict[str, Any] = json.loads(answer.read())
        if answer.status >= http.client.BAD_REQUEST:
            raise RuntimeError(f"{method} {path}: {document}")
        return document

    def shown_after(self, job: str, cause: Callable[[], object]) -> float:
        """How many milliseconds after the cause a watch shows a condition on the Job."""
        version = self.call("GET", f"{JOBS}/{job}")["metadata"]["resourceVersion"]
        query = f"watch=1&fieldSelector=metadata.name={job}&resourceVersion={version}"
        with contextlib.closing(self._connect()) as connection:
            connection.request("GET", f"{JOBS}?{query}", headers={"Authorization": f"Bearer {self._server.token}"})
            answer = connection.getresponse()
            began = time.perf_counter()
            cause()
            for line in answer:
                if json.loads(line)["object"].get("status", {}).get("conditions"):
                    return (time.perf_counter() - began) * 1000
        raise RuntimeError("the watch ended with no condition")

    def until_ready(self) -> None:
        deadline = time.monotonic() + 30
        while True:
            try:
                self.call("GET", PODS)
            except OSError:
                self._connection.close()
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def _connect(self) -> http.client.HTTPSConnection:
        url = urlsplit(self._server.url)
        return http.client.HTTPSConnection(url.hostname or "", url.port, timeout=60, context=self._trust)


class _Sidecar:
    """A Job with its pod, and a reporter that runs beside them."""

    def __init__(self, server: Server, api: _Api, folder: Path) -> None:
        self.job = f"bench-{next(_numbers)}"
        self._api, self._report = api, folder / self.job / "results" / "adapter-report.json"
        self._report.parent.mkdir(parents=True)
        containers = [{"name": name, "image": "x"} for name in ("adapter", "status-reporter")]
        spec = {"restartPolicy": "Never", "containers": containers}
        made = api.call("POST", JOBS, {"metadata": {"name": self.job}, "spec": {"template": {"spec": spec}}})
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": self.job, "uid": made["metadata"]["uid"]}
        api.call("POST", PODS, {"metadata": {"name": self.job, "ownerReferences": [owner]}, "spec": spec})
        self._process = subprocess.Popen(
            REPORTER, env=self._environment(server, folder / self.job), stderr=subprocess.PIPE, text=True
        )

    def _environment(self, server: Server, folder: Path) -> dict[str, str]:
        for name, text in (("token", server.token), ("namespace", NAMESPACE), ("ca.crt", server.authority)):
            (folder / name).write_text(text)
        return _image.environment(folder) | {
            "KUBERNETES_API_URL": server.url,
            "SERVICE_ACCOUNT_PATH": str(folder),
            "POD_NAME": self.job,
            "RESULTS_INPUT_PATH": str(self._report),
            "TERMINATION_MESSAGE_PATH": str(folder / "termination-log"),
            "LOG_LEVEL": "debug",
        }

    def until_ready(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if "no report yet" in line:
                return
        raise RuntimeError("the reporter ended before it began to wait")

    def report(self) -> None:
        temporary = self._report.with_suffix(".tmp")
        temporary.write_text(REPORT)
        temporary.rename(self._report)

    def end_adapter(self) -> None:
        status = {"name": "adapter", "state": ENDED, "restartCount": 0, "image": "x", "imageID": "x", "ready": False}
        body = {"status": {"phase": "Running", "containerStatuses": [status]}}
        self._api.call("PATCH", f"{PODS}/{self.job}/status", body)

    def memory(self) -> float:
        """The most memory it has had, in MiB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def cpu_of_run(self) -> float:
        """Its whole CPU time in milliseconds, once it has ended by itself."""
        assert self._process.stderr is not None
        with self._process.stderr:
            self._process.stderr.read()
        return _cpu_of(self._process)


def _cpu_of(process: subprocess.Popen[str]) -> float:
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return (usage.ru_utime + usage.ru_stime) * 1000


def _measure(server: Server) -> None:
    api = _Api(server)
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        _row(server, "report renamed", _latencies(server, folder, REPORTS, _Sidecar.report))
        _row(server, "container ended", _latencies(server, folder, ENDINGS, _Sidecar.end_adapter))
        _row(server, "bare PATCH", [_bare(api) for _ in range(REPORTS)])
        runs = [_run(server, api, folder) for _ in range(RUNS)]
    cpu, memory = (statistics.median(values) for values in zip(*runs, strict=True))
    least = min(cpu for cpu, _ in runs)
    print(
        f"{server.name:<10} a whole run: {cpu:.0f} ms CPU (least {least:.0f} ms), {memory:.1f} MiB at most "
        f"(median of {RUNS})"
    )


def _latencies(server: Server, folder: Path, runs: int, cause: Callable[[_Sidecar], None]) -> list[float]:
    api, taken = _Api(server), list[float]()
    while len(taken) < runs:
        sidecars = [_Sidecar(server, api, folder) for _ in range(GROUP)]
        for sidecar in sidecars:
            sidecar.until_ready()
        for sidecar in sidecars:
            taken.append(api.shown_after(sidecar.job, lambda: cause(sidecar)))  # noqa: B023 - called before the next turn
            sidecar.kill()
    return taken


def _bare(api: _Api) -> float:
    job = f"bench-{next(_numbers)}"
    spec = {"restartPolicy": "Never", "containers": [{"name": "adapter", "image": "x"}]}
    api.call("POST", JOBS, {"metadata": {"name": job}, "spec": {"template": {"spec": spec}}})
    body = {"status": {"conditions": [APPLIED]}}
    return api.shown_after(job, lambda: api.call("PATCH", f"{JOBS}/{job}/status", body))


def _run(server: Server, api: _Api, folder: Path) -> tuple[float, float]:
    """CPU and memory of a sidecar that waits, reports, sees the adapter end, and ends."""
    sidecar = _Sidecar(server, api, folder)
    sidecar.until_ready()
    api.shown_after(sidecar.job, sidecar.report)
    memory = sidecar.memory()
    sidecar.end_adapter()
    return sidecar.cpu_of_run(), memory


def _row(server: Server, cause: str, taken: list[float]) -> None:
    ordered = sorted(taken)
    median, late = statistics.median(ordered), ordered[int(len(ordered) * 0.99) - 1]
    print(
        f"{server.name:<10} {cause:<28} {len(ordered):>5} {median:>8.1f} {late:>8.1f} {ordered[-1]:>8.1f}", flush=True
    )


def _start_cost() -> None:
    print(f"\nstart cost of a fresh process, CPU, median of {STARTS} and the least\n")
    with tempfile.TemporaryDirectory() as folder:
        environment = _image.environment(Path(folder))
        for label, command in (
            ("python", (*_image.PYTHON, "-c", "pass")),
            ("status-reporter --help", (*REPORTER, "--help")),
            ("adapter-report schema", (*_image.PYTHON, "-m", "status_reporter.writing", "schema")),
        ):
            _start(command, environment)
            taken = [_start(command, environment) for _ in range(STARTS)]
            print(f"{label:<30} {statistics.median(taken):6.0f} ms {min(taken):6.0f} ms")


def _start(command: Sequence[str], environment: Mapping[str, str]) -> float:
    return _cpu_of(subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, text=True))


if __name__ == "__main__":
    main()
