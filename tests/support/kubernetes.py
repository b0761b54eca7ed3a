"""An API server under test, stand-in or real, and a thin client that returns plain HTTP responses."""

import asyncio
import contextlib
import itertools
import json
import ssl
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from lab.kubernetes import LabKubernetes

# Generous, because the machine may be slow; nothing waits this long unless it is broken.
TIMEOUT = 240.0

STRATEGIC = "application/strategic-merge-patch+json"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"

_PREFIXES = {
    "jobs": "/apis/batch/v1",
    "leases": "/apis/coordination.k8s.io/v1",
    "roles": "/apis/rbac.authorization.k8s.io/v1",
    "rolebindings": "/apis/rbac.authorization.k8s.io/v1",
    "widgets": "/apis/lab.example.com/v1",
}
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_numbers = itertools.count()

Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesServer:
    """A running API server. `kill` simulates a crash, `start` restarts it, `forget` drops the history of changes."""

    url: str
    admin_token: str
    ca_file: Path | None
    kill: Callable[[], Awaitable[None]]
    start: Callable[[], Awaitable[None]]
    forget: Callable[[], Awaitable[None]]


def standin(server: LabKubernetes) -> KubernetesServer:
    async def forget() -> None:
        server.faults.expire_history()

    return KubernetesServer(
        url=server.url,
        admin_token=server.admin_token,
        ca_file=server.ca_file,
        kill=server.kill,
        start=server.start,
        forget=forget,
    )


@contextlib.asynccontextmanager
async def admin(server: KubernetesServer) -> AsyncIterator["Api"]:
    """The admin's requests, in a new namespace."""
    trust = ssl.create_default_context(cafile=str(server.ca_file)) if server.ca_file else False
    async with httpx.AsyncClient(base_url=server.url, verify=trust, timeout=TIMEOUT) as http:
        api = Api(http, unique("test"), server.admin_token)
        good(await api.send("POST", "/api/v1/namespaces", {"metadata": {"name": api.namespace}}))
        yield api


def unique(prefix: str) -> str:
    return f"{prefix}-{next(_numbers)}-{uuid.uuid4().hex[:8]}"


def good(answer: httpx.Response) -> Document:
    """The document of an answer that must not be an error."""
    assert answer.is_success, f"{answer.status_code}: {answer.text}"
    document: Document = answer.json()
    return document


@dataclass(frozen=True, slots=True)
class Api:
    """Requests in one namespace by one caller; answers come back as they are."""

    http: httpx.AsyncClient
    namespace: str
    token: str

    def as_(self, token: str) -> "Api":
        return replace(self, token=token)

    def path(self, plural: str, name: str = "", part: str = "") -> str:
        steps = (_PREFIXES.get(plural, "/api/v1"), "namespaces", self.namespace, plural, name, part)
        return "/".join(step for step in steps if step)

    async def send(
        self, method: str, path: str, body: Any = None, media_type: str = "application/json", **query: Any
    ) -> httpx.Response:
        headers = {"Content-Type": media_type} | ({"Authorization": f"Bearer {self.token}"} if self.token else {})
        content = None if body is None else body if isinstance(body, bytes) else json.dumps(body)
        return await self.http.request(method, path, content=content, params=query or None, headers=headers)

    async def get(self, plural: str, name: str = "", part: str = "", **query: Any) -> httpx.Response:
        return await self.send("GET", self.path(plural, name, part), **query)

    async def create(self, plural: str, body: Any, **query: Any) -> httpx.Response:
        return await self.send("POST", self.path(plural), body, **query)

    async def update(self, plural: str, body: Document, part: str = "", **query: Any) -> httpx.Response:
        return await self.send("PUT", self.path(plural, body["metadata"]["name"], part), body, **query)

    async def patch(
        self, plural: str, name: str, body: Any, part: str = "", *, how: str = STRATEGIC, **query: Any
    ) -> httpx.Response:
        return await self.send("PATCH", self.path(plural, name, part), body, how, **query)

    async def apply(self, plural: str, body: Document, part: str = "", **query: Any) -> httpx.Response:
        return await self.patch(plural, body["metadata"]["name"], body, part, how=APPLY, **query)

    async def delete(self, plural: str, name: str = "", body: Any = None, **query: Any) -> httpx.Response:
        return await self.send("DELETE", self.path(plural, name), body, **query)

    async def may(self, verb: str, group: str, resource: str, name: str = "") -> bool:
        """Whether the caller has a right, as the server sees it."""
        plural, _, part = resource.partition("/")
        attributes = {"verb": verb, "group": group, "resource": plural, "subresource": part}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {**attributes, "namespace": self.namespace, "name": name}},
        }
        answer = await self.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
        return bool(good(answer)["status"]["allowed"])

    async def new_account(self, rules: Sequence[Document]) -> "Api":
        """A service account with a Role of these rules, and the Api as it sees it, once the server knows the rules."""
        name = unique("account")
        good(await self.create("serviceaccounts", {"metadata": {"name": name}}))
        good(await self.create("roles", {"metadata": {"name": name}, "rules": list(rules)}))
        binding = {
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": self.namespace}],
        }
        good(await self.create("rolebindings", binding))
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": None}}
        answer = good(await self.send("POST", self.path("serviceaccounts", name, "token"), request))
        account = self.as_(answer["status"]["token"])
        for rule in rules:
            names = rule.get("resourceNames") or [""]
            right = (rule["verbs"][0], rule["apiGroups"][0], rule["resources"][0], names[0])
            await eventually(partial(account.may, *right))
        return account

    @contextlib.asynccontextmanager
    async def watch(self, plural: str, **query: Any) -> AsyncIterator["Watch"]:
        headers = {"Authorization": f"Bearer {self.token}"}
        params = {"watch": "true", **query}
        async with self.http.stream("GET", self.path(plural), params=params, headers=headers) as answer:
            yield Watch(answer)


