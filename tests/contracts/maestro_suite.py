"""What a Maestro does and what our client makes of it: one suite for the stand-in and for the real server.

A test module provides the fixture `maestro` (a `Ground`) and imports everything from here.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import httpx
import pytest

from lab.maestro.agent import Agent
from lab.maestro.verdicts import Script
from shared import times
from shared.errors import (
    AlreadyExists,
    Conflict,
    DeadlineExceeded,
    Deleting,
    Invalid,
    NotFound,
    NotOwned,
    TooLarge,
    Unavailable,
    UnknownConsumer,
)
from shared.maestro import Action, Change, MaestroClient, WorkEvent, Works
from shared.maestro.codec import DATA_TYPE, Envelope, spec_request
from shared.maestro.credentials import rest_context
from shared.maestro.freshness import Application, applied
from shared.maestro.link import Link
from shared.manifestwork import ManifestWork, executor
from tests.contracts.maestro_ground import PATIENCE, Cutter, Ground, config_map, some_work, unique, watching


@pytest.fixture
async def client(maestro: Ground) -> AsyncIterator[MaestroClient]:
    async with MaestroClient(maestro.settings()) as connected:
        yield connected


@pytest.fixture
async def works(client: MaestroClient) -> Works:
    consumer = await client.consumers.create(unique("mgmt"))
    return client.works(consumer.name)


@pytest.fixture
async def agent(maestro: Ground, works: Works) -> AsyncIterator[Agent]:
    async with Agent(maestro.broker_address, works.consumer) as connected:
        yield connected


async def raw_bundle(maestro: Ground, uid: str) -> httpx.Response:
    context = rest_context(maestro.settings())
    async with httpx.AsyncClient(verify=context) as http:
        return await http.get(f"{maestro.rest_url}/api/maestro/v1/resource-bundles/{uid}")


def is_applied(work: ManifestWork | None) -> bool:
    return work is not None and applied(work).state is Application.APPLIED


def was_told(change: Change, name: str, *, generation: int | None = None) -> Callable[[list[WorkEvent]], bool]:
    def told(events: list[WorkEvent]) -> bool:
        return any(
            each.change is change
            and each.work.name == name
            and (generation is None or each.work.generation == generation)
            for each in events
        )

    return told


def was_told_applied(name: str) -> Callable[[list[WorkEvent]], bool]:
    return lambda events: any(event.work.name == name and is_applied(event.work) for event in events)


# --- identity -------------------------------------------------------------------------------------


async def test_a_created_work_is_found_through_rest_by_its_uuid5_id(maestro: Ground, client: MaestroClient) -> None:
    consumer = (await client.consumers.create(unique("mgmt"))).name
    source = unique("source")
    async with MaestroClient(maestro.settings(source_id=source)) as sender:
        await sender.works(consumer).create(some_work("w"))
    text = f"{source}-manifestworks.work.open-cluster-management.io-{consumer}-w"

    answer = await raw_bundle(maestro, str(uuid.uuid5(uuid.NAMESPACE_OID, text)))

    assert answer.status_code == 200
    assert answer.json()["metadata"]["name"] == "w"
    assert answer.json()["consumer_name"] == consumer


async def test_works_of_another_source_are_not_seen(maestro: Ground, works: Works) -> None:
    await works.create(some_work("w"))
    async with MaestroClient(maestro.settings()) as other:
        with pytest.raises(NotFound):
            await other.works(works.consumer).get("w")
        assert await other.works(works.consumer).list() == []


# --- create, get, update --------------------------------------------------------------------------


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


async def test_reading_a_work_that_is_not_there_says_so(works: Works) -> None:
    with pytest.raises(NotFound, match="'w'"):
        await works.get("w")


async def test_creating_a_work_twice_is_refused(works: Works) -> None:
    await works.create(some_work("w"))
    with pytest.raises(AlreadyExists):
        await works.create(some_work("w"))


async def test_the_server_itself_refuses_a_second_work_of_the_same_id(maestro: Ground, works: Works) -> None:
    await works.create(some_work("w"))
    with pytest.raises(AlreadyExists):
        await publish(maestro, works, "create", some_work("w"))


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
    await works.wait_gone("w", patience=PATIENCE)

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


async def test_updating_what_is_not_there_is_told_by_the_server(maestro: Ground, works: Works) -> None:
    with pytest.raises(NotFound):
        await publish(maestro, works, "update", some_work("w", generation=1))


async def test_version_zero_skips_the_servers_check(maestro: Ground, works: Works) -> None:
    await works.create(some_work("w"))
    await publish(maestro, works, "update", some_work("w", labels={"forced": "yes"}))

    stored = await works.get("w")
    assert (stored.generation, stored.labels) == (2, {"forced": "yes"})


# --- executor -------------------------------------------------------------------------------------


async def test_an_executor_survives_updates_and_its_change_is_seen(works: Works, agent: Agent) -> None:
    deployer = executor(namespace="ops", name="deployer")
    await works.apply(some_work("w", executor=deployer))

    same = await works.apply(some_work("w", executor=deployer))
    relabelled = await works.apply(some_work("w", executor=deployer, labels={"a": "b"}))
    changed = await works.apply(some_work("w", executor=executor(namespace="ops", name="other"), labels={"a": "b"}))

    assert same.action is Action.UNCHANGED
    assert relabelled.changed == ("labels",)
    assert changed.changed == ("executor",)


async def test_an_update_that_would_erase_an_executor_is_refused(works: Works) -> None:
    await works.apply(some_work("w", executor=executor(namespace="ops", name="deployer")))
    read = await works.get("w")

    with pytest.raises(Invalid, match="executor"):
        await works.apply(replace(read, labels={"a": "b"}))

    assert (await works.get("w")).generation == 1


async def test_an_executor_goes_when_the_caller_says_so(works: Works) -> None:
    await works.apply(some_work("w", executor=executor(namespace="ops", name="deployer")))

    await works.apply(some_work("w"), drop_executor=True)
    after = await works.apply(some_work("w", labels={"a": "b"}))

    assert after.action is Action.UPDATED


async def test_the_status_stream_shows_the_executor(maestro: Ground, works: Works, agent: Agent) -> None:
    deployer = executor(namespace="ops", name="deployer")
    async with watching(works) as seen:
        await works.create(some_work("w", executor=deployer))
        await seen.until(lambda events: any(event.work.executor == deployer for event in events))


# --- ownership ------------------------------------------------------------------------------------


async def test_a_work_of_that_name_from_another_source_is_left_alone(maestro: Ground, works: Works) -> None:
    async with MaestroClient(maestro.settings()) as other:
        theirs = other.works(works.consumer)
        await theirs.create(some_work("w", labels={"owner": "them"}))

        for attempt in (works.create, works.apply):
            with pytest.raises(NotOwned, match="another source"):
                await attempt(some_work("w"))

        stored = await theirs.get("w")
        assert (stored.generation, stored.labels) == (1, {"owner": "them"})


async def test_a_work_from_another_source_can_be_adopted(maestro: Ground, works: Works) -> None:
    async with MaestroClient(maestro.settings()) as other:
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


# --- refusals -------------------------------------------------------------------------------------


async def publish(maestro: Ground, works: Works, action: str, work: ManifestWork) -> None:
    """Send past the client's own checks, as a worse client would."""
    addressed = replace(work, consumer=works.consumer, uid=works.id_of(work.name))
    await send(maestro, spec_request(action, addressed, source=works.settings.source_id, at=times.now()))


