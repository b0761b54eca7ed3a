"""A fleet of clusters that an adapter has served: its API, an API server and a Maestro, stand-ins or real."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from dispatcher.config.loading import load
from dispatcher.diff.object_diff import event_of
from dispatcher.engine.engine import Engine
from dispatcher.engine.runs import RunRequest, Status
from dispatcher.observability.tracing import NoTracing
from dispatcher.runtime.live_ports import open_ports
from lab.api import LabApi
from lab.api.http_api.documents import resource_document
from lab.kubeconfig import kubeconfig
from shared.kubernetes import KubernetesClient, ObjectRef
from shared.maestro import MaestroClient
from tests.support.kubernetes import KubernetesServer
from tests.support.kubernetes_client import client, server
from tests.support.maestro import MaestroServer, unique
from tests.support.plain_maestro import maestro_server

__all__ = ["client", "maestro_server", "server"]

SOURCE = "diff-contract"
REPORTED = ("Applied", "Available", "Health")
_GENERATION = {"hyperfleet.io/generation": "{{ .generation }}"}


def task(*, greeting: str = "hello", password: str = "first", available: str = "True", drift: str = "ignore") -> Any:
    """A Namespace, a ConfigMap, a Secret and a work for each cluster; the arguments are what tests change."""
    return {
        "params": [
            {"name": "clusterId", "source": "event.id", "required": True},
            {
                "name": "cluster",
                "source": {"api_call": {"method": "GET", "url": "/clusters/{{ .clusterId }}"}},
                "required": True,
            },
            {"name": "generation", "source": {"expression": "cluster.generation"}, "required": True},
            {"name": "place", "source": "env.CONTRACT_CONSUMER", "required": True},
        ],
        "resources": [
            _resource("namespace", "Namespace", "diff-{{ .clusterId }}", {}, namespace=""),
            {**_resource("settings", "ConfigMap", "settings", {"data": {"greeting": greeting}}), "drift": drift},
            _resource("credentials", "Secret", "credentials", {"stringData": {"password": password}}),
            _work(greeting),
        ],
        "post": {"payloads": [_payload(available)], "post_actions": [_REPORT]},
    }


def _resource(name: str, kind: str, object_name: str, content: Any, namespace: str = "diff-{{ .clusterId }}") -> Any:
    placed = {"namespace": namespace} if namespace else {}
    metadata = {"name": object_name, **placed, "annotations": _GENERATION}
    return {
        "name": name,
        "manifest": {"apiVersion": "v1", "kind": kind, "metadata": metadata, **content},
        "discovery": {**placed, "by_name": object_name},
    }


def superseding_job(namespace: str) -> Any:
    name = "job-{{ .clusterId }}-{{ .generation }}"
    labels = {"hyperfleet.io/cluster-id": "{{ .clusterId }}"}
    pod = {"restartPolicy": "Never", "containers": [{"name": "work", "image": "registry.example.com/work:1"}]}
    return {
        "name": "job",
        "supersedes": "lower-generations",
        "manifest": {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": namespace, "labels": labels, "annotations": _GENERATION},
            "spec": {"template": {"spec": pod}},
        },
        "discovery": {"namespace": namespace, "by_name": name},
    }


def _work(greeting: str) -> Any:
    nested = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "greeting", "namespace": "default", "annotations": _GENERATION},
        "data": {"greeting": greeting},
    }
    return {
        "name": "work",
        "transport": {"client": "maestro", "maestro": {"target_cluster": "{{ .place }}"}},
        "manifest": {
            "apiVersion": "work.open-cluster-management.io/v1",
            "kind": "ManifestWork",
            "metadata": {"name": "diff-{{ .clusterId }}", "annotations": _GENERATION},
            "spec": {"workload": {"manifests": [nested]}},
        },
        "discovery": {"by_name": "diff-{{ .clusterId }}"},
    }


def _payload(available: str) -> Any:
    states = dict.fromkeys(REPORTED, "True") | {"Available": available}
    conditions = [{"type": type_, "status": state, "reason": "Seen", "message": ""} for type_, state in states.items()]
    build = {
        "adapter": SOURCE,
        "observed_generation": {"expression": "generation"},
        "observed_time": '{{ now | date "2006-01-02T15:04:05Z07:00" }}',
        "conditions": conditions,
    }
    return {"name": "status", "build": build}


_REPORT = {
    "name": "report",
    "api_call": {"method": "PUT", "url": "/clusters/{{ .clusterId }}/statuses", "body": "{{ .status }}"},
}


@dataclass
class Answer:
    code: int
    text: str
    errors: str

    @property
    def document(self) -> Any:
        return json.loads(self.text)


@dataclass
class Fleet:
    folder: Path
    api: LabApi
    client: KubernetesClient
    maestro: MaestroClient
    environment: dict[str, str]

    @property
    def clusters(self) -> list[dict[str, Any]]:
        return [dict(resource_document(each)) for each in self.api.store.find()]

    def write(self, document: Any) -> list[str]:
        file = self.folder / "task-config.yaml"
        file.write_text(yaml.safe_dump(document))
        return ["-c", str(self.folder / "adapter-config.yaml"), "-t", str(file)]

    async def serve(self, document: Any) -> None:
        """What a dispatcher would do with one event for each cluster."""
        _, adapter, _, task_file = self.write(document)
        loaded = load(Path(adapter), Path(task_file), environment=self.environment)
        async with AsyncExitStack() as stack:
            live = await open_ports(stack, loaded, self.environment, NoTracing(), leases=False)
            engine = Engine(loaded.adapter, live.ports)
            for cluster in self.clusters:
                result = await engine.run(RunRequest(event=event_of(cluster)))
                assert result.status is Status.SUCCESS, result.errors

    async def diff(self, document: Any, *arguments: str) -> Answer:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "dispatcher.cli", "diff", *self.write(document), *arguments),
            stdout=PIPE,
            stderr=PIPE,
            env={**os.environ, **self.environment},
        )
        out, errors = await process.communicate()
        assert process.returncode is not None
        return Answer(process.returncode, out.decode(), errors.decode())

    async def state(self) -> dict[str, Any]:
        """The versions of everything stored, and what the API was asked to write."""
        found: dict[str, Any] = {}
        for cluster in self.clusters:
            namespace = f"diff-{cluster['id']}"
            named = [("Namespace", "", namespace), ("ConfigMap", namespace, "settings")]
            for kind, where, name in [*named, ("Secret", namespace, "credentials")]:
                stored = await self.client.get(ObjectRef(api_version="v1", kind=kind, namespace=where, name=name))
                found[f"{kind} {where}/{name}"] = stored["metadata"]["resourceVersion"]
            statuses = self.api.store.statuses(cluster["id"])
            found[cluster["id"]] = [(each.adapter, each.last_report_time) for each in statuses]
        works = await self.maestro.works(self.environment["CONTRACT_CONSUMER"]).list()
        found["works"] = sorted((work.name, work.generation) for work in works)
        found["clusters"] = len(self.clusters)
        return found


@pytest.fixture
async def fleet(
    tmp_path: Path, server: KubernetesServer, client: KubernetesClient, maestro_server: MaestroServer
) -> AsyncIterator[Fleet]:
    (tmp_path / "kubeconfig").write_text(kubeconfig(server.url, server.admin_token, server.ca_file))
    async with LabApi() as api, MaestroClient(maestro_server.settings(source_id=SOURCE)) as maestro:
        consumer = (await maestro.consumers.create(unique("diff"))).name
        clients = {
            "hyperfleet_api": {"base_url": api.url},
            "kubernetes": {"kube_config_path": str(tmp_path / "kubeconfig")},
            "maestro": {
                "grpc_server_address": maestro_server.grpc_address,
                "http_server_address": maestro_server.rest_url,
                "source_id": SOURCE,
                "insecure": True,
            },
        }
        adapter = {"adapter": {"name": SOURCE}, "clients": clients}
        (tmp_path / "adapter-config.yaml").write_text(yaml.safe_dump(adapter))
        yield Fleet(tmp_path, api, client, maestro, {"CONTRACT_CONSUMER": consumer})