async def eventually(holds: Callable[[], Awaitable[Any]]) -> Any:
    """The first true answer of a question that is asked again and again."""
    async with asyncio.timeout(TIMEOUT):
        while not (answer := await holds()):  # noqa: ASYNC110 - no event shows that the server has read its new rules
            await asyncio.sleep(0.02)
    return answer


class Watch:
    """An open watch, and its events one by one."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer
        self._lines = answer.aiter_lines()

    async def next(self) -> tuple[str, Document]:
        """Type and object of the next event; fails where the watch ends before it."""
        async with asyncio.timeout(TIMEOUT):
            line = await anext(self._lines, None)
        assert line is not None, "the watch ended"
        event = json.loads(line)
        return event["type"], event["object"]

    async def rest(self) -> list[tuple[str, Document]]:
        """All events until the watch ends."""
        async with asyncio.timeout(TIMEOUT):
            events = [json.loads(line) async for line in self._lines]
        return [(event["type"], event["object"]) for event in events]


def job(name: str, **spec: Any) -> Document:
    container = {"name": "adapter", "image": "adapter:1"}
    pod = {"restartPolicy": "Never", "containers": [container]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": {"spec": pod}, **spec},
    }


def pod(name: str, **metadata: Any) -> Document:
    spec = {"containers": [{"name": "adapter", "image": "adapter:1"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": spec}


def config_map(name: str, **data: str) -> Document:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def widget(name: str, **spec: Any) -> Document:
    return {"apiVersion": "lab.example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec}


def condition(kind: str, status: str = "True", **more: Any) -> Document:
    return {"type": kind, "status": status, **more}


def set_conditions(*conditions: Document) -> Document:
    return {"status": {"conditions": list(conditions)}}


def version_of(document: Document) -> int:
    return int(document["metadata"]["resourceVersion"])


def types_of(document: Document) -> list[str]:
    return [each["type"] for each in document["status"].get("conditions", [])]


async def define_widgets(api: Api) -> None:
    """The custom kind of the suites, with a status, a list keyed by name and a list of plain values."""
    keyed = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
        },
    }
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    plain = {"type": "array", "items": {"type": "string"}}
    size = {"type": "integer", "minimum": 0}
    spec = {**free, "properties": {"parts": keyed, "tags": plain, "size": size}}
    schema = {"type": "object", "properties": {"spec": spec, "status": free}}
    version = {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.lab.example.com"},
        "spec": {
            "group": "lab.example.com",
            "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
            "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
        },
    }
    answer = await api.send("POST", _DEFINITIONS, definition)
    assert answer.status_code in (201, 409), answer.text

    async def served() -> bool:
        return (await api.get("widgets")).status_code == 200

    await eventually(served)
