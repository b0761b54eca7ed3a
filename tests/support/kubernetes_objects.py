"""Small Kubernetes objects for tests."""

from typing import Any

Document = dict[str, Any]


def config_map(
    namespace: str, name: str = "settings", *, labels: dict[str, str] | None = None, **data: str
) -> Document:
    metadata: Document = {"name": name, "namespace": namespace}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def job(namespace: str, name: str = "work") -> Document:
    pod = {"restartPolicy": "Never", "containers": [{"name": "adapter", "image": "adapter:1"}]}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {"template": {"spec": pod}}}
