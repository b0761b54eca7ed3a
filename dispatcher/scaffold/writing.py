"""Which files a new adapter gets, and what is in them. Pure, but for `write`."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from shared.errors import AlreadyExists

Subject = Literal["cluster", "nodepool"]
Work = Literal["job", "manifestwork", "manifest"]
SUBJECTS: Final = ("cluster", "nodepool")
WORKS: Final = ("job", "manifestwork", "manifest")

_EXAMPLE_CLUSTER: Final = "019466a0-8f8e-7abc-9def-0123456789ab"
_EXAMPLE_POOL: Final = "019466a0-8f8e-7abc-9def-0123456789aa"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAdapter:
    name: str
    subject: Subject
    work: Work

    @property
    def path(self) -> str:
        """The object's path below the API's clusters, as a template."""
        return "{{ .clusterId }}" + ("/nodepools/{{ .nodepoolId }}" if self.subject == "nodepool" else "")

    @property
    def identifier(self) -> str:
        return "nodepoolId" if self.subject == "nodepool" else "clusterId"


def files_of(new: NewAdapter) -> dict[str, str]:
    """The folder's files by their path in it."""
    return {
        "adapter-config.yaml": _dumped(_adapter_config(new)),
        "task-config.yaml": _task_config(new),
        "manifest.yaml": _manifest(new),
        "values.yaml": _dumped(_values(new)),
        "README.md": _readme(new),
        "tests/created/event.json": _json(_event(new)),
        "tests/created/api-responses.json": _json(_responses(new, deleting=False)),
        "tests/created/expected.json": _json(_expected("create")),
        "tests/deleted/event.json": _json(_event(new)),
        "tests/deleted/api-responses.json": _json(_responses(new, deleting=True)),
        "tests/deleted/expected.json": _json(_expected("delete")),
    }


def write(new: NewAdapter, folder: Path) -> list[Path]:
    """Write the files. Raises AlreadyExists where the folder has something in it."""
    if folder.exists() and any(folder.iterdir()):
        raise AlreadyExists(f"the folder {folder} is not empty", remedy="choose another one, or empty it")
    written = []
    for name, content in files_of(new).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        written.append(path)
    return written


def _adapter_config(new: NewAdapter) -> dict[str, Any]:
    plural = f"{new.subject}s"
    clients: dict[str, Any] = {
        "hyperfleet_api": {"base_url": "http://hyperfleet-api:8000", "timeout": "10s"},
        "broker": {
            "topic": f"hyperfleet-{plural}",
            "subscription_id": f"hyperfleet-{plural}-{new.name}",
            "kinds": ["NodePool" if new.subject == "nodepool" else "Cluster"],
        },
    }
    if new.work == "manifestwork":
        clients["maestro"] = {
            "grpc_server_address": "maestro-grpc.maestro:8090",
            "http_server_address": "https://maestro.maestro:8000",
            "source_id": f"hyperfleet-{new.name}",
            "auth": {"tls_config": {"ca_file": "/etc/hyperfleet/maestro/ca.crt"}},
        }
    return {"adapter": {"name": new.name}, "clients": clients, "log": {"level": "info"}}


def _task_config(new: NewAdapter) -> str:
    """The common text with the parts that depend on what the adapter is for and how it works."""
    over_maestro = new.work == "manifestwork"
    parts = {
        "@PARAMS@\n": _text(f"params-{new.subject}.yaml") + (_text("params-maestro.yaml") if over_maestro else ""),
        "@TRANSPORT@\n": _text("transport-maestro.yaml") if over_maestro else "",
        "@REPLACED@\n": "    recreate_on_change: true\n" if new.work == "job" else "",
        "@DISCOVERY@\n": "" if over_maestro else "      namespace: hyperfleet-adapters\n",
        "@AVAILABLE@\n": _text(f"available-{new.work}.cel"),
        "@PATH@": new.path,
        "@OBJECT@": f"{new.name}-{{{{ .{new.identifier} }}}}",
    }
    text = _text("task-config.yaml")
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


def _manifest(new: NewAdapter) -> str:
    """The names are whole words: `JOB_NAME` stays as it is."""
    text = re.sub(r"\bNAME\b", new.name, _text(f"manifest-{new.work}.yaml"))
    return re.sub(r"\bIDENTIFIER\b", new.identifier, text)


def _values(new: NewAdapter) -> dict[str, Any]:
    return {
        "image": {"repository": "hyperfleet/hyperfleet-adapter"},
        "broker": {"type": "rabbitmq", "rabbitmq": {"urlSecret": {"name": "hyperfleet-rabbitmq", "key": "url"}}},
        "jobs": {"create": new.work == "job"},
        "rbac": {"namespaces": {}, "clusterRules": []},
    }


def _readme(new: NewAdapter) -> str:
    return _text("README.md").replace("NAME", new.name).replace("SUBJECT", new.subject)


def _event(new: NewAdapter) -> dict[str, Any]:
    data: dict[str, Any] = {"id": _EXAMPLE_CLUSTER, "kind": "Cluster", "generation": 1}
    if new.subject == "nodepool":
        owner = {"id": _EXAMPLE_CLUSTER, "kind": "Cluster", "href": f"/api/hyperfleet/v1/clusters/{_EXAMPLE_CLUSTER}"}
        data = {"id": _EXAMPLE_POOL, "kind": "NodePool", "generation": 1, "owner_references": owner}
    return {
        "specversion": "1.0",
        "id": "1",
        "source": "hyperfleet-sentinel",
        "type": f"com.redhat.hyperfleet.{new.subject}.reconcile",
        "data": data,
    }


def _responses(new: NewAdapter, *, deleting: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"id": "x", "name": "example", "generation": 1, "spec": {}, "status": {"conditions": []}}
    if deleting:
        found["deleted_time"] = "2030-01-01T00:00:00Z"
    answers: tuple[tuple[str, str, int, dict[str, Any]], ...] = (
        ("GET", f"/{new.subject}s/[^/]+$", 200, found),
        ("GET", "/statuses", 200, {"items": [], "total": 0}),
        ("PUT", "/statuses$", 201, {}),
    )
    return {
        "responses": [
            {"match": {"method": method, "urlPattern": pattern}, "responses": [{"statusCode": code, "body": body}]}
            for method, pattern, code, body in answers
        ]
    }


def _expected(operation: str) -> dict[str, Any]:
    return {"status": "success", "resources": [{"name": "main", "operation": operation}]}


def _text(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def _json(document: Any) -> str:
    return json.dumps(document, indent=2) + "\n"


def _dumped(document: Any) -> str:
    text: str = yaml.safe_dump(document, sort_keys=False)
    return text