async def send(maestro: Ground, envelope: Envelope) -> None:
    link = Link(maestro.settings())
    try:
        await link.publish(envelope, "send")
    finally:
        await link.close()


async def test_an_invalid_work_is_refused_before_it_is_sent_with_all_its_problems(works: Works) -> None:
    broken = some_work("Bad_Name", manifests=({"apiVersion": "v1", "metadata": {"generateName": "x-"}},))

    with pytest.raises(Invalid) as caught:
        await works.create(broken)

    paths = [problem.path for problem in caught.value.problems]
    assert paths == [
        "metadata.name",
        "spec.workload.manifests[0].kind",
        "spec.workload.manifests[0].metadata.name",
        "spec.workload.manifests[0].metadata.generateName",
    ]
    assert await works.list() == []


@pytest.mark.parametrize("action", ["create", "update"])
async def test_the_servers_own_refusal_of_content_names_the_fields(maestro: Ground, works: Works, action: str) -> None:
    if action == "update":
        await works.create(some_work("w"))
    broken = some_work("w", manifests=({"apiVersion": "v1", "metadata": {}},))

    with pytest.raises(Invalid) as caught:
        await publish(maestro, works, action, broken)

    assert {problem.path for problem in caught.value.problems} >= {"kind", "metadata.name"}


