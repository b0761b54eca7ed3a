"""Resources on an API server, as the engine reaches them."""

import asyncio
from typing import Any

import pytest

from dispatcher.engine.ports import Query
from dispatcher.transports import KubernetesTransport
from shared.errors import AlreadyExists, Conflict, Deleting, Invalid, NotFound, UnknownKind
from shared.kubernetes import KubernetesClient, ObjectRef, uid_of
from tests.support.kubernetes_objects import config_map, job

LONGEST_WAIT = 240.0


def about(namespace: str, name: str = "settings", kind: str = "ConfigMap", **more: Any) -> Query:
    return Query(api_version="v1", kind=kind, namespace=namespace, name=name, **more)


def named(found: list[dict[str, Any]]) -> list[str]:
    return sorted(each["metadata"]["name"] for each in found)


class TestFinding:
    async def test_by_name(self, transport: KubernetesTransport, namespace: str) -> None:
        created = await transport.create(config_map(namespace))
        assert await transport.find(about(namespace)) == [created]
        assert await transport.find(about(namespace, "other")) == []

    async def test_by_labels(self, transport: KubernetesTransport, namespace: str) -> None:
        for name, labels in {"a": {"x": "1", "y": "2"}, "b": {"x": "1"}}.items():
            await transport.create(config_map(namespace, name, labels=labels))
        for labels, names in (({"x": "1"}, ["a", "b"]), ({"x": "1", "y": "2"}, ["a"]), ({"x": "3"}, [])):
            query = Query(api_version="v1", kind="ConfigMap", namespace=namespace, labels=labels)
            found = await transport.find(query)
            assert named(found) == names
            assert all((each["apiVersion"], each["kind"]) == ("v1", "ConfigMap") for each in found)

    @pytest.mark.parametrize("anywhere", ["*", ""])
    async def test_in_any_namespace(self, transport: KubernetesTransport, namespace: str, anywhere: str) -> None:
        await transport.create(config_map(namespace, namespace, labels={"test": namespace}))
        assert named(await transport.find(about(anywhere, namespace))) == [namespace]
        by_labels = Query(api_version="v1", kind="ConfigMap", namespace=anywhere, labels={"test": namespace})
        assert named(await transport.find(by_labels)) == [namespace]

    @pytest.mark.parametrize("ignored", ["*", "", "some-namespace"])
    async def test_a_kind_without_namespaces(
        self, transport: KubernetesTransport, namespace: str, ignored: str
    ) -> None:
        assert named(await transport.find(about(ignored, namespace, "Namespace"))) == [namespace]

    async def test_a_kind_that_is_not_served_is_not_just_absent(self, transport: KubernetesTransport) -> None:
        with pytest.raises(UnknownKind):
            await transport.find(about("default", kind="Wardrobe"))


class TestCreating:
    async def test_what_exists_is_left_alone(self, transport: KubernetesTransport, namespace: str) -> None:
        created = await transport.create(config_map(namespace, a="1"))
        with pytest.raises(AlreadyExists, match="settings"):
            await transport.create(config_map(namespace, a="2"))
        assert await transport.find(about(namespace)) == [created]

    async def test_a_name_can_be_left_to_the_server(self, transport: KubernetesTransport, namespace: str) -> None:
        manifest = config_map(namespace)
        manifest["metadata"] = {"namespace": namespace, "generateName": "settings-", "labels": {"x": "1"}}
        names = [(await transport.create(manifest))["metadata"]["name"] for _ in range(2)]
        found = await transport.find(Query(api_version="v1", kind="ConfigMap", namespace=namespace, labels={"x": "1"}))
        assert named(found) == sorted(names)

    async def test_a_namespace_that_is_missing_is_named(self, transport: KubernetesTransport) -> None:
        with pytest.raises(NotFound, match="nowhere"):
            await transport.create(config_map("nowhere"))

    async def test_a_namespace_on_its_way_out_takes_nothing_new(
        self, transport: KubernetesTransport, namespace: str
    ) -> None:
        held = config_map(namespace)
        held["metadata"]["finalizers"] = ["tests.example.com/held"]
        await transport.create(held)
        (found,) = await transport.find(about("", namespace, "Namespace"))
        await transport.delete(found, policy="Background")
        with pytest.raises(Deleting):
            await transport.create(config_map(namespace, "late"))

    async def test_content_that_is_refused_is_invalid(self, transport: KubernetesTransport, namespace: str) -> None:
        with pytest.raises(Invalid):
            await transport.create(config_map(namespace, "No_Name"))


