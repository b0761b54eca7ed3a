"""Resources on management clusters, as the engine reaches them through Maestro."""

from typing import Any

import pytest

from dispatcher.engine.ports import Query
from dispatcher.transports import MaestroTransport
from lab.maestro.agent import Agent
from shared.errors import AlreadyExists, Conflict, Deleting, Invalid, UnknownConsumer
from shared.maestro import MaestroClient
from shared.model.manifestwork import API_VERSION, manifest_config
from tests.support.maestro import TIMEOUT
from tests.support.maestro_works import is_applied

Document = dict[str, Any]


def manifest(name: str = "settings", generation: int = 1, kind: str = "ConfigMap", **data: str) -> Document:
    annotations = {"hyperfleet.io/generation": str(generation)}
    metadata = {"name": name, "namespace": "default", "annotations": annotations, "labels": {"part": name}}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": data or {"a": "1"}}


def work(
    name: str = "work", generation: int = 1, *, manifests: list[Document] | None = None, **metadata: Any
) -> Document:
    annotations = {"hyperfleet.io/generation": str(generation)}
    feedback = {"data": ".data", "first": ".data.a"}
    config = manifest_config(group="", resource="configmaps", name="settings", namespace="default", feedback=feedback)
    return {
        "apiVersion": API_VERSION,
        "kind": "ManifestWork",
        "metadata": {"name": name, "annotations": annotations, **metadata},
        "spec": {
            "workload": {"manifests": manifests or [manifest(generation=generation)]},
            "manifestConfigs": [config],
            "deleteOption": {"propagationPolicy": "Foreground"},
        },
    }


def about(consumer: str, name: str = "work", **more: Any) -> Query:
    return Query(api_version=API_VERSION, kind="ManifestWork", consumer=consumer, name=name, **more)


class TestFinding:
    async def test_by_name(self, transport: MaestroTransport, consumer: str) -> None:
        created = await transport.create(work(), consumer=consumer)
        (found,) = await transport.find(about(consumer))
        assert found["metadata"]["uid"] == created["metadata"]["uid"]
        assert found["spec"] == created["spec"]
        assert await transport.find(about(consumer, "other")) == []

    async def test_by_labels(self, transport: MaestroTransport, consumer: str) -> None:
        for name, labels in {"a": {"x": "1", "y": "2"}, "b": {"x": "1"}}.items():
            await transport.create(work(name, labels=labels), consumer=consumer)
        for labels, names in (({"x": "1"}, ["a", "b"]), ({"x": "1", "y": "2"}, ["a"]), ({"x": "3"}, [])):
            found = await transport.find(about(consumer, "", labels=labels))
            assert sorted(each["metadata"]["name"] for each in found) == names

    @pytest.mark.parametrize(("namespace", "count"), [("", 1), ("*", 1), ("elsewhere", 0)])
    async def test_the_namespace_of_a_work_is_its_consumer(
        self, transport: MaestroTransport, consumer: str, namespace: str, count: int
    ) -> None:
        await transport.create(work(), consumer=consumer)
        assert len(await transport.find(about(consumer, namespace=namespace))) == count
        assert len(await transport.find(about(consumer, namespace=consumer))) == 1

    async def test_another_consumer_has_none_of_them(
        self, transport: MaestroTransport, client: MaestroClient, consumer: str
    ) -> None:
        await transport.create(work(), consumer=consumer)
        await client.consumers.create(f"{consumer}-b")
        assert await transport.find(about(f"{consumer}-b")) == []

    async def test_objects_of_other_kinds_are_found_inside_works(
        self, transport: MaestroTransport, consumer: str
    ) -> None:
        inside = [manifest("settings"), manifest("settings", kind="Secret"), manifest("more")]
        await transport.create(work(manifests=inside), consumer=consumer)
        common: Document = {"api_version": "v1", "kind": "ConfigMap", "consumer": consumer}
        for query, names in (
            (Query(**common, name="settings"), ["settings"]),
            (Query(**common, name="settings", namespace="default"), ["settings"]),
            (Query(**common, name="settings", namespace="other"), []),
            (Query(**common, labels={"part": "more"}, namespace="*"), ["more"]),
            (Query(**common, name="absent"), []),
        ):
            found = await transport.find(query)
            assert [each["metadata"]["name"] for each in found] == names
            assert all(each["kind"] == "ConfigMap" for each in found)

    async def test_what_the_agent_reported_is_shown_with_a_work_and_with_its_objects(
        self, transport: MaestroTransport, client: MaestroClient, consumer: str, agent: Agent
    ) -> None:
        await transport.create(work(), consumer=consumer)
        await client.works(consumer).wait_until(
            "work",
            lambda each: is_applied(each) and each is not None and bool(each.status.manifests[0].feedback),
            timeout=TIMEOUT,
        )
        (found,) = await transport.find(about(consumer))
        assert {"Applied", "Available"} <= {each["type"] for each in found["status"]["conditions"]}
        (reported,) = found["status"]["resourceStatus"]["manifests"]
        assert (reported["resourceMeta"]["kind"], reported["resourceMeta"]["name"]) == ("ConfigMap", "settings")
        values = {each["name"]: each["fieldValue"] for each in reported["statusFeedback"]["values"]}
        assert values["first"] == {"type": "String", "string": "1"}
        assert values["data"]["type"] == "JsonRaw"
        (nested,) = await transport.find(Query(api_version="v1", kind="ConfigMap", consumer=consumer, name="settings"))
        assert nested["statusFeedback"] == reported["statusFeedback"]
        assert nested["conditions"] == reported["conditions"]