async def test_the_server_refuses_the_same_object_twice_in_a_work(maestro: Ground, works: Works) -> None:
    with pytest.raises(Invalid, match="duplicate manifest"):
        await publish(maestro, works, "create", some_work("w", manifests=(config_map(), config_map())))


async def test_a_message_beyond_the_servers_limit_is_too_large(maestro: Ground, works: Works) -> None:
    huge = some_work("w", manifests=(config_map(key="x" * (4 * 1024 * 1024)),))
    with pytest.raises(TooLarge):
        await publish(maestro, works, "create", huge)


@pytest.mark.parametrize("missing", ["clustername", "resourceid", "resourceversion"])
async def test_an_event_without_what_it_must_carry_is_refused(maestro: Ground, works: Works, missing: str) -> None:
    work = replace(some_work("w"), consumer=works.consumer, uid=works.id_of("w"))
    envelope = spec_request("create", work, source=works.settings.source_id, at=times.now())
    extensions = {name: value for name, value in envelope.extensions.items() if name != missing}

    with pytest.raises(Invalid, match=missing):
        await send(maestro, replace(envelope, extensions=extensions))


@pytest.mark.parametrize(
    "type_", ["a.b", f"{DATA_TYPE}.foo.create_request", f"{DATA_TYPE}.spec.foo"], ids=["short", "subresource", "action"]
)
async def test_an_event_of_a_type_nobody_knows_is_refused(maestro: Ground, works: Works, type_: str) -> None:
    work = replace(some_work("w"), consumer=works.consumer, uid=works.id_of("w"))
    envelope = spec_request("create", work, source=works.settings.source_id, at=times.now())

    with pytest.raises(Invalid, match="could not read the event"):
        await send(maestro, replace(envelope, type=type_))


async def test_a_version_sent_as_text_is_understood(maestro: Ground, works: Works) -> None:
    work = replace(some_work("w"), consumer=works.consumer, uid=works.id_of("w"))
    envelope = spec_request("create", work, source=works.settings.source_id, at=times.now())

    await send(maestro, replace(envelope, extensions={**envelope.extensions, "resourceversion": "0"}))

    assert (await works.get("w")).generation == 1


async def test_a_server_that_is_not_there_is_unavailable(maestro: Ground, works: Works) -> None:
    settings = maestro.settings(grpc_server_address="127.0.0.1:1", retry_attempts=1)
    async with MaestroClient(settings) as nowhere:
        with pytest.raises(Unavailable):
            await nowhere.works(works.consumer).create(some_work("w"))


async def test_a_server_that_does_not_answer_in_time_is_told_so(maestro: Ground, works: Works) -> None:
    async with Cutter(maestro.grpc_address) as cutter:
        settings = maestro.settings(
            grpc_server_address=cutter.address, source_id=works.settings.source_id, timeout=1.0, retry_attempts=1
        )
        async with MaestroClient(settings) as client:
            await client.works(works.consumer).create(some_work("first"))
            cutter.stall()
            with pytest.raises(DeadlineExceeded):
                await client.works(works.consumer).create(some_work("second"))