class TestUpdating:
    async def test_fields_that_the_manifest_no_longer_has_are_removed_and_those_of_others_stay(
        self, transport: KubernetesTransport, client: KubernetesClient, namespace: str
    ) -> None:
        created = await transport.create(config_map(namespace, a="1", b="1"))
        theirs = await client.patch(ObjectRef.of(created), {"data": {"c": "theirs"}}, manager="others")
        updated = await transport.update(config_map(namespace, a="2"), theirs)
        assert updated["data"] == {"a": "2", "c": "theirs"}

    async def test_a_state_that_is_no_longer_there_is_a_conflict(
        self, transport: KubernetesTransport, client: KubernetesClient, namespace: str
    ) -> None:
        observed = await transport.create(config_map(namespace, a="1"))
        await client.patch(ObjectRef.of(observed), {"data": {"a": "2"}}, manager="others")
        with pytest.raises(Conflict):
            await transport.update(config_map(namespace, a="3"), observed)
        (kept,) = await transport.find(about(namespace))
        assert kept["data"] == {"a": "2"}

    async def test_an_object_that_is_gone_is_a_conflict_and_is_not_made_again(
        self, transport: KubernetesTransport, namespace: str
    ) -> None:
        observed = await transport.create(config_map(namespace, a="1"))
        await transport.delete(observed, policy="Background")
        with pytest.raises(Conflict):
            await transport.update(config_map(namespace, a="2"), observed)
        assert await transport.find(about(namespace)) == []

    async def test_its_successor_of_the_same_name_is_left_alone(
        self, transport: KubernetesTransport, namespace: str
    ) -> None:
        observed = await transport.create(config_map(namespace, a="1"))
        await transport.delete(observed, policy="Background")
        successor = await transport.create(config_map(namespace, a="successor"))
        with pytest.raises(Conflict):
            await transport.update(config_map(namespace, a="2"), observed)
        with pytest.raises(Conflict):
            await transport.delete(observed, policy="Background")
        assert await transport.find(about(namespace)) == [successor]

    async def test_what_cannot_be_changed_is_invalid(self, transport: KubernetesTransport, namespace: str) -> None:
        created = await transport.create(job(namespace))
        changed = job(namespace)
        changed["spec"]["template"]["spec"]["containers"][0]["image"] = "adapter:2"
        with pytest.raises(Invalid, match="immutable"):
            await transport.update(changed, created)


class TestDeleting:
    async def test_what_is_gone_is_none(self, transport: KubernetesTransport, namespace: str) -> None:
        observed = await transport.create(config_map(namespace))
        assert await transport.delete(observed, policy="Background") is None
        assert await transport.delete(observed, policy="Background") is None
        assert await transport.wait_gone(observed, timeout=LONGEST_WAIT)

    async def test_what_is_held_is_shown_and_waited_for(
        self, transport: KubernetesTransport, client: KubernetesClient, namespace: str
    ) -> None:
        manifest = config_map(namespace)
        manifest["metadata"]["finalizers"] = ["tests.example.com/held"]
        left = await transport.delete(await transport.create(manifest), policy="Foreground")
        assert left is not None
        assert left["metadata"]["deletionTimestamp"]
        assert not await transport.wait_gone(left, timeout=0.2)
        waiting = asyncio.create_task(transport.wait_gone(left, timeout=LONGEST_WAIT))
        await client.patch(ObjectRef.of(left), {"metadata": {"finalizers": None}})
        assert await waiting

    async def test_a_successor_means_that_the_observed_one_is_gone(
        self, transport: KubernetesTransport, namespace: str
    ) -> None:
        observed = await transport.create(config_map(namespace))
        await transport.delete(observed, policy="Background")
        successor = await transport.create(config_map(namespace))
        assert uid_of(successor) != uid_of(observed)
        assert await transport.wait_gone(observed, timeout=LONGEST_WAIT)


class TestComparing:
    async def test_a_manifest_that_is_applied_does_not_differ(
        self, transport: KubernetesTransport, namespace: str
    ) -> None:
        for manifest in (config_map(namespace, a="1", labels={"x": "1"}), job(namespace)):
            observed = await transport.create(manifest)
            assert not await transport.differs(manifest, observed)

    async def test_a_change_by_somebody_else_differs(
        self, transport: KubernetesTransport, client: KubernetesClient, namespace: str
    ) -> None:
        created = await transport.create(config_map(namespace, a="1"))
        drifted = await client.patch(ObjectRef.of(created), {"data": {"a": "drifted"}}, manager="others")
        assert await transport.differs(config_map(namespace, a="1"), drifted)
        assert await transport.find(about(namespace)) == [drifted]

    async def test_a_field_that_somebody_else_added_does_not_differ(
        self, transport: KubernetesTransport, client: KubernetesClient, namespace: str
    ) -> None:
        created = await transport.create(config_map(namespace, a="1"))
        richer = await client.patch(ObjectRef.of(created), {"data": {"b": "theirs"}}, manager="others")
        assert not await transport.differs(config_map(namespace, a="1"), richer)

    async def test_a_field_that_the_manifest_no_longer_has_differs(
        self, transport: KubernetesTransport, namespace: str
    ) -> None:
        observed = await transport.create(config_map(namespace, a="1", b="1"))
        assert await transport.differs(config_map(namespace, a="1"), observed)

    async def test_an_object_that_is_gone_is_a_conflict(self, transport: KubernetesTransport, namespace: str) -> None:
        observed = await transport.create(config_map(namespace))
        await transport.delete(observed, policy="Background")
        with pytest.raises(Conflict):
            await transport.differs(config_map(namespace), observed)
        assert await transport.find(about(namespace)) == []
