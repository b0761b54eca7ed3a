"""What kubectl needs beside JSON objects: its commands send protobuf, and it asks OpenAPI who validates."""

from typing import Any

import pytest

from tests.support.kubernetes import Api, KubernetesServer, good, unique

PROTOBUF = "application/vnd.kubernetes.protobuf"


def field(number: int, content: str | bytes | int) -> bytes:
    """One field of a protobuf message; no length here needs more than two bytes."""
    if isinstance(content, int):
        return bytes([number << 3]) + varint(content)
    raw = content.encode() if isinstance(content, str) else content
    return bytes([number << 3 | 2]) + varint(len(raw)) + raw


def varint(value: int) -> bytes:
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + varint(value >> 7)


def message(api_version: str, kind: str, *fields: bytes) -> bytes:
    header = field(1, field(1, api_version) + field(2, kind))
    return b"k8s\x00" + header + field(2, b"".join(fields))


def named(name: str, *more: bytes) -> bytes:
    return field(1, field(1, name) + b"".join(more))


async def send(api: Api, path: str, body: bytes) -> dict[str, Any]:
    return good(await api.send("POST", path, body, PROTOBUF))


async def test_a_namespace_is_created_from_protobuf(api: Api) -> None:
    name = unique("demo")
    label = field(11, field(1, "tier") + field(2, "gold"))
    created = await send(api, "/api/v1/namespaces", message("v1", "Namespace", named(name, label)))
    assert created["metadata"]["name"] == name
    assert created["metadata"]["labels"]["tier"] == "gold"
    assert created["status"]["phase"] == "Active"


async def test_a_secret_is_created_from_protobuf(api: Api) -> None:
    body = message("v1", "Secret", named("s"), field(2, field(1, "key") + field(2, b"\x00\xff")), field(3, "Opaque"))
    created = await send(api, api.path("secrets"), body)
    assert (created["data"], created["type"]) == ({"key": "AP8="}, "Opaque")


async def test_a_role_and_its_binding_are_created_from_protobuf(api: Api) -> None:
    rule = field(1, "get") + field(1, "list") + field(2, "") + field(3, "pods")
    role = await send(
        api, api.path("roles"), message("rbac.authorization.k8s.io/v1", "Role", named("r"), field(2, rule))
    )
    assert role["rules"] == [{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]}]

    subject = field(1, "ServiceAccount") + field(3, "x") + field(4, api.namespace)
    reference = field(1, "rbac.authorization.k8s.io") + field(2, "Role") + field(3, "r")
    body = message("rbac.authorization.k8s.io/v1", "RoleBinding", named("r"), field(2, subject), field(3, reference))
    binding = await send(api, api.path("rolebindings"), body)
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "x", "namespace": api.namespace}]
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}


async def test_a_job_is_created_from_protobuf(api: Api) -> None:
    container = field(1, "c") + field(2, "x") + field(3, "echo") + field(3, "hi")
    template = field(2, field(2, container) + field(3, "Never"))
    created = await send(api, api.path("jobs"), message("batch/v1", "Job", named("j"), field(2, field(6, template))))
    pod = created["spec"]["template"]["spec"]
    assert (pod["containers"][0]["command"], pod["restartPolicy"]) == (["echo", "hi"], "Never")


async def test_a_token_is_requested_with_protobuf(api: Api) -> None:
    await send(api, api.path("serviceaccounts"), message("v1", "ServiceAccount", named("x")))
    body = message("authentication.k8s.io/v1", "TokenRequest", field(2, field(4, 3600)))
    assert (await send(api, api.path("serviceaccounts", "x", "token"), body))["status"]["token"]


async def test_a_right_is_asked_for_with_protobuf(api: Api) -> None:
    attributes = field(1, api.namespace) + field(2, "list") + field(5, "pods")
    body = message("authorization.k8s.io/v1", "SelfSubjectAccessReview", field(2, field(1, attributes)))
    answer = await send(api, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body)
    assert answer["status"]["allowed"] is True


@pytest.mark.parametrize("body", [b"", b"{}", b"k8s\x00\x0a\xff"], ids=["empty", "JSON", "cut off"])
async def test_what_is_no_protobuf_is_refused(api: Api, body: bytes) -> None:
    answer = await api.send("POST", api.path("configmaps"), body, PROTOBUF)
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ("api/v1", "/api/v1/namespaces/{namespace}/configmaps/{name}"),
        ("api/v1", "/api/v1/namespaces/{name}"),
        ("apis/batch/v1", "/apis/batch/v1/namespaces/{namespace}/jobs/{name}"),
    ],
)
async def test_openapi_shows_that_the_server_validates_fields(
    server: KubernetesServer, api: Api, document: str, path: str
) -> None:
    listed = good(await api.send("GET", "/openapi/v3"))["paths"]
    described = good(await api.send("GET", listed[document]["serverRelativeURL"]))
    patch = described["paths"][path]["patch"]
    assert "fieldValidation" in {
        each.get("name") for each in (*patch["parameters"], *described["paths"][path].get("parameters", ()))
    }
    assert patch["x-kubernetes-group-version-kind"]["kind"] in {"ConfigMap", "Namespace", "Job"}
