"""What a run would write is seen by the rest of the run, and by nobody else."""

from datetime import UTC, datetime
from typing import Any

import pytest

from dispatcher.diff.preview import Action, PreviewTransport
from dispatcher.dryrun.transport import InMemoryTransport, World
from dispatcher.engine.ports import Object, Query
from shared.errors import NotFound


def config_map(name: str = "settings", namespace: str = "ns", **data: str) -> Object:
    labels = {"app": "x"}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "data": data,
    }


def by_name(name: str = "settings") -> Query:
    return Query(api_version="v1", kind="ConfigMap", namespace="ns", name=name)


BY_LABEL = Query(api_version="v1", kind="ConfigMap", namespace="*", labels={"app": "x"})


class Server(InMemoryTransport):
    """Answers writes and stores none, as a dry run does; a missing namespace is refused."""

    def __init__(self) -> None:
        world = World(label="", annotation="", now=lambda: datetime.now(UTC), is_deleting=lambda: False, records=[])
        super().__init__(world, {}, asynchronous=False)
        self.namespaces = {"ns", ""}

    async def store(self, manifest: Object) -> Object:
        return await super().create(manifest)

    async def create(self, manifest: Object, *, consumer: str = "") -> Object:
        if manifest["metadata"].get("namespace", "") not in self.namespaces:
            raise NotFound("there is no such namespace")
        return manifest

    async def update(self, manifest: Object, observed: Object, *, consumer: str = "") -> Object:
        return {**observed, **manifest}

    async def delete(self, observed: Object, **_: Any) -> Object | None:
        held = observed["metadata"].get("finalizers")
        return {**observed, "metadata": {**observed["metadata"], "deletionTimestamp": "now"}} if held else None


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def preview(server: Server) -> PreviewTransport:
    return PreviewTransport(server)


@pytest.mark.parametrize("query", [by_name(), BY_LABEL], ids=["by name", "by label"])
async def test_what_would_be_created_is_found(preview: PreviewTransport, server: Server, query: Query) -> None:
    await preview.create(config_map(key="value"))

    assert [each["data"] for each in await preview.find(query)] == [{"key": "value"}]
    assert await server.find(query) == []


async def test_what_would_be_changed_is_found_changed(preview: PreviewTransport, server: Server) -> None:
    stored = await server.store(config_map(key="old"))

    await preview.update(config_map(key="new"), stored)

    assert [each["data"] for each in await preview.find(BY_LABEL)] == [{"key": "new"}]
    assert [each["data"] for each in await server.find(BY_LABEL)] == [{"key": "old"}]


async def test_what_would_be_deleted_is_gone(preview: PreviewTransport, server: Server) -> None:
    stored = await server.store(config_map())

    assert await preview.delete(stored, policy="Background") is None

    assert await preview.find(by_name()) == []
    assert len(await server.find(by_name())) == 1


async def test_what_would_be_deleted_stays_on_its_way_out_where_a_finalizer_holds_it(
    preview: PreviewTransport, server: Server
) -> None:
    held = config_map()
    held["metadata"]["finalizers"] = ["example.com/hold"]
    stored = await server.store(held)

    await preview.delete(stored, policy="Background")

    (left,) = await preview.find(by_name())
    assert left["metadata"]["deletionTimestamp"]
    assert await preview.wait_gone(left, timeout=10.0)
    assert await preview.find(by_name()) == []


async def test_an_object_can_take_the_place_of_one_that_would_be_deleted(
    preview: PreviewTransport, server: Server
) -> None:
    stored = await server.store(config_map(key="old"))

    await preview.delete(stored, policy="Background")
    await preview.create(config_map(key="new"))

    assert [each["data"] for each in await preview.find(by_name())] == [{"key": "new"}]
    assert [change.action for change in preview.changes] == [Action.DELETE, Action.CREATE]


async def test_an_object_can_be_in_a_namespace_that_would_be_created(preview: PreviewTransport) -> None:
    await preview.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fresh"}})

    assert await preview.create(config_map(namespace="fresh"))


async def test_an_object_in_a_namespace_that_nobody_creates_is_refused(preview: PreviewTransport) -> None:
    with pytest.raises(NotFound):
        await preview.create(config_map(namespace="missing"))

    assert preview.changes == []
