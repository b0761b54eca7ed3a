"""The measured adapters: a Namespace and a ConfigMap per cluster, as the Go adapter was measured with, and a Job."""

from pathlib import Path
from typing import Any

import yaml

NAME = "bench"
JOBS_NAMESPACE = "bench-jobs"

_GENERATION = {"hyperfleet.io/generation": "{{ .generation }}"}
_PARAMS = [
    {"name": "clusterId", "source": "event.id", "required": True},
    {
        "name": "cluster",
        "source": {"api_call": {"method": "GET", "url": "/clusters/{{ .clusterId }}"}},
        "required": True,
    },
    {"name": "generation", "source": {"expression": "cluster.generation"}, "required": True},
]
_PRECONDITIONS = [{"name": "known", "expression": "cluster.id == clusterId"}]


def _post(available: str) -> dict[str, Any]:
    conditions = [
        {"type": "Applied", "status": "True", "reason": "Applied", "message": ""},
        {"type": "Available", "status": {"expression": available}, "reason": "Measured", "message": ""},
        {"type": "Health", "status": "True", "reason": "Healthy", "message": ""},
    ]
    build = {
        "adapter": NAME,
        "observed_generation": {"expression": "generation"},
        "observed_time": '{{ now | date "2006-01-02T15:04:05Z07:00" }}',
        "conditions": conditions,
    }
    call = {"method": "PUT", "url": "/clusters/{{ .clusterId }}/statuses", "body": "{{ .status }}"}
    return {"payloads": [{"name": "status", "build": build}], "post_actions": [{"name": "report", "api_call": call}]}


def namespace_of(cluster: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": f"bench-{cluster}", "annotations": dict(_GENERATION)},
    }


def config_map_of(cluster: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": f"bench-{cluster}", "annotations": dict(_GENERATION)},
        "data": {"region": "{{ .cluster.spec.region }}", "id": cluster},
    }


TWO_OBJECTS: dict[str, Any] = {
    "params": _PARAMS,
    "preconditions": _PRECONDITIONS,
    "resources": [
        {
            "name": "namespace0",
            "manifest": namespace_of("{{ .clusterId }}"),
            "discovery": {"by_name": "bench-{{ .clusterId }}"},
        },
        {
            "name": "configmap0",
            "manifest": config_map_of("{{ .clusterId }}"),
            "discovery": {"namespace": "bench-{{ .clusterId }}", "by_name": "settings"},
        },
    ],
    "post": _post('resources.?configmap0.hasValue() ? "True" : "False"'),
}
JOB: dict[str, Any] = {
    "params": _PARAMS,
    "resources": [
        {
            "name": "job",
            "manifest": {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {
                    "name": "bench-{{ .clusterId }}",
                    "namespace": JOBS_NAMESPACE,
                    "annotations": _GENERATION,
                },
                "spec": {
                    "template": {
                        "spec": {"restartPolicy": "Never", "containers": [{"name": "work", "image": "localhost/w:1"}]}
                    }
                },
            },
            "discovery": {"namespace": JOBS_NAMESPACE, "by_name": "bench-{{ .clusterId }}"},
        }
    ],
    "post": _post(
        'conditionStatus(resources.?job.?status.?conditions.orValue([]), "Available") == "True" ? "True" : "False"'
    ),
}


def write_files(
    folder: Path,
    task: dict[str, Any],
    *,
    topic: str,
    api_port: int,
    kubeconfig: Path,
    rabbitmq_url: str,
    parallelism: int,
) -> list[str]:
    """What comes back are the arguments of `serve` that name them."""
    documents = {
        "adapter": {
            "adapter": {"name": NAME},
            "clients": {
                "hyperfleet_api": {"base_url": f"http://127.0.0.1:{api_port}"},
                "broker": {"topic": topic, "subscription_id": NAME},
                "kubernetes": {"kube_config_path": str(kubeconfig)},
            },
            "log": {"output": "stderr"},
        },
        "task": task,
        "broker": {
            "broker": {"type": "rabbitmq", "rabbitmq": {"url": rabbitmq_url}},
            "subscriber": {"parallelism": parallelism},
        },
    }
    for name, document in documents.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    return [
        *("--config", str(folder / "adapter.yaml")),
        *("--task-config", str(folder / "task.yaml")),
        *("--broker-config", str(folder / "broker.yaml")),
    ]
