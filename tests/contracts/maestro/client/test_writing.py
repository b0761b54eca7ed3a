"""Works that are created, applied and updated, and whose they are."""

import uuid
from dataclasses import replace

import pytest

from lab.maestro.agent import Agent
from shared.errors import (
    AlreadyExists,
    Conflict,
    Invalid,
    NotFound,
    NotOwned,
    UnknownConsumer,
)
from shared.maestro import Action, MaestroClient, Works
from shared.model.manifestwork import executor
from tests.support.maestro import TIMEOUT, MaestroServer, config_map, some_work, unique, watching
from tests.support.maestro_works import publish, raw_bundle


async def test_a_created_work_is_found_through_rest_by_its_uuid5_id(
    server: MaestroServer, client: MaestroClient
) -> None:
    consumer = (await client.consumers.create(unique("mgmt"))).name
    source = unique("source")
    async with MaestroClient(server.settings(source_id=source)) as sender:
        await sender.works(consumer).create(some_work("w"))
    text = f"{source}-manifestworks.work.open-cluster-management.io-{consumer}-w"

    answer = await raw_bundle(server, str(uuid.uuid5(uuid.NAMESPACE_OID, text)))

    assert answer.status_code == 200
    assert answer.json()["metadata"]["name"] == "w"
    assert answer.json()["consumer_name"] == consumer


async def test_works_of_another_source_are_not_seen(server: MaestroServer, works: Works) -> None:
    await works.create(some_work("w"))
    async with MaestroClient(server.settings()) as other:
        with pytest.raises(NotFound):
            await other.works(works.consumer).get("w")
        assert await other.works(works.consumer).list() == []


async def test_what_was_created_is_read_back_as_it_was_sent(works: Works) -> None:
    sent = some_work("w", labels={"a": "b"}, annotations={"hyperfleet.io/generation": "1", "text": "<é> & 'x'"})

    created = await works.create(sent)
    read = await works.get("w")

    assert created.generation == read.generation == 1
    assert read.uid == created.uid == works.id_of("w")
    assert (read.name, read.consumer, read.manifests) == ("w", works.consumer, sent.manifests)
    assert (read.labels, read.annotations) == (sent.labels, sent.annotations)
    assert read.delete_option == sent.delete_option
    assert read.manifest_configs == sent.manifest_configs
    assert read.created_at is not None
    assert not read.deleting
    assert read.status.conditions == ()


async def test_reading_a_missing_work_is_an_error(works: Works) -> None:
    with pytest.raises(NotFound, match="'w'"):
        await works.get("w")


async def test_creating_a_work_twice_is_refused(works: Works) -> None:
    await works.create(some_work("w"))
    with pytest.raises(AlreadyExists):
        await works.create(some_work("w"))


async def test_the_server_itself_refuses_a_second_work_of_the_same_id(server: MaestroServer, works: Works) -> None:
    await works.create(some_work("w"))
    with pytest.raises(AlreadyExists):
        await publish(server, works, "create", some_work("w"))


async def test_an_unknown_management_cluster_is_named(client: MaestroClient) -> None:
    with pytest.raises(UnknownConsumer, match="registered"):
        await client.works(unique("nobody")).create(some_work("w"))


async def test_apply_creates_then_leaves_alone_then_updates(works: Works) -> None:
    first = await works.apply(some_work("w"))
    second = await works.apply(some_work("w"))
    third = await works.apply(some_work("w", manifests=(config_map(key="other"),), labels={"x": "y"}))

    assert [each.action for each in (first, second, third)] == [Action.CREATED, Action.UNCHANGED, Action.UPDATED]
    assert third.changed == ("labels", "manifests")
    assert [each.work.generation for each in (first, second, third)] == [1, 1, 2]
    stored = await works.get("w")
    assert stored.generation == 2
    assert stored.manifests == (config_map(key="other"),)
    assert stored.labels == {"x": "y"}


