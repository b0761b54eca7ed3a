"""What agents receive, which of their reports are stored, and how sources get them."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from shared.maestro.wire.cloudevent_pb2 import CloudEvent, SubscriptionRequest
from shared.maestro.wire.codec import DATA_TYPE, HEARTBEAT_TYPE, Envelope
from tests.support.maestro_wire import MOMENT, NODE, Wire, condition, config_map

REJECTED = ("FAILED_PRECONDITION", "{}")
APPLIED = condition("Applied")
DELETED = condition("Deleted", reason="ManifestsDeleted")
LATER = 10**6 * MOMENT
AFTER = str(2 * LATER | NODE)


def spec_resync(wire: Wire, versions: Any, *, data_type: str = DATA_TYPE) -> CloudEvent:
    listed = [{"resourceID": key, "resourceVersion": version} for key, version in versions.items()]
    return _resync(wire, f"{data_type}.spec.resync_request", {"resourceVersions": listed})


def status_resync(wire: Wire, hashes: Any) -> CloudEvent:
    listed = [{"resourceID": key, "statusHash": digest} for key, digest in hashes.items()]
    return _resync(wire, f"{DATA_TYPE}.status.resync_request", {"statusHashes": listed})


def _resync(wire: Wire, kind: str, data: Any) -> CloudEvent:
    extensions = {"clustername": wire.consumer, "originalsource": ""}
    content = json.dumps(data).encode()
    return Envelope(id="1", source=wire.source, type=kind, extensions=extensions, data=content).to_proto()


def kind_of(event: Envelope) -> str:
    return event.type.removeprefix(f"{DATA_TYPE}.")


async def test_an_agent_receives_creation_and_update_with_the_servers_name_and_version(wire: Wire) -> None:
    data = {"manifests": [config_map("a")], "executer": {"subject": {"type": "X"}}, "unknown": {"kept": 1.0}}
    created = wire.event("w", data=data, metadata={"name": "w", "labels": {"a": "b"}})
    created.attributes["ce-flag"].ce_boolean = True
    created.attributes["ce-count"].ce_integer = 5
    created.attributes["ce-bytes"].ce_bytes = b"abc"
    async with wire.agent_stream() as agent:
        await wire.publish(created)
        creation = await agent.next()
        await wire.publish(wire.event("w", "update_request", version=1))
        update = await agent.next()

    at = (await wire.bundle("w"))["metadata"]["creationTimestamp"]
    assert (kind_of(creation), creation.source, creation.id) == ("spec.create_request", "maestro", created.id)
    assert creation.payload == data
    assert creation.json("metadata") == {"name": wire.id_of("w"), "labels": {"a": "b"}, "creationTimestamp": at}
    assert {name: creation.extensions[name] for name in ("flag", "count", "bytes")} == {
        "flag": True,
        "count": 5,
        "bytes": "YWJj",
    }
    assert creation.extensions["resourceversion"] == 1
    assert (kind_of(update), update.extensions["resourceversion"]) == ("spec.update_request", 2)
    assert update.text("clustername") == wire.consumer


async def test_an_agent_receives_a_deletion_with_its_date_and_all_data(wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    async with wire.agent_stream() as agent:
        await wire.publish(wire.event("w", "delete_request"))
        deletion = await agent.next()
        while kind_of(deletion) != "spec.delete_request":  # a creation without a subscriber may arrive late
            deletion = await agent.next()

    assert deletion.extensions["deletiontimestamp"].ToSeconds() > 0  # type: ignore[union-attr]
    assert deletion.payload == {"manifests": [config_map("a")]}
    assert "deletionTimestamp" in deletion.json("metadata")


async def test_agents_of_other_data_types_receive_nothing(wire: Wire) -> None:
    async with wire.agent_stream("a.b.c") as other, wire.agent_stream() as agent:
        await wire.publish(wire.event("w"))
        await agent.next()
        assert (await other.raw()).type == HEARTBEAT_TYPE


@pytest.mark.parametrize(
    ("request_", "details"),
    [
        (SubscriptionRequest(data_type=DATA_TYPE), "missing cluster name"),
        (SubscriptionRequest(cluster_name="c"), "invalid data type unsupported cloudevents data type format"),
        (SubscriptionRequest(cluster_name="c", data_type="a.b"), "invalid data type unsupported cloudevents data type format"),
    ],
)  # fmt: skip
async def test_an_agent_must_name_what_it_subscribes_to(
    wire: Wire, request_: SubscriptionRequest, details: str
) -> None:
    assert await wire.subscription_refusal(request_) == ("UNKNOWN", f"invalid subscription request: {details}")


async def test_an_agents_resync_brings_what_is_newer_what_is_deleting_and_a_goodbye_to_the_unknown(wire: Wire) -> None:
    for name in ("held", "older", "deleting", "unheld"):
        await wire.publish(wire.event(name))
    await wire.publish(wire.event("deleting", "delete_request"))
    await wire.publish(wire.event("older", "update_request"))
    held = {wire.id_of(name): 1 for name in ("held", "older", "deleting")}
    async with wire.agent_stream() as agent:
        await wire.report(spec_resync(wire, held | {"gone": 7}))
        answers: dict[str, Envelope] = {}
        while len(answers) < 4:
            event = await agent.next()
            if kind_of(event) == "spec.resync_response":
                answers[event.text("resourceid")] = event

    assert answers.keys() == {wire.id_of("older"), wire.id_of("deleting"), wire.id_of("unheld"), "gone"}
    assert {key for key, event in answers.items() if "deletiontimestamp" in event.extensions} == {
        *(wire.id_of("deleting"), "gone"),
    }
    assert (answers["gone"].source, answers["gone"].data) == ("source", None)
    older = answers[wire.id_of("older")]
    assert (older.source, older.extensions["resourceversion"]) == ("maestro", 2)
    assert older.json("metadata") == {"name": wire.id_of("older"), "namespace": wire.consumer}


async def test_an_agents_resync_must_be_readable(wire: Wire) -> None:
    doing = "failed to respond resync spec request: "
    unreadable = spec_resync(wire, {})
    unreadable.binary_data = b"[]"
    nameless = spec_resync(wire, {})
    del nameless.attributes["ce-clustername"]
    problem = "json: cannot unmarshal array into Go value of type payload.ResourceVersionList"

    refusals = {
        "unreadable": await wire.refusal(unreadable, by_agent=True),
        "nameless": await wire.refusal(nameless, by_agent=True),
        "of another type": await wire.refusal(spec_resync(wire, {}, data_type="a.b.c"), by_agent=True),
    }
    assert refusals == {
        "unreadable": ("FAILED_PRECONDITION", f"{doing}failed to unmarshal spec resync request payload [], {problem}"),
        "nameless": ("FAILED_PRECONDITION", f'{doing}"clustername" not found'),
        "of another type": ("FAILED_PRECONDITION", f"{doing}failed to find service for event type a.b.c"),
    }


async def test_a_source_hears_a_status_with_the_works_own_metadata_and_its_current_spec(wire: Wire) -> None:
    data = {"manifests": [config_map("a")], "executer": {"subject": {"type": "X"}}, "unknown": 1}
    await wire.publish(wire.event("w", data=data, metadata={"name": "w", "labels": {"a": "b"}}))
    feedback = {"values": [{"name": "s", "fieldValue": {"type": "JsonRaw", "jsonRaw": "{}", "unknown": 1}}]}
    reported = {
        "conditions": [condition("Applied", observedGeneration=1)],
        "resourceStatus": [{"resourceMeta": {"ordinal": 0, "kind": "K", "odd": 1}, "statusFeedback": feedback}],
    }
    report = wire.status("w", data=reported, statushash="h1", metadata='{"name":"of the agent"}')
    async with wire.source_stream() as source:
        await wire.report(report)
        heard = await source.next()

    stored = await wire.bundle("w")
    meta = {"ordinal": 0, "kind": "K"} | dict.fromkeys(("group", "version", "resource", "name", "namespace"), "")
    shown = {"name": "s", "fieldValue": {"type": "JsonRaw", "jsonRaw": "{}"}}
    status = [{"resourceMeta": meta, "statusFeedback": {"values": [shown]}, "conditions": None}]
    assert (heard.id, heard.type, heard.source) == (report.id, report.type, f"{wire.consumer}-agent")
    assert heard.json("metadata") == stored["metadata"]
    assert (heard.text("statushash"), heard.text("originalsource")) == ("h1", "maestro")
    assert heard.extensions["resourceversion"] == 1
    assert heard.payload == {
        "conditions": reported["conditions"],
        "resourceStatus": status,
        "manifestBundle": {
            "manifests": [config_map("a")],
            "executer": {"subject": {"type": "X"}},
        },
    }
    assert stored["status"] == {
        "ObservedVersion": 1,
        "SequenceID": report.attributes["ce-sequenceid"].ce_string,
        "conditions": reported["conditions"],
        "resourceStatus": status,
    }


async def test_a_version_that_an_agent_sent_as_text_stays_a_text(wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    async with wire.source_stream() as source:
        await wire.report(wire.status("w", APPLIED, resourceversion="1"))
        heard = await source.next()

    assert heard.extensions["resourceversion"] == "1"
    assert (await wire.bundle("w"))["status"]["ObservedVersion"] == 1


async def test_a_source_hears_only_of_its_own_works_and_each_subscriber_hears_all(wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    async with (
        wire.source_stream() as one,
        wire.source_stream() as two,
        wire.source_stream(f"{wire.source}x") as other,
        wire.source_stream("") as nameless,
    ):
        await wire.report(wire.status("w", APPLIED))
        assert (await one.next()).text("resourceid") == (await two.next()).text("resourceid") == wire.id_of("w")
        assert (await other.raw()).type == (await nameless.raw()).type == HEARTBEAT_TYPE


async def test_a_stream_has_a_subscription_id_and_heartbeats_without_anything(wire: Wire) -> None:
    async with wire.source_stream() as source:
        headers = await source.headers()
        heartbeat = await source.raw()

    assert str(uuid.UUID(headers["subscription-id"])) == headers["subscription-id"]
    assert (heartbeat.type, heartbeat.spec_version, heartbeat.source) == (HEARTBEAT_TYPE, "1.0", "")
    assert not heartbeat.attributes


async def test_nothing_is_repeated_to_later_subscribers(wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    async with wire.source_stream() as first:
        await wire.report(wire.status("w", APPLIED))
        await first.next()
    async with wire.source_stream() as second:
        assert (await second.raw()).type == HEARTBEAT_TYPE


@pytest.mark.parametrize(
    "stale",
    [
        pytest.param(lambda wire: wire.status("w", version=1), id="of the version before"),
        pytest.param(lambda wire: wire.status("w", version=3), id="of a version to come"),
        pytest.param(
            lambda wire: wire.status("w", version=2, sequenceid=str(5 * MOMENT | NODE)), id="of an earlier moment"
        ),
        pytest.param(lambda wire: wire.status("w", version=2, sequenceid=str(LATER | NODE)), id="of the same moment"),
        pytest.param(lambda wire: wire.status("unknown"), id="of an unknown work"),
    ],
)
async def test_a_stale_report_is_dropped_silently(wire: Wire, stale: Callable[[Wire], CloudEvent]) -> None:
    await wire.publish(wire.event("w"))
    await wire.publish(wire.event("w", "update_request"))
    await wire.report(wire.status("w", APPLIED, version=2, sequenceid=str(LATER | NODE)))
    before = await wire.bundle("w")

    await wire.report(stale(wire))

    assert await wire.bundle("w") == before


async def test_reports_of_one_moment_are_ordered_by_their_step(wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    await wire.report(wire.status("w", sequenceid=str(LATER | NODE | 1)))
    await wire.report(wire.status("w", APPLIED, sequenceid=str(LATER | NODE | 2)))

    assert (await wire.bundle("w"))["status"]["conditions"] == [APPLIED]


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda wire: wire.status("w", clustername="another"), id="consumer"),
        pytest.param(lambda wire: wire.status("w", originalsource="me"), id="addressee"),
        pytest.param(lambda wire: wire.status("w", sequenceid=str(2 * LATER | 2 * NODE)), id="node"),
        pytest.param(lambda wire: wire.status("w", sequenceid="abc"), id="sequence"),
        pytest.param(lambda wire: wire.status("w", data=[]), id="data"),
        pytest.param(lambda wire: wire.status("w", data={"conditions": "x"}), id="conditions"),
        pytest.param(lambda wire: wire.status("w", resourceversion="abc"), id="version"),
        pytest.param(
            lambda wire: wire.status("w", condition("Applied", message="\0"), sequenceid=AFTER), id="character"
        ),
    ],
)
async def test_a_wrong_report_is_refused_without_a_reason(wire: Wire, wrong: Callable[[Wire], CloudEvent]) -> None:
    await wire.publish(wire.event("w"))
    await wire.report(wire.status("w", APPLIED, sequenceid=str(LATER | NODE)))

    assert await wire.refusal(wrong(wire), by_agent=True) == REJECTED


@pytest.mark.parametrize("missing", ["clustername", "originalsource", "resourceid", "resourceversion", "sequenceid"])
async def test_a_report_without_a_required_value_is_refused_without_a_reason(wire: Wire, missing: str) -> None:
    await wire.publish(wire.event("w"))
    report = wire.status("w", APPLIED)
    del report.attributes[f"ce-{missing}"]

    assert await wire.refusal(report, by_agent=True) == REJECTED


@pytest.mark.parametrize(
    ("kind", "details"),
    [
        ("a.b", "failed to parse cloud event type a.b, unsupported cloudevents type format: a.b"),
        ("a.b.c.x.y", "failed to parse cloud event type a.b.c.x.y, unsupported subresource x"),
        ("a.b.c.status.update_request", "failed to find service for event type a.b.c"),
    ],
)
async def test_an_agents_event_of_an_unknown_type_is_an_invalid_argument(wire: Wire, kind: str, details: str) -> None:
    event = wire.status("w")
    event.type = kind

    assert await wire.refusal(event, by_agent=True) == ("INVALID_ARGUMENT", details)


async def test_the_action_of_an_agents_event_is_ignored(wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    odd = wire.status("w", APPLIED)
    odd.type = f"{DATA_TYPE}.spec.create_request"
    async with wire.source_stream() as source:
        await wire.report(odd)

        assert (await source.next()).type == odd.type


@pytest.mark.parametrize("asked", [True, False], ids=["asked for", "not asked for"])
async def test_deleted_removes_the_row_whatever_its_version_and_is_announced(*, wire: Wire, asked: bool) -> None:
    await wire.publish(wire.event("w"))
    if asked:
        await wire.publish(wire.event("w", "delete_request"))
    async with wire.source_stream() as source:
        await wire.report(wire.status("w", DELETED, version=77, sequenceid="1"))
        heard = await source.next()

    assert heard.payload["conditions"] == [DELETED]
    assert ("deletionTimestamp" in heard.json("metadata")) is asked
    assert (await wire.http.get(f"/resource-bundles/{wire.id_of('w')}")).status_code == 404
    await wire.publish(wire.event("w"))
    assert (await wire.bundle("w"))["version"] == 1


async def test_only_the_first_condition_of_a_type_counts(wire: Wire) -> None:
    await wire.publish(wire.event("w"))
    await wire.report(wire.status("w", condition("Deleted", "False"), DELETED))

    assert len((await wire.bundle("w"))["status"]["conditions"]) == 2


async def test_a_sources_resync_repeats_what_differs_and_everything_where_nothing_is_known(wire: Wire) -> None:
    await wire.publish(wire.event("silent"))
    known = {wire.id_of("same"): "hash of same", wire.id_of("changed"): "another", wire.id_of("silent"): "x"}
    async with wire.source_stream() as source:
        for name in ("same", "changed", "unlisted"):
            await wire.publish(wire.event(name))
            await wire.report(wire.status(name, APPLIED, statushash=f"hash of {name}"))
            await source.next()
        await wire.publish(status_resync(wire, known))
        assert (await source.next()).text("resourceid") == wire.id_of("changed")

        await wire.publish(status_resync(wire, {}))
        repeated = {(await source.next()).text("resourceid") for _ in range(3)}

    assert repeated == {wire.id_of(name) for name in ("same", "changed", "unlisted")}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "unexpected end of JSON input"),
        (b"[]", "json: cannot unmarshal array into Go value of type payload.ResourceStatusHashList"),
        (b'{"statusHashes":"x"}', "json: cannot unmarshal string into Go struct field ResourceStatusHashList.statusHashes of type []payload.ResourceStatusHash"),
    ],
)  # fmt: skip
async def test_a_sources_resync_must_be_readable(wire: Wire, content: bytes, problem: str) -> None:
    request = status_resync(wire, {})
    request.binary_data = content

    doing = "failed to respond resync status request: failed to decode status resync request: "
    details = f"{doing}failed to unmarshal status resync request payload {content.decode()}, {problem}"
    assert await wire.refusal(request) == ("UNKNOWN", details)


async def test_a_work_without_metadata_stays_without_and_shows_the_agents(wire: Wire) -> None:
    bare = wire.event("w")
    del bare.attributes["ce-metadata"]
    async with wire.agent_stream() as agent, wire.source_stream() as source:
        await wire.publish(bare)
        assert "metadata" not in (await agent.next()).extensions
        await wire.report(wire.status("w", APPLIED, metadata='{"name":"of the agent"}'))
        assert (await source.next()).json("metadata") == {"name": "of the agent"}

    assert (await wire.bundle("w"))["metadata"] == {}
