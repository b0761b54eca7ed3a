"""The client with a failing Maestro: lost responses, hung calls, cut connections, invalid events and old servers."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import grpc
import pytest

from lab.maestro import Faults, LabMaestro
from lab.maestro.agent import Agent
from shared.errors import (
    AlreadyExists,
    Conflict,
    DeadlineExceeded,
    Forbidden,
    Misconfigured,
    ServerError,
    TooLarge,
    Unavailable,
)
from shared.maestro import Action, Change, MaestroClient, MaestroSettings, Works
from shared.maestro.wire.cloudevent_pb2 import CloudEvent
from shared.maestro.wire.codec import DATA_TYPE, Envelope
from shared.maestro.works import waiting
from tests.support.maestro import some_work, watching
from tests.support.maestro_works import is_applied, reported

CONSUMER = "mgmt"


@pytest.fixture
async def server() -> AsyncIterator[LabMaestro]:
    async with LabMaestro(heartbeat_seconds=0.2) as running:
        yield running


@pytest.fixture
def faults(server: LabMaestro) -> Faults:
    return server.faults


def settings_for(server: LabMaestro, **overrides: Any) -> MaestroSettings:
    values: dict[str, Any] = {"timeout": 60.0, "server_healthiness_timeout": 2.0, "retry_attempts": 3} | overrides
    return MaestroSettings(
        grpc_server_address=server.grpc_address,
        http_server_address=server.rest_url,
        source_id="adapter",
        insecure=True,
        **values,
    )


@pytest.fixture
async def works(server: LabMaestro) -> AsyncIterator[Works]:
    async with MaestroClient(settings_for(server)) as client:
        await client.consumers.create(CONSUMER)
        yield client.works(CONSUMER)


@pytest.fixture
async def once(server: LabMaestro, works: Works) -> AsyncIterator[Works]:
    """The same works through a client that tries everything once."""
    async with MaestroClient(settings_for(server, retry_attempts=1)) as client:
        yield client.works(CONSUMER)


@pytest.fixture
async def impatient(server: LabMaestro, works: Works) -> AsyncIterator[Works]:
    """Of a client that waits for a second."""
    async with MaestroClient(settings_for(server, retry_attempts=1, timeout=1.0)) as client:
        yield client.works(CONSUMER)


async def test_a_create_whose_answer_was_lost_is_known_again(works: Works, faults: Faults) -> None:
    faults.lose_publish_answer()

    created = await works.create(some_work("w"))

    assert created.generation == 1
    assert (await works.get("w")).generation == 1


async def test_an_update_whose_answer_was_lost_is_known_again(works: Works, faults: Faults) -> None:
    await works.create(some_work("w"))
    read = await works.get("w")
    faults.lose_publish_answer()

    outcome = await works.apply(replace(read, labels={"a": "b"}))

    assert outcome.action is Action.UPDATED
    assert (await works.get("w")).generation == 2


async def test_somebody_elses_create_is_not_taken_for_ours_after_a_lost_answer(works: Works, faults: Faults) -> None:
    faults.fail_publish(grpc.StatusCode.UNAVAILABLE, "connection reset")
    faults.fail_publish(grpc.StatusCode.UNKNOWN, "failed to create resource: maestro-6: This Resource already exists")

    with pytest.raises(AlreadyExists):
        await works.create(some_work("w"))


@pytest.mark.parametrize("trouble", [1, 2], ids=["once", "twice"])
async def test_a_passing_trouble_is_not_noticed(works: Works, faults: Faults, trouble: int) -> None:
    faults.fail_publish(grpc.StatusCode.UNAVAILABLE, "connection refused", times=trouble)
    await works.create(some_work("w"))
    faults.fail_rest(503, times=trouble)
    assert (await works.get("w")).name == "w"


@pytest.mark.parametrize(
    ("code", "details", "error"),
    [
        (grpc.StatusCode.UNAVAILABLE, "connection refused", Unavailable),
        (
            grpc.StatusCode.UNKNOWN,
            "failed to create resource: maestro-9: Unable to create Resource: bad connection",
            ServerError,
        ),
        (grpc.StatusCode.UNKNOWN, "failed to create resource: maestro-26: advisory lock", ServerError),
        (grpc.StatusCode.UNKNOWN, "something nobody has seen before", ServerError),
        (grpc.StatusCode.INTERNAL, "stream terminated by RST_STREAM", ServerError),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "grpc: received message larger than max (5 vs. 4)", TooLarge),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "too many streams", Unavailable),
        (grpc.StatusCode.PERMISSION_DENIED, "RBAC: access denied", Forbidden),
        (grpc.StatusCode.UNIMPLEMENTED, "unknown service", Misconfigured),
    ],
    ids=lambda value: getattr(value, "name", None) or getattr(value, "__name__", None),
)
async def test_each_failure_of_a_write_has_its_name(
    once: Works, faults: Faults, code: grpc.StatusCode, details: str, error: type[Exception]
) -> None:
    faults.fail_publish(code, details)
    with pytest.raises(error):
        await once.create(some_work("w"))


async def test_a_write_that_hangs_ends_with_its_deadline(impatient: Works, faults: Faults) -> None:
    faults.hang_publish()
    with pytest.raises(DeadlineExceeded):
        await impatient.create(some_work("w"))


async def test_a_read_that_hangs_ends_with_its_deadline(impatient: Works, faults: Faults) -> None:
    faults.hang_rest()
    with pytest.raises(DeadlineExceeded, match="no answer in 1 s"):
        await impatient.get("w")


async def test_a_read_whose_connection_is_cut_is_unavailable(once: Works, faults: Faults) -> None:
    faults.cut_rest()
    with pytest.raises(Unavailable):
        await once.get("w")


async def test_a_busy_server_says_when_to_come_back(once: Works, faults: Faults) -> None:
    faults.fail_rest(429, headers={"Retry-After": "7"})
    with pytest.raises(Unavailable) as caught:
        await once.get("w")
    assert caught.value.retry_after == 7


async def test_something_that_is_not_maestro_is_recognised(once: Works, faults: Faults) -> None:
    faults.fail_rest(404, body={"error": "no such page"})
    with pytest.raises(Misconfigured, match="http_server_address"):
        await once.get("w")


async def test_a_writer_that_is_always_overtaken_gets_a_conflict(works: Works, faults: Faults) -> None:
    await works.create(some_work("w"))
    faults.conflict_before_publish(times=100)

    with pytest.raises(Conflict) as caught:
        await works.apply(some_work("w", labels={"a": "b"}))

    assert caught.value.latest_version is not None


async def test_a_writer_that_is_overtaken_once_gets_through(works: Works, faults: Faults) -> None:
    await works.create(some_work("w"))
    faults.conflict_before_publish()

    outcome = await works.apply(some_work("w", labels={"a": "b"}))

    assert outcome.action is Action.UPDATED
    assert (await works.get("w")).labels == {"a": "b"}


@pytest.mark.parametrize("harm", ["cut_streams", "mute_heartbeats"])
async def test_a_watch_comes_back_after(server: LabMaestro, works: Works, harm: str) -> None:
    async with Agent(server.broker_address, CONSUMER), watching(works) as seen:
        await works.create(some_work("before"))
        await seen.until(reported(Change.ADDED, "before"))
        getattr(server.faults, harm)()
        await works.create(some_work("after"))
        await seen.until(reported(Change.ADDED, "after"))


async def test_a_watch_works_with_a_server_that_sends_no_headers(server: LabMaestro, works: Works) -> None:
    server.faults.withhold_stream_headers()
    async with Agent(server.broker_address, CONSUMER), watching(works) as seen:
        await works.create(some_work("w"))
        await seen.until(lambda events: any(is_applied(event.work) for event in events))


STRANGE_EVENTS = {
    "without anything": CloudEvent(id="1", spec_version="1.0", type=f"{DATA_TYPE}.status.update_request"),
    "without a sequence": Envelope(
        id="2",
        source="x",
        type=f"{DATA_TYPE}.status.update_request",
        extensions={"resourceid": "u", "resourceversion": 1},
    ).to_proto(),
    "with a version that is no number": Envelope(
        id="3",
        source="x",
        type=f"{DATA_TYPE}.status.update_request",
        extensions={"resourceid": "u", "resourceversion": "one", "sequenceid": "1"},
    ).to_proto(),
    "with metadata that is no JSON": Envelope(
        id="4",
        source="x",
        type=f"{DATA_TYPE}.status.update_request",
        extensions={"resourceid": "u", "resourceversion": 1, "sequenceid": "1", "metadata": "{"},
    ).to_proto(),
    "with a payload of the wrong kind": Envelope(
        id="5",
        source="x",
        type=f"{DATA_TYPE}.status.update_request",
        extensions={"resourceid": "u", "resourceversion": 1, "sequenceid": "1"},
        data=b'{"conditions": 7, "resourceStatus": {"a": 1}, "manifestBundle": []}',
    ).to_proto(),
}


@pytest.mark.parametrize("event", STRANGE_EVENTS.values(), ids=STRANGE_EVENTS.keys())
async def test_a_strange_event_does_not_end_the_watch(server: LabMaestro, works: Works, event: CloudEvent) -> None:
    async with Agent(server.broker_address, CONSUMER), watching(works) as seen:
        await works.create(some_work("before"))
        await seen.until(reported(Change.ADDED, "before"))
        server.faults.send_on_streams(event)
        await works.create(some_work("after"))
        await seen.until(reported(Change.ADDED, "after"))


async def test_a_list_that_fails_during_a_watch_is_tried_again(
    server: LabMaestro, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "READ_AGAIN_SECONDS", 0.1)
    await works.create(some_work("w"))
    server.faults.fail_rest(500, times=7)
    async with watching(works) as seen:
        await seen.until(reported(Change.ADDED, "w"))


async def test_nothing_is_left_behind_when_the_client_closes_during_a_watch(server: LabMaestro) -> None:
    async with MaestroClient(settings_for(server)) as client:
        await client.consumers.create(CONSUMER)
        works = client.works(CONSUMER)
        await works.create(some_work("w"))
        events = works.watch()
        assert (await anext(events)).work.name == "w"
        await events.aclose()