@pytest.mark.parametrize(
    "manifest",
    [
        pytest.param(config_map() | {"spec": {"whole": 3.0, "half": 0.5, "big": 2**53, "negative": -7}}, id="numbers"),
        pytest.param(
            config_map() | {"spec": {"nothing": None, "empty": {}, "list": [], "text": "", "no": False}}, id="empty"
        ),
        pytest.param(config_map() | {"spec": {"text": "<&>'\"\\ é \u2028 \U0001f680"}}, id="characters"),
        pytest.param(config_map() | {"spec": {"deep": [[{"a": [1, [2, {"b": None}]]}]]}}, id="nesting"),
    ],
)
async def test_applying_the_same_again_writes_nothing(works: Works, manifest: dict[str, object]) -> None:
    await works.apply(some_work("w", manifests=(manifest,)))

    again = await works.apply(some_work("w", manifests=(manifest,)))

    assert again.action is Action.UNCHANGED
    assert (await works.get("w")).generation == 1


async def test_configs_with_empty_or_default_members_are_no_difference(works: Works) -> None:
    config = {
        "resourceIdentifier": {"group": "", "resource": "configmaps", "name": "settings", "namespace": "default"},
        "updateStrategy": {"type": "ServerSideApply", "serverSideApply": {"force": False, "fieldManager": ""}},
        "feedbackRules": [],
    }
    await works.apply(some_work("w", manifest_configs=(config,)))

    assert (await works.apply(some_work("w", manifest_configs=(config,)))).action is Action.UNCHANGED


async def test_a_change_made_from_an_old_reading_is_a_conflict_that_names_the_latest_version(works: Works) -> None:
    await works.create(some_work("w"))
    read = await works.get("w")
    await works.apply(replace(read, labels={"writer": "first"}))

    with pytest.raises(Conflict) as caught:
        await works.apply(replace(read, labels={"writer": "second"}))

    assert caught.value.latest_version == 2
    assert (await works.get("w")).labels == {"writer": "first"}


async def test_a_change_made_from_a_reading_of_what_has_gone_creates_nothing(works: Works, agent: Agent) -> None:
    await works.create(some_work("w"))
    read = await works.get("w")
    await works.delete("w")
    await works.wait_gone("w", timeout=TIMEOUT)

    with pytest.raises(NotFound, match="gone since"):
        await works.apply(replace(read, labels={"a": "b"}))


async def test_updating_keeps_metadata_that_the_caller_did_not_name(works: Works) -> None:
    await works.create(some_work("w", other_metadata={"finalizers": ["example.com/guard"]}))

    await works.apply(some_work("w", labels={"a": "b"}))

    stored = await works.get("w")
    assert stored.other_metadata["finalizers"] == ["example.com/guard"]
    assert stored.labels == {"a": "b"}


async def test_read_modify_write_changes_only_what_was_changed(works: Works) -> None:
    await works.create(some_work("w", labels={"a": "b"}, annotations={"c": "d"}))

    outcome = await works.apply(replace(await works.get("w"), annotations={"c": "e"}))

    assert outcome.changed == ("annotations",)
    stored = await works.get("w")
    assert (stored.labels, stored.annotations) == ({"a": "b"}, {"c": "e"})


async def test_updating_what_is_not_there_is_refused_by_the_server(server: MaestroServer, works: Works) -> None:
    with pytest.raises(NotFound):
        await publish(server, works, "update", some_work("w", generation=1))


async def test_version_zero_skips_the_servers_check(server: MaestroServer, works: Works) -> None:
    await works.create(some_work("w"))
    await publish(server, works, "update", some_work("w", labels={"forced": "yes"}))

    stored = await works.get("w")
    assert (stored.generation, stored.labels) == (2, {"forced": "yes"})


async def test_an_executor_survives_updates_and_its_change_is_seen(works: Works, agent: Agent) -> None:
    deployer = executor(namespace="ops", name="deployer")
    await works.apply(some_work("w", executor=deployer))

    same = await works.apply(some_work("w", executor=deployer))
    relabelled = await works.apply(some_work("w", executor=deployer, labels={"a": "b"}))
    changed = await works.apply(some_work("w", executor=executor(namespace="ops", name="other"), labels={"a": "b"}))

    assert same.action is Action.UNCHANGED
    assert relabelled.changed == ("labels",)
    assert changed.changed == ("executor",)


