"""Adapters on the cluster, installed by our chart: what they need beforehand, their values, and their releases."""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.real.artifacts.helm import Helm
from lab.real.artifacts.steps import step
from lab.real.cluster.cluster import Cluster
from lab.real.cluster.maestro import CONSUMER, ClusterMaestro
from lab.real.installed.services import Services

PROJECT = Path(__file__).parents[3]
CHART = PROJECT / "charts" / "hyperfleet-adapter"
EXAMPLE = CHART / "examples" / "rabbitmq.yaml"
SHIPPED = PROJECT / "jobs" / "controlplane"
SYSTEM, JOBS = "hyperfleet-system", "hyperfleet-adapters"
CONTROL_PLANE = "controlplane"
_RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}
_TTL = re.compile(r"^( *ttlSecondsAfterFinished:) \d+$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    dispatcher: str
    adapter: str
    reporter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterFiles:
    """The two configs of an adapter, and what the task config refers to."""

    adapter_config: Path
    task_config: Path
    others: tuple[Path, ...] = ()

    def flags(self) -> list[str]:
        found = [("adapterConfig.yaml", self.adapter_config), ("adapterTaskConfig.yaml", self.task_config)]
        for file in self.others:
            key = file.name.replace(".", "\\.")
            found.append((f"adapterTaskConfig.files.{key}", file))
        return [each for name, file in found for each in ("--set-file", f"{name}={file}")]


def control_plane_files(folder: Path, *, ttl: int) -> AdapterFiles:
    """The shipped files; only the TTL of the Job is another one."""
    folder.mkdir(parents=True)
    job = folder / "job.yaml"
    job.write_text(with_ttl((SHIPPED / "job.yaml").read_text(), ttl))
    names = ("hypershift-controlplane-adapter-config.yaml", "hypershift-controlplane-task-config.yaml")
    adapter, task = (Path(shutil.copy(SHIPPED / name, folder)) for name in names)
    return AdapterFiles(adapter_config=adapter, task_config=task, others=(job,))


def with_ttl(manifest: str, seconds: int) -> str:
    changed, count = _TTL.subn(rf"\g<1> {seconds}", manifest)
    if count != 1:
        raise ValueError(f"the manifest has {count} lines with ttlSecondsAfterFinished, not one")
    return changed


class Releases:
    """The releases of one cluster."""

    def __init__(self, cluster: Cluster, services: Services, maestro: ClusterMaestro, folder: Path) -> None:
        self._cluster, self._services, self._maestro = cluster, services, maestro
        self._folder = folder
        self.helm = Helm(folder / "helm", cluster.place.kubeconfig)

    def prepare(self) -> None:
        """Both namespaces and the two Secrets."""
        identity = {
            "ca.crt": self._maestro.ca_file,
            "tls.crt": self._maestro.client.certificate,
            "tls.key": self._maestro.client.key,
        }
        self._cluster.apply(
            *(_object("Namespace", name, labels=_RESTRICTED) for name in (SYSTEM, JOBS)),
        )
        self._cluster.apply(
            _secret("hyperfleet-rabbitmq", SYSTEM, {"url": self._services.broker_url}),
            _secret("maestro-client-tls", JOBS, {name: file.read_text() for name, file in identity.items()}),
        )

    def install(self, name: str, files: AdapterFiles, images: Images, values: Mapping[str, Any] | None = None) -> None:
        """Install or upgrade a release, and return when its pods are ready. `values` are merged over the others."""
        here, more = self._folder / f"{name}.json", self._folder / f"{name}-more.json"
        here.write_text(json.dumps(self._values(images), indent=2))
        more.write_text(json.dumps(values or {}, indent=2))
        arguments: list[str | Path] = ["--namespace", SYSTEM, "-f", EXAMPLE, "-f", here, "-f", more, *files.flags()]
        with step(f"helm install {name}"):
            self._run("upgrade", "--install", name, CHART, *arguments, "--wait", "--timeout=10m")

    def scale(self, name: str, replicas: int) -> None:
        """Upgrade a release to so many replicas, all else unchanged; return when they are ready."""
        values = ("--reuse-values", "--set", f"replicaCount={replicas}")
        self._run("upgrade", name, CHART, "--namespace", SYSTEM, *values, "--wait", "--timeout=10m")

    def uninstall(self, name: str) -> None:
        self._run("uninstall", name, "--namespace", SYSTEM, "--wait", "--timeout=10m")

    def clear(self) -> None:
        """Remove both namespaces with everything in them."""
        self._cluster.kubectl("delete", "namespace", SYSTEM, JOBS, "--ignore-not-found")

    def _values(self, images: Images) -> dict[str, Any]:
        """What is particular to this cluster: images that are loaded already, and addresses instead of names."""
        registry, _, name = images.dispatcher.partition("/")
        repository, _, tag = name.partition(":")
        environment = {
            "MANAGEMENT_CLUSTER_CONSUMER": CONSUMER,
            "MAESTRO_API_URL": self._maestro.rest_url,
            "MAESTRO_GRPC_URL": self._maestro.grpc_address,
            "ADAPTER_IMAGE": images.adapter,
            "REPORTER_IMAGE": images.reporter,
        }
        return {
            "image": {"registry": registry, "repository": repository, "tag": tag, "pullPolicy": "Never"},
            "adapterConfig": {"hyperfleetApi": {"baseUrl": self._services.api_url}},
            "hostAliases": self._services.host_aliases,
            "env": [{"name": key, "value": value} for key, value in environment.items()],
            "readinessProbe": {"periodSeconds": 1},
        }

    def _run(self, *arguments: str | Path) -> None:
        outcome = self.helm.run(*arguments)
        if outcome.returncode != 0:
            pods = self._cluster.kubectl("describe", "pods", "--namespace", SYSTEM).stdout
            raise RuntimeError(f"helm {arguments[0]} failed: {outcome.stderr}\n{pods}")


def _object(kind: str, name: str, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **metadata}}


def _secret(name: str, namespace: str, content: Mapping[str, str]) -> dict[str, Any]:
    return {**_object("Secret", name, namespace=namespace), "stringData": dict(content)}