# --- deletion -------------------------------------------------------------------------------------


async def test_deleting_what_is_not_there_is_no_error(works: Works) -> None:
    assert await works.delete("w") is False


async def test_a_deleted_work_is_visible_as_deleting_until_the_agent_confirms(works: Works, maestro: Ground) -> None:
    await works.create(some_work("w"))

    assert await works.delete("w") is True
    assert await works.delete("w") is True

    assert (await works.get("w")).deleting
    assert [work.deleting for work in await works.list()] == [True]
    with pytest.raises(DeadlineExceeded, match="being deleted since"):
        await works.wait_gone("w", patience=0.5)
    async with Agent(maestro.broker_address, works.consumer):
        await works.wait_gone("w", patience=PATIENCE)
    with pytest.raises(NotFound):
        await works.get("w")


async def test_a_deleting_work_takes_no_change_and_no_successor(maestro: Ground, works: Works) -> None:
    await works.create(some_work("w"))
    await works.delete("w")

    for attempt in (works.apply(some_work("w", labels={"a": "b"})), works.create(some_work("w"))):
        with pytest.raises(Deleting):
            await attempt
    with pytest.raises(Deleting):
        await publish(maestro, works, "update", some_work("w", generation=1))
    with pytest.raises(AlreadyExists):
        await publish(maestro, works, "create", some_work("w"))


async def test_a_name_can_be_used_again_when_the_work_is_gone(works: Works, agent: Agent) -> None:
    for round_ in range(2):
        assert (await works.apply(some_work("w", labels={"round": str(round_)}))).action is Action.CREATED
        await works.wait_until("w", is_applied, patience=PATIENCE)
        await works.delete("w")
        await works.wait_gone("w", patience=PATIENCE)


async def test_a_slow_deletion_is_waited_for(works: Works, agent: Agent) -> None:
    agent.script = Script(stuck=True)
    await works.create(some_work("w"))
    await works.wait_until("w", is_applied, patience=PATIENCE)
    await works.delete("w")
    stuck = await works.wait_until(
        "w", lambda work: work is not None and work.status.condition("Deleting") is not None, patience=PATIENCE
    )
    assert stuck is not None
    agent.freed.set()

    await works.wait_gone("w", patience=PATIENCE)


# --- listing --------------------------------------------------------------------------------------


async def test_listing_is_complete_over_several_pages_and_stops_at_the_limit(works: Works) -> None:
    names = {f"w{number}" for number in range(230)}
    async with asyncio.TaskGroup() as group:
        for name in names:
            group.create_task(works.create(some_work(name)))

    listed = await works.list()

    assert {work.name for work in listed} == names
    assert len(listed) == len(names)
    assert len(await works.list(limit=150)) == 150
    assert await works.list(limit=0) == []


LABELLED = {"one": {"tier": "gold"}, "two": {"tier": "silver", "canary": ""}, "three": {}}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("tier=gold", {"one"}),
        ("tier==gold", {"one"}),
        ("tier!=gold", {"two", "three"}),
        ("tier in (gold, silver)", {"one", "two"}),
        ("tier notin (gold, bronze)", {"two", "three"}),
        ("tier", {"one", "two"}),
        ("!tier", {"three"}),
        ("tier,!canary", {"one"}),
        ("canary=", {"two"}),
        ("tier=gold,tier=silver", set()),
        ("", {"one", "two", "three"}),
    ],
)
async def test_label_selectors_mean_what_kubernetes_means(works: Works, selector: str, expected: set[str]) -> None:
    for name, labels in LABELLED.items():
        await works.create(some_work(name, labels=labels))

    assert {work.name for work in await works.list(selector)} == expected