async def test_an_executor_that_an_update_does_not_name_is_kept(works: Works, agent: Agent) -> None:
    deployer = executor(namespace="ops", name="deployer")
    await works.apply(some_work("w", executor=deployer))
    await works.wait_until("w", lambda work: work is not None and bool(work.status.conditions), timeout=TIMEOUT)
    read = await works.get("w")

    kept = await works.apply(replace(read, labels={"a": "b"}))
    assert (kept.action, kept.work.executor) == (Action.UPDATED, deployer)

    again = await works.apply(some_work("w", executor=deployer, labels={"a": "b"}))
    assert again.action is Action.UNCHANGED


async def test_an_update_that_would_erase_an_executor_that_nobody_can_see_is_refused(works: Works) -> None:
    await works.apply(some_work("w", executor=executor(namespace="ops", name="deployer")))
    read = await works.get("w")

    with pytest.raises(Invalid, match="executor"):
        await works.apply(replace(read, labels={"a": "b"}))

    assert (await works.get("w")).generation == 1


async def test_an_executor_is_removed_when_the_caller_asks(works: Works) -> None:
    await works.apply(some_work("w", executor=executor(namespace="ops", name="deployer")))

    await works.apply(some_work("w"), drop_executor=True)
    after = await works.apply(some_work("w", labels={"a": "b"}))

    assert after.action is Action.UPDATED


async def test_the_status_stream_shows_the_executor(server: MaestroServer, works: Works, agent: Agent) -> None:
    """Listed works lack it, so the agent reports only after the list was delivered."""
    deployer = executor(namespace="ops", name="deployer")
    await agent.go_offline()
    await works.create(some_work("w", executor=deployer))
    async with watching(works) as seen:
        listed, *_ = await seen.until(bool)
        assert listed.work.executor is None
        await agent.come_online()
        await seen.until(lambda events: events[-1].work.executor == deployer)


async def test_a_work_of_that_name_from_another_source_is_left_alone(server: MaestroServer, works: Works) -> None:
    async with MaestroClient(server.settings()) as other:
        theirs = other.works(works.consumer)
        await theirs.create(some_work("w", labels={"owner": "them"}))

        for attempt in (works.create, works.apply):
            with pytest.raises(NotOwned, match="another source"):
                await attempt(some_work("w"))

        stored = await theirs.get("w")
        assert (stored.generation, stored.labels) == (1, {"owner": "them"})


async def test_a_work_from_another_source_can_be_adopted(server: MaestroServer, works: Works) -> None:
    async with MaestroClient(server.settings()) as other:
        theirs = other.works(works.consumer)
        await theirs.create(some_work("w"))

        outcome = await works.apply(some_work("w", labels={"owner": "us"}), adopt=True)

        assert outcome.action is Action.UPDATED
        assert (await theirs.get("w")).labels == {"owner": "us"}


async def test_a_work_without_our_labels_is_neither_changed_nor_deleted(client: MaestroClient, works: Works) -> None:
    await works.create(some_work("w", labels={"adapter": "somebody"}))
    ours = client.works(works.consumer, owner_labels={"adapter": "controlplane"})

    for attempt in (ours.apply(some_work("w")), ours.create(some_work("w")), ours.delete("w")):
        with pytest.raises(NotOwned, match="adapter=controlplane"):
            await attempt

    stored = await works.get("w")
    assert (stored.generation, stored.labels, stored.deleting) == (1, {"adapter": "somebody"}, False)


async def test_our_labels_are_put_on_everything_we_write(client: MaestroClient, works: Works) -> None:
    ours = client.works(works.consumer, owner_labels={"adapter": "controlplane"})

    await ours.apply(some_work("w", labels={"x": "y"}))

    assert (await ours.get("w")).labels == {"x": "y", "adapter": "controlplane"}
    assert (await ours.apply(some_work("w", labels={"x": "y"}))).action is Action.UNCHANGED
