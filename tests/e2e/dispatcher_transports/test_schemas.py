"""What only the real API server checks: the schemas of built-in kinds, and kinds that have just been defined."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from dispatcher.engine.ports import Query
from dispatcher.transports import KubernetesTransport
from shared.errors import Invalid
from shared.kubernetes import KubernetesClient
from tests.support.kubernetes import KubernetesServer, eventually, unique
from tests.support.kubernetes_client import access_of
from tests.support.kubernetes_objects import job


@pytest.fixture
async def client(real_kubernetes: KubernetesServer) -> AsyncIterator[KubernetesClient]:
    async with KubernetesClient(access_of(real_kubernetes)) as client:
        yield client


@pytest.fixture
def transport(client: KubernetesClient) -> KubernetesTransport:
    return KubernetesTransport(client, manager="adapter")


def definition(plural: str) -> dict[str, Any]:
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": free}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {
        "kind": plural.capitalize(),
        "plural": plural,
        "singular": plural,
        "listKind": f"{plural.capitalize()}List",
    }
    spec = {"group": "tests.example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    metadata = {"name": f"{plural}.tests.example.com"}
    kind = "CustomResourceDefinition"
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"paralelism": 2}, "paralelism: field not declared in schema"),
        ({"parallelism": "two"}, "parallelism"),
    ],
    ids=["a misspelt field", "a wrong type"],
)
async def test_a_manifest_that_does_not_fit_the_schema_is_invalid_and_not_tried_again(
    transport: KubernetesTransport, change: dict[str, Any], complaint: str
) -> None:
    wrong = job("default")
    wrong["spec"] |= change
    with pytest.raises(Invalid, match=complaint):
        await transport.create(wrong)


async def test_objects_of_a_kind_that_was_defined_a_moment_ago_can_be_made(
    client: KubernetesClient, transport: KubernetesTransport
) -> None:
    plural = unique("w").replace("-", "")
    await client.create(definition(plural))

    async def is_served() -> bool:
        query = Query(
            api_version="apiextensions.k8s.io/v1", kind="CustomResourceDefinition", name=f"{plural}.tests.example.com"
        )
        (found,) = await transport.find(query)
        conditions = {each["type"]: each["status"] for each in found.get("status", {}).get("conditions") or []}
        return conditions.get("Established") == "True"

    await eventually(is_served)
    made = {"apiVersion": "tests.example.com/v1", "kind": plural.capitalize(), "spec": {"size": 1}}
    created = await transport.create({**made, "metadata": {"name": "a", "namespace": "default"}})
    assert created["spec"] == {"size": 1}
