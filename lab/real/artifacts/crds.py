"""The CRDs of the systems our objects go to, as their projects publish them.

They are files of Go modules: nothing is built, and nothing of them is copied into the project.
"""

import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol

import yaml

from lab.real.artifacts.go_modules import GoModule, module_folder

HYPERSHIFT = GoModule(
    "github.com/openshift/hypershift", "v0.1.82", checksum="h1:iIzHGjWKSCrAstypC+qZrlEROGFrvsuvo4SL/p9VP38="
)
WORK = GoModule("open-cluster-management.io/api", "v1.2.0", checksum="h1:+yeQgJiErrur5S4s205UM37EcZ2XbC9pFSm0xgV5/hU=")
HYPERSHIFT_ASSETS = Path("cmd/install/assets/crds/hypershift-operator")
# The variant of a CRD that has the GCP platform.
FEATURE_SET = "TechPreviewNoUpgrade"

_SERVED_WITHIN = 240.0
# What a definition that is established answers until its storage is ready.
_NOT_YET = (HTTPStatus.NOT_FOUND, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)

Definition = dict[str, Any]


class ApiServer(Protocol):
    """The API server for the CRDs, and its admin token."""

    @property
    def url(self) -> str: ...
    @property
    def admin_token(self) -> str: ...
    @property
    def ca_file(self) -> Path: ...


def hypershift_crds() -> tuple[Definition, ...]:
    """HostedClusters and NodePools, with the fields of the feature set."""
    folder = module_folder(HYPERSHIFT) / HYPERSHIFT_ASSETS / "zz_generated.crd-manifests"
    names = (f"hostedclusters-Hypershift-{FEATURE_SET}", f"nodepools-{FEATURE_SET}")
    return tuple(_definition(folder / f"{name}.crd.yaml") for name in names)


def work_crds() -> tuple[Definition, ...]:
    """The AppliedManifestWorks of the Maestro agent."""
    name = "0000_01_work.open-cluster-management.io_appliedmanifestworks.crd.yaml"
    return (_definition(module_folder(WORK) / "work" / "v1" / name),)


def install(server: ApiServer, definitions: Iterable[Definition]) -> None:
    """Give the server these definitions, and wait until it serves them.

    By server-side apply: the annotation of a client-side one would be larger than the server takes.
    """
    listed = list(definitions)
    for definition in listed:
        _call(server, "PATCH", f"{_path(definition)}?fieldManager=lab&force=true", definition)
    deadline = time.monotonic() + _SERVED_WITHIN
    for definition in listed:
        while not _is_served(server, definition):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the server does not serve {_name(definition)} after {_SERVED_WITHIN:.0f} s")
            time.sleep(0.1)


def _definition(path: Path) -> Definition:
    with path.open("rb") as file:
        definition: Definition = yaml.load(file, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return definition


def _name(definition: Definition) -> str:
    return str(definition["metadata"]["name"])


def _path(definition: Definition) -> str:
    return f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{_name(definition)}"


def _is_served(server: ApiServer, definition: Definition) -> bool:
    if not _is_established(_call(server, "GET", _path(definition))):
        return False
    try:
        _call(server, "GET", _list_path(definition))
    except urllib.error.HTTPError as refusal:
        with refusal:
            if refusal.code not in _NOT_YET:
                raise
        return False
    return True


def _list_path(definition: Definition) -> str:
    spec = definition["spec"]
    version = next(each["name"] for each in spec["versions"] if each["storage"])
    return f"/apis/{spec['group']}/{version}/{spec['names']['plural']}?limit=1"


def _is_established(definition: Definition) -> bool:
    conditions = (definition.get("status") or {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def _call(server: ApiServer, method: str, path: str, body: Definition | None = None) -> Definition:
    request = urllib.request.Request(
        server.url + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {server.admin_token}", "Content-Type": "application/apply-patch+yaml"},
    )
    trust = ssl.create_default_context(cafile=str(server.ca_file))
    with urllib.request.urlopen(request, timeout=_SERVED_WITHIN, context=trust) as answer:
        found: Definition = json.load(answer)
    return found
