"""The configuration of a small adapter: a Job per cluster and generation, whose conditions are the cluster's status."""

from pathlib import Path
from typing import Any

import yaml

ADAPTER = "small"
TOPIC = "hyperfleet-clusters"
NAMESPACE = "adapters"
REPORTED = ("Applied", "Available", "Health")

_JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {
        "name": "small-{{ .clusterId }}-gen{{ .generation }}",
        "namespace": NAMESPACE,
        "labels": {"hyperfleet.io/adapter": ADAPTER, "hyperfleet.io/cluster-id": "{{ .clusterId }}"},
        "annotations": {"hyperfleet.io/generation": "{{ .generation }}"},
    },
    "spec": {
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "work", "image": "localhost/work:1"}]}}
    },
}
_CONDITIONS = """
[resources.?job.?status.?conditions.orValue([])].map(all,
  all.exists(c, c.type == "Available")
  ? all.filter(c, c.type in ["Applied", "Available", "Health"]).map(c, {
      "type": c.type, "status": c.status, "reason": c.?reason.orValue(""), "message": c.?message.orValue("")})
  : ["Applied", "Available", "Health"].map(t, {
      "type": t, "status": "False", "reason": "JobRunning", "message": "generation " + string(generation)})
)[0] + (isDeleting
  ? [{"type": "Finalized", "status": resources.?job.hasValue() ? "False" : "True", "reason": "Deleting", "message": ""}]
  : [])
"""
TASK: dict[str, Any] = {
    "params": [
        {"name": "clusterId", "source": "event.id", "required": True},
        {
            "name": "cluster",
            "source": {"api_call": {"method": "GET", "url": "/clusters/{{ .clusterId }}"}},
            "required": True,
        },
        {"name": "generation", "source": {"expression": "cluster.generation"}, "required": True},
        {
            "name": "isDeleting",
            "source": {"expression": "cluster.?deleted_time.orValue(null) != null"},
            "required": True,
        },
    ],
    "resources": [
        {
            "name": "job",
            "supersedes": "lower-generations",
            "manifest": _JOB,
            "discovery": {
                "namespace": NAMESPACE,
                "by_selectors": {"label_selector": {"hyperfleet.io/cluster-id": "{{ .clusterId }}"}},
            },
            "lifecycle": {"delete": {"when": {"expression": "isDeleting"}}},
        }
    ],
    "post": {
        "payloads": [
            {
                "name": "status",
                "build": {
                    "adapter": ADAPTER,
                    "observed_generation": {"expression": "generation"},
                    "observed_time": '{{ now | date "2006-01-02T15:04:05Z07:00" }}',
                    "conditions": {"expression": _CONDITIONS},
                },
            }
        ],
        "post_actions": [
            {
                "name": "report",
                "when": {"expression": 'adapter.?executionError.?phase.orValue("") != "param_extraction"'},
                "api_call": {"method": "PUT", "url": "/clusters/{{ .clusterId }}/statuses", "body": "{{ .status }}"},
            }
        ],
    },
}


def write_files(
    folder: Path, *, api_url: str, kubeconfig: str, broker: dict[str, Any], task: dict[str, Any] | None = None
) -> list[str]:
    """The three files; what comes back are the arguments that name them."""
    adapter = {
        "adapter": {"name": ADAPTER},
        "clients": {
            "hyperfleet_api": {"base_url": api_url, "timeout": "60s", "base_delay": "100ms", "max_delay": "1s"},
            "broker": {"topic": TOPIC, "subscription_id": ADAPTER},
            "kubernetes": {"kube_config_path": kubeconfig},
        },
        "log": {"format": "json", "output": "stderr"},
    }
    documents = {"adapter": adapter, "task": task or TASK, "broker": broker}
    for name, document in documents.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    return [
        *("--config", str(folder / "adapter.yaml")),
        *("--task-config", str(folder / "task.yaml")),
        *("--broker-config", str(folder / "broker.yaml")),
    ]