# --- consumers ------------------------------------------------------------------------------------


async def test_consumers_are_created_found_and_deleted_by_name(client: MaestroClient) -> None:
    name = unique("mgmt")
    created = await client.consumers.create(name, {"region": "us-east1"})

    assert await client.consumers.get(name) == created
    assert created.labels == {"region": "us-east1"}
    assert name in {consumer.name for consumer in await client.consumers.list()}
    assert await client.consumers.delete(name) is True
    assert await client.consumers.delete(name) is False
    with pytest.raises(UnknownConsumer, match=name):
        await client.consumers.get(name)


async def test_a_consumer_is_created_once_however_often_it_is_ensured(client: MaestroClient) -> None:
    name = unique("mgmt")

    ensured = await asyncio.gather(*(client.consumers.ensure(name) for _ in range(8)))

    assert len({consumer.id for consumer in ensured}) == 1
    with pytest.raises(AlreadyExists):
        await client.consumers.create(name)


async def test_a_consumer_with_works_is_not_deleted(client: MaestroClient, works: Works) -> None:
    await works.create(some_work("w"))

    with pytest.raises(Conflict, match="still has works"):
        await client.consumers.delete(works.consumer)


async def test_a_name_no_consumer_can_have_is_refused_here(client: MaestroClient) -> None:
    for attempt in (client.consumers.create("Bad_Name"), client.consumers.get("it's")):
        with pytest.raises(Invalid, match="lower-case"):
            await attempt


# --- status and watching --------------------------------------------------------------------------


async def test_the_agents_verdict_and_feedback_come_back(works: Works, agent: Agent) -> None:
    await works.create(some_work("w"))
    await works.wait_until("w", is_applied, patience=PATIENCE)
    await agent.observe("ConfigMap", "default", "settings", {"phase": "Ready", "nodes": [1, 2]})

    def has_status(work: ManifestWork | None) -> bool:
        return work is not None and "status" in work.status.manifests[0].feedback

    work = await works.wait_until("w", has_status, patience=PATIENCE)

    assert work is not None
    manifest = work.status.manifests[0]
    assert (manifest.kind, manifest.namespace, manifest.name) == ("ConfigMap", "default", "settings")
    assert manifest.feedback == {
        "data": {"key": "value"},
        "status": {"phase": "Ready", "nodes": [1, 2]},
        "phase": "Ready",
    }


@pytest.mark.parametrize(
    ("script", "known"),
    [
        pytest.param(Script(), {"data", "status", "phase"}, id="everything"),
        pytest.param(Script(raw_feedback=False), {"phase"}, id="an agent that tells scalars only"),
        pytest.param(Script(max_raw_bytes=20), {"data", "phase"}, id="a value that is too large disappears"),
    ],
)
async def test_feedback_that_the_agent_leaves_out_is_unknown(
    works: Works, agent: Agent, script: Script, known: set[str]
) -> None:
    agent.script = script
    await works.create(some_work("w"))
    await works.wait_until("w", is_applied, patience=PATIENCE)
    await agent.observe("ConfigMap", "default", "settings", {"phase": "Ready", "text": "x" * 40})

    def has_phase(work: ManifestWork | None) -> bool:
        return work is not None and "phase" in work.status.manifests[0].feedback

    work = await works.wait_until("w", has_phase, patience=PATIENCE)

    assert work is not None
    assert set(work.status.manifests[0].feedback) == known


async def test_a_refusal_on_the_management_cluster_is_told_in_its_own_words(works: Works, agent: Agent) -> None:
    agent.script = Script(refuse='spec.platform: Unsupported value: "GCP"')
    await works.create(some_work("w"))

    work = await works.wait_until(
        "w", lambda each: each is not None and applied(each).state is not Application.NOT_YET, patience=PATIENCE
    )

    assert work is not None
    assert applied(work).state is Application.FAILED
    assert 'Unsupported value: "GCP"' in applied(work).message