class TestCreating:
    async def test_a_work_is_stored_for_its_consumer_whatever_its_namespace(
        self, transport: MaestroTransport, consumer: str
    ) -> None:
        created = await transport.create(work(namespace="ignored"), consumer=consumer)
        assert created["metadata"]["namespace"] == consumer
        assert created["metadata"]["generation"] == 1

    async def test_what_exists_is_left_alone(self, transport: MaestroTransport, consumer: str) -> None:
        await transport.create(work(), consumer=consumer)
        with pytest.raises(AlreadyExists):
            await transport.create(work(generation=2), consumer=consumer)

    async def test_an_unknown_consumer_is_named(self, transport: MaestroTransport, client: MaestroClient) -> None:
        with pytest.raises(UnknownConsumer, match="nowhere"):
            await transport.create(work(), consumer="nowhere")

    async def test_a_generation_is_needed_on_the_work_and_on_every_manifest(
        self, transport: MaestroTransport, consumer: str
    ) -> None:
        bare, zero = manifest("bare"), manifest("zero", generation=0)
        del bare["metadata"]["annotations"]
        with pytest.raises(Invalid) as refusal:
            await transport.create(work(generation=-1, manifests=[manifest(), bare, zero]), consumer=consumer)
        assert [problem.path for problem in refusal.value.problems] == [
            "metadata.annotations",
            "spec.workload.manifests[1].metadata.annotations",
            "spec.workload.manifests[2].metadata.annotations",
        ]

    async def test_something_else_than_a_work_is_refused(self, transport: MaestroTransport, consumer: str) -> None:
        with pytest.raises(Invalid, match="ManifestWork"):
            await transport.create(manifest(), consumer=consumer)


class TestUpdating:
    async def test_content_is_replaced_and_the_labels_of_others_stay(
        self, transport: MaestroTransport, consumer: str
    ) -> None:
        created = await transport.create(work(labels={"theirs": "x", "ours": "1"}), consumer=consumer)
        updated = await transport.update(work(generation=2, labels={"ours": "2"}), created, consumer=consumer)
        (found,) = await transport.find(about(consumer))
        for each in (updated, found):
            assert each["metadata"]["generation"] == 2
            assert each["metadata"]["labels"] == {"theirs": "x", "ours": "2"}
            assert each["spec"]["workload"]["manifests"] == [manifest(generation=2)]

    async def test_a_state_that_is_no_longer_there_is_a_conflict(
        self, transport: MaestroTransport, consumer: str
    ) -> None:
        observed = await transport.create(work(), consumer=consumer)
        await transport.update(work(generation=2), observed, consumer=consumer)
        with pytest.raises(Conflict):
            await transport.update(work(generation=3), observed, consumer=consumer)


class TestDeleting:
    async def test_a_work_is_there_until_the_agent_confirms(
        self, transport: MaestroTransport, client: MaestroClient, consumer: str, agent: Agent
    ) -> None:
        created = await transport.create(work(), consumer=consumer)
        await client.works(consumer).wait_until("work", is_applied, timeout=TIMEOUT)
        left = await transport.delete(created, policy="Background", consumer=consumer)
        assert left is None or left["metadata"]["deletionTimestamp"]
        assert await transport.wait_gone(created, timeout=TIMEOUT, consumer=consumer)
        assert await transport.find(about(consumer)) == []
        assert await transport.delete(created, policy="Background", consumer=consumer) is None

    async def test_without_an_agent_it_waits_and_takes_no_successor(
        self, transport: MaestroTransport, consumer: str
    ) -> None:
        created = await transport.create(work(), consumer=consumer)
        left = await transport.delete(created, policy="Background", consumer=consumer)
        assert left is not None
        assert left["metadata"]["deletionTimestamp"]
        assert not await transport.wait_gone(left, timeout=0.3, consumer=consumer)
        with pytest.raises(Deleting):
            await transport.create(work(generation=2), consumer=consumer)


class TestComparing:
    async def test_only_a_change_differs(self, transport: MaestroTransport, consumer: str) -> None:
        await transport.create(work(labels={"theirs": "x"}), consumer=consumer)
        (observed,) = await transport.find(about(consumer))
        assert not await transport.differs(work(), observed, consumer=consumer)
        assert await transport.differs(work(labels={"theirs": "y"}), observed, consumer=consumer)
        other = work(manifests=[manifest(a="other")])
        assert await transport.differs(other, observed, consumer=consumer)
