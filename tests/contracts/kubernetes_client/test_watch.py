"""What a watch delivers, on an API server."""

from contextlib import aclosing

from shared.kubernetes import Change, KubernetesClient, ObjectRef, Selection, Watch, equal_labels, select_one
from shared.kubernetes.watching.backoff import Backoff
from shared.retry import RetryPolicy
from tests.support.kubernetes import KubernetesServer
from tests.support.kubernetes_objects import config_map
from tests.support.watches import following

OURS = {"app": "tests"}
# A connection that the old server had may be used once more before its end is noticed.
PATIENT = RetryPolicy(budget=60.0, first_delay=0.05)


def ours(namespace: str) -> Selection:
    return Selection(api_version="v1", kind="ConfigMap", namespace=namespace, labels=equal_labels(OURS))


async def test_what_is_there_comes_first_and_every_change_after(client: KubernetesClient, namespace: str) -> None:
    for name in ("a", "b"):
        await client.create(config_map(namespace, name, labels=OURS))
    watch = Watch(client, ours(namespace))
    async with following(watch) as followed:
        assert sorted(followed.changes) == [("ADDED", "a"), ("ADDED", "b")]
        assert watch.healthy
        ref = ObjectRef.of(await client.create(config_map(namespace, "c", labels=OURS)))
        await client.patch(ref, {"data": {"changed": "yes"}})
        await client.delete(ref)
        await followed.until_change(Change.DELETED, "c")
    assert followed.changes[2:] == [("ADDED", "c"), ("MODIFIED", "c"), ("DELETED", "c")]
    assert len(watch.known) == 2
    assert {(event.object["apiVersion"], event.object["kind"]) for event in followed.events} == {("v1", "ConfigMap")}


async def test_what_is_listed_arrived_with_its_page_however_late_it_is_taken(
    client: KubernetesClient, namespace: str
) -> None:
    for name in ("a", "b"):
        await client.create(config_map(namespace, name, labels=OURS))
    async with aclosing(Watch(client, ours(namespace)).events()) as events:
        first = await anext(events)
        second = await anext(events)
    assert first.at == second.at


async def test_only_what_is_selected_is_delivered(client: KubernetesClient, namespace: str) -> None:
    await client.create(config_map(namespace, "other"))
    ref = ObjectRef.of(await client.create(config_map(namespace, "mine", labels=OURS)))
    async with following(Watch(client, ours(namespace))) as followed:
        await client.patch(ref, {"metadata": {"labels": {"app": None}}})
        await followed.until_change(Change.DELETED, "mine")
    assert followed.changes == [("ADDED", "mine"), ("DELETED", "mine")]


async def test_one_object_can_be_watched(client: KubernetesClient, namespace: str) -> None:
    ref = ObjectRef(api_version="v1", kind="ConfigMap", namespace=namespace, name="mine")
    async with following(Watch(client, select_one(ref))) as followed:
        assert followed.changes == []
        await client.create(config_map(namespace, "other"))
        await client.create(config_map(namespace, "mine"))
        await followed.until_change(Change.ADDED, "mine")
    assert followed.changes == [("ADDED", "mine")]


async def test_a_resync_delivers_nothing_that_is_known(client: KubernetesClient, namespace: str) -> None:
    await client.create(config_map(namespace, "a", labels=OURS))
    async with following(Watch(client, ours(namespace), resync_seconds=1.0)) as followed:
        for number in range(3):
            ref = ObjectRef.of(await client.create(config_map(namespace, f"n{number}", labels=OURS)))
            await followed.until_change(Change.ADDED, ref.name)
            await client.delete(ref)
            await followed.until_change(Change.DELETED, ref.name)
    assert len(followed.changes) == 7


async def test_a_restarted_server_is_watched_on_and_nothing_is_missed(
    server: KubernetesServer, client: KubernetesClient, namespace: str
) -> None:
    gone = ObjectRef.of(await client.create(config_map(namespace, "gone", labels=OURS)))
    watch = Watch(client, ours(namespace), backoff=Backoff(first=0.05, longest=0.5))
    async with following(watch) as followed:
        await server.forget()
        await PATIENT.run("delete", lambda: client.delete(gone))
        await PATIENT.run("create", lambda: client.create(config_map(namespace, "new", labels=OURS)))
        await followed.until_change(Change.ADDED, "new")
        await followed.until_change(Change.DELETED, "gone")
        await server.kill()
        await server.start()
        await PATIENT.run("create", lambda: client.create(config_map(namespace, "late", labels=OURS)))
        await followed.until_change(Change.ADDED, "late")
    assert sorted(followed.changes) == [("ADDED", "gone"), ("ADDED", "late"), ("ADDED", "new"), ("DELETED", "gone")]