async def test_the_first_status_after_an_update_is_not_believed(works: Works, agent: Agent) -> None:
    await works.create(some_work("w"))
    await works.wait_until("w", is_applied, patience=PATIENCE)
    agent.script = Script(stale_first=True, refuse="no")
    async with watching(works) as seen:
        await seen.until(was_told(Change.ADDED, "w"))
        await works.apply(some_work("w", labels={"a": "b"}))
        events = await seen.until(lambda told: any(applied(e.work).state is Application.FAILED for e in told))

    states = [applied(event.work).state for event in events if event.work.generation == 2]
    assert Application.APPLIED not in states


async def test_a_watch_begins_with_what_is_there_and_goes_on_with_what_changes(works: Works, agent: Agent) -> None:
    await works.create(some_work("old"))
    async with watching(works) as seen:
        await seen.until(was_told(Change.ADDED, "old"))
        await works.create(some_work("new"))
        await seen.until(was_told(Change.ADDED, "new"))
        await works.apply(some_work("new", labels={"a": "b"}))
        await seen.until(was_told(Change.MODIFIED, "new", generation=2))
        await works.delete("new")
        await seen.until(was_told(Change.DELETED, "new"))


async def test_a_watch_of_one_name_tells_nothing_else(works: Works, agent: Agent) -> None:
    async with watching(works, name="mine") as seen:
        await works.create(some_work("other"))
        await works.wait_until("other", is_applied, patience=PATIENCE)
        await works.create(some_work("mine"))
        events = await seen.until(was_told(Change.ADDED, "mine"))

    assert {event.work.name for event in events} == {"mine"}


async def test_a_work_that_is_no_longer_selected_is_told_as_gone(works: Works, agent: Agent) -> None:
    async with watching(works, selector="tier=gold") as seen:
        await works.create(some_work("w", labels={"tier": "gold"}))
        await seen.until(was_told(Change.ADDED, "w"))
        await works.apply(some_work("w", labels={"tier": "silver"}))
        await seen.until(was_told(Change.DELETED, "w"))


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(Script(duplicate=True), id="the same status twice"),
        pytest.param(Script(out_of_order=True), id="an older status after a newer one"),
        pytest.param(Script(text_versions=True), id="versions as text"),
    ],
)
async def test_a_strange_agent_does_not_confuse_the_watch(works: Works, agent: Agent, script: Script) -> None:
    agent.script = script
    async with watching(works) as seen:
        await works.create(some_work("w"))
        await seen.until(lambda told: any(is_applied(event.work) for event in told))
        await works.apply(some_work("w", labels={"a": "b"}))
        events = await seen.until(
            lambda told: any(is_applied(event.work) and event.work.generation == 2 for event in told)
        )

    ranks = [(event.work.generation, event.work.status.sequence_id) for event in events]
    assert ranks == sorted(set(ranks))


async def test_every_watcher_is_told_everything(works: Works, agent: Agent) -> None:
    async with watching(works) as one, watching(works) as two:
        await works.create(some_work("w"))
        for seen in (one, two):
            await seen.until(was_told(Change.ADDED, "w"))


async def test_a_watcher_that_does_not_look_holds_nobody_up(works: Works, agent: Agent) -> None:
    sleeper = works.watch()
    first = asyncio.ensure_future(anext(sleeper))
    async with watching(works) as awake:
        await works.create(some_work("w"))
        await awake.until(was_told(Change.ADDED, "w"))
        await first
        for generation in range(2, 32):
            await works.apply(some_work("w", labels={"round": str(generation)}))
        await awake.until(was_told(Change.MODIFIED, "w", generation=31))

    async with asyncio.timeout(PATIENCE):
        while (await anext(sleeper)).work.generation < 31:
            pass
    await sleeper.aclose()


