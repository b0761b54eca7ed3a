"""A real API server that knows HostedClusters, and what it thinks of ours."""

import contextlib
import copy
import ssl
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from lab.real.artifacts.crds import hypershift_crds, install
from lab.real.servers.kubernetes import RealKubernetes

Document = dict[str, Any]

_NAMESPACE = "clusters"
_PATH = f"/apis/hypershift.openshift.io/v1beta1/namespaces/{_NAMESPACE}/hostedclusters"
_DRY = {"dryRun": "All", "fieldValidation": "Strict"}
_APPLY = {"fieldManager": "work-agent", "force": "true", "fieldValidation": "Strict"}
_APPLIED = {"Content-Type": "application/apply-patch+yaml"}


@dataclass(frozen=True, slots=True)
class ApiServer:
    """Asks the server, and leaves nothing there. An empty refusal is none."""

    http: httpx.Client

    def refusal(self, manifest: Document) -> str:
        """Why a strict dry run refuses the object."""
        return _refusal(self.http.post(_PATH, params=_DRY, json=_here(manifest)))

    def refusal_of_change(self, old: Document, new: Document) -> str:
        """Why the server refuses to go from one object to the other, both applied as the agent does it."""
        name = f"c-{uuid.uuid4().hex[:12]}"
        first, then = (
            self.http.patch(f"{_PATH}/{name}", params=_APPLY, json=_here(each, name), headers=_APPLIED)
            for each in (old, new)
        )
        self.http.delete(f"{_PATH}/{name}")
        assert first.is_success, first.text
        return _refusal(then)


@contextlib.contextmanager
def validating_api_server(folder: Path) -> Iterator[ApiServer]:
    server = RealKubernetes(folder)
    server.prepare()
    try:
        server.start()
        install(server, hypershift_crds())
        trust = ssl.create_default_context(cafile=str(server.ca_file))
        headers = {"Authorization": f"Bearer {server.admin_token}"}
        with httpx.Client(base_url=server.url, verify=trust, headers=headers, timeout=300) as http:
            http.post("/api/v1/namespaces", json={"metadata": {"name": _NAMESPACE}}).raise_for_status()
            yield ApiServer(http)
    finally:
        server.stop()


def _here(manifest: Document, name: str = "") -> Document:
    """The object in the one namespace there is."""
    moved = copy.deepcopy(manifest)
    moved["metadata"]["namespace"] = _NAMESPACE
    if name:
        moved["metadata"]["name"] = name
    return moved


def _refusal(answer: httpx.Response) -> str:
    return "" if answer.is_success else str(answer.json()["message"])
