"""Values of Secrets and ConfigMaps on an API server."""

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from dispatcher.transports import KubernetesSecrets
from shared.errors import Invalid, NotFound
from shared.kubernetes import KubernetesClient, ObjectRef
from shared.redaction import redact_text
from tests.support.kubernetes import KubernetesServer, admin
from tests.support.kubernetes_client import access_of
from tests.support.kubernetes_objects import config_map

LONGEST_WAIT = 240.0


def secret(namespace: str, name: str = "login", **values: str) -> dict[str, Any]:
    data = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}, "data": data}


@pytest.fixture
async def secrets(client: KubernetesClient) -> AsyncIterator[KubernetesSecrets]:
    async with KubernetesSecrets(client, kept_seconds=3600.0) as secrets:
        yield secrets


async def becomes(secrets: KubernetesSecrets, namespace: str, expected: str | None) -> None:
    """The watch brings the value, or its absence, without anybody reading again."""
    async with asyncio.timeout(LONGEST_WAIT):
        while True:
            try:
                found = await secrets.read("Secret", namespace, "login", "password")
            except NotFound:
                found = None
            if found == expected:
                return
            await asyncio.sleep(0.02)


async def test_values_are_read_and_decoded(
    client: KubernetesClient, secrets: KubernetesSecrets, namespace: str
) -> None:
    await client.create(secret(namespace, password="pässword-1"))
    await client.create({**config_map(namespace), "data": {"dotted.key": "2"}})
    assert await secrets.read("Secret", namespace, "login", "password") == "pässword-1"
    assert await secrets.read("ConfigMap", namespace, "settings", "dotted.key") == "2"


async def test_binary_values_of_a_config_map_are_text_or_refused(
    client: KubernetesClient, secrets: KubernetesSecrets, namespace: str
) -> None:
    encoded = {"text": base64.b64encode(b"plain").decode(), "bytes": base64.b64encode(b"\xff\xfe").decode()}
    await client.create({**config_map(namespace), "binaryData": encoded})
    assert await secrets.read("ConfigMap", namespace, "settings", "text") == "plain"
    with pytest.raises(Invalid, match="bytes"):
        await secrets.read("ConfigMap", namespace, "settings", "bytes")


async def test_a_missing_object_and_a_missing_key_are_named(
    client: KubernetesClient, secrets: KubernetesSecrets, namespace: str
) -> None:
    with pytest.raises(NotFound, match="there is no Secret"):
        await secrets.read("Secret", namespace, "absent", "password")
    await client.create(secret(namespace, password="secret-2"))
    with pytest.raises(NotFound, match="has no key user"):
        await secrets.read("Secret", namespace, "login", "user")


async def test_changes_come_by_themselves(client: KubernetesClient, secrets: KubernetesSecrets, namespace: str) -> None:
    await becomes(secrets, namespace, None)
    ref = ObjectRef.of(await client.create(secret(namespace, password="secret-3")))
    await becomes(secrets, namespace, "secret-3")
    await client.replace({**await client.get(ref), "data": secret(namespace, password="secret-4")["data"]})
    await becomes(secrets, namespace, "secret-4")
    await client.delete(ref)
    await becomes(secrets, namespace, None)


async def test_a_right_to_get_one_object_by_name_is_enough(server: KubernetesServer) -> None:
    async with admin(server) as api:
        rule = {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["login"], "verbs": ["get"]}
        account = await api.new_account([rule])
        async with KubernetesClient(access_of(server)) as client:
            await client.create(secret(api.namespace, password="secret-5"))
        async with (
            KubernetesClient(access_of(server, account.token)) as limited,
            KubernetesSecrets(limited, kept_seconds=0.0) as secrets,
        ):
            assert await secrets.read("Secret", api.namespace, "login", "password") == "secret-5"


async def test_a_right_to_watch_one_object_by_name_is_enough(server: KubernetesServer) -> None:
    async with admin(server) as api:
        verbs = ["get", "list", "watch"]
        rule = {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["login"], "verbs": verbs}
        account = await api.new_account([rule])
        async with KubernetesClient(access_of(server)) as client:
            stored = await client.create(secret(api.namespace, password="secret-6"))
            async with (
                KubernetesClient(access_of(server, account.token)) as limited,
                KubernetesSecrets(limited, kept_seconds=3600.0) as secrets,
            ):
                await becomes(secrets, api.namespace, "secret-6")
                await client.replace({**stored, "data": secret("", password="secret-7")["data"]})
                await becomes(secrets, api.namespace, "secret-7")


async def test_what_was_read_from_a_secret_is_redacted_from_then_on(
    client: KubernetesClient, secrets: KubernetesSecrets, namespace: str
) -> None:
    value = 'quo"ted ünique'
    await client.create(secret(namespace, password=value))
    await secrets.read("Secret", namespace, "login", "password")
    encoded = base64.b64encode(value.encode()).decode()
    assert redact_text(f"<{value}> <{encoded}>") == "<***> <***>"