async def test_a_stream_that_falls_silent_is_left_and_opened_again(maestro: Ground, works: Works, agent: Agent) -> None:
    async with Cutter(maestro.grpc_address) as cutter:
        settings = maestro.settings(
            grpc_server_address=cutter.address, source_id=works.settings.source_id, server_healthiness_timeout=4.0
        )
        async with MaestroClient(settings) as client, watching(client.works(works.consumer)) as seen:
            await works.create(some_work("before"))
            await seen.until(was_told(Change.ADDED, "before"))
            cutter.stall()
            await works.create(some_work("meanwhile"))
            await works.wait_until("meanwhile", is_applied, patience=PATIENCE)
            cutter.cut()
            cutter.mend()
            await seen.until(was_told(Change.ADDED, "meanwhile"))


async def test_what_happened_while_the_stream_was_away_is_told(maestro: Ground, works: Works, agent: Agent) -> None:
    async with Cutter(maestro.grpc_address) as cutter:
        settings = maestro.settings(grpc_server_address=cutter.address, source_id=works.settings.source_id)
        async with MaestroClient(settings) as client, watching(client.works(works.consumer)) as seen:
            for name in ("stays", "goes", "changes"):
                await works.create(some_work(name))
                await seen.until(was_told_applied(name))
            before = len(seen.events)
            cutter.cut()
            await works.delete("goes")
            await works.wait_gone("goes", patience=PATIENCE)
            await works.apply(some_work("changes", labels={"a": "b"}))
            await works.create(some_work("comes"))
            cutter.mend()
            await seen.until(was_told(Change.DELETED, "goes"))
            await seen.until(was_told(Change.MODIFIED, "changes", generation=2))
            await seen.until(was_told(Change.ADDED, "comes"))

    assert "stays" not in {event.work.name for event in seen.events[before:]}
    assert [event.change for event in seen.events].count(Change.DELETED) == 1


async def test_a_watch_survives_the_servers_death_and_loses_nothing(
    maestro: Ground, works: Works, agent: Agent
) -> None:
    async with Cutter(maestro.grpc_address) as cutter:
        settings = maestro.settings(grpc_server_address=cutter.address, source_id=works.settings.source_id)
        async with MaestroClient(settings) as client, watching(client.works(works.consumer)) as seen:
            for name in ("goes", "stays"):
                await works.create(some_work(name))
                await seen.until(was_told(Change.ADDED, name))
            await maestro.kill()
            cutter.cut()
            await maestro.start()
            await agent.connected.wait()
            async with MaestroClient(maestro.settings(source_id=works.settings.source_id)) as fresh:
                again = fresh.works(works.consumer)
                await again.delete("goes")
                await again.wait_gone("goes", patience=PATIENCE)
                cutter.mend()
                await seen.until(was_told(Change.DELETED, "goes"))
                await again.apply(some_work("stays", labels={"after": "restart"}))
                events = await seen.until(lambda told: any(is_applied(e.work) and e.work.generation == 2 for e in told))

    assert sum(event.change is Change.DELETED for event in events) == 1
    ranks = [(e.work.generation, e.work.status.sequence_id) for e in events if e.work.name == "stays"]
    assert ranks == sorted(set(ranks))


async def test_waiting_is_ended_by_its_patience_and_tells_the_last_words(works: Works) -> None:
    await works.create(some_work("w"))
    with pytest.raises(DeadlineExceeded, match="the agent last said: nothing"):
        await works.wait_until("w", is_applied, patience=0.5)


async def test_an_agent_that_was_offline_catches_up(maestro: Ground, works: Works) -> None:
    await works.create(some_work("w"))
    await works.apply(some_work("w", labels={"a": "b"}))
    async with Agent(maestro.broker_address, works.consumer) as agent:
        await works.wait_until("w", is_applied, patience=PATIENCE)
        await agent.go_offline()
        await works.apply(some_work("w", labels={"a": "c"}))
        await agent.come_online()
        work = await works.wait_until("w", is_applied, patience=PATIENCE)

    assert work is not None
    assert work.generation == 3
