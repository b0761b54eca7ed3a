"""Sentinel between the stand-in API and the embedded broker: what is announced when, with a clock of the test's own."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from lab.api import LabApi
from lab.api.rules.values import Resource
from lab.broker import LabBroker
from lab.sentinel import EmbeddedPublisher, LabSentinel, Sentinel
from lab.sentinel.decision import Reason
from shared.embedded_broker import Deliver, Subscribe, decode, encode
from shared.errors import ServerError, Unavailable

DEADLINE = 240.0
TOPIC = "hyperfleet-clusters"
ADAPTER = "controlplane"


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **time: float) -> None:
        self.now += timedelta(**time)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def api(clock: Clock) -> AsyncIterator[LabApi]:
    async with LabApi(clock=clock) as api:
        yield api


@pytest.fixture
async def broker() -> AsyncIterator[LabBroker]:
    async with LabBroker() as broker:
        yield broker


@pytest.fixture
def settings(api: LabApi) -> Sentinel:
    return Sentinel(api_url=api.url, topic=TOPIC)


@pytest.fixture
async def sentinel(settings: Sentinel, broker: LabBroker, clock: Clock) -> AsyncIterator[LabSentinel]:
    """One that polls when it is asked to."""
    publisher = EmbeddedPublisher(broker.address)
    async with LabSentinel(settings, publisher, clock=clock, polling=False) as sentinel:
        yield sentinel


async def put(api: LabApi, clock: Clock, resource: Resource, available: str) -> None:
    conditions = [{"type": kind, "status": available} for kind in ("Applied", "Available", "Health")]
    body = {"adapter": ADAPTER, "observed_generation": api.store.get(resource.id).generation, "conditions": conditions}
    async with httpx.AsyncClient(base_url=api.url, timeout=DEADLINE) as http:
        answer = await http.put(f"{resource.href}/statuses", json=body | {"observed_time": clock.now.isoformat()})
    assert answer.status_code == 201, answer.text


async def announced(sentinel: LabSentinel) -> int:
    return len(await sentinel.poll())


async def test_a_new_cluster_is_announced_after_the_debounce_and_then_at_every_poll(
    api: LabApi, sentinel: LabSentinel, clock: Clock
) -> None:
    cluster = api.add_cluster("demo")
    assert await announced(sentinel) == 0

    clock.advance(seconds=11)

    first, second = await sentinel.poll(), await sentinel.poll()
    assert [event.data["id"] for event in first + second] == [cluster.id, cluster.id]
    assert first[0].id != second[0].id
    assert sentinel.reasons == {Reason.DEBOUNCED: 2}


async def test_a_report_of_false_gives_quiet_for_the_debounce(api: LabApi, sentinel: LabSentinel, clock: Clock) -> None:
    cluster = api.add_cluster("demo")
    clock.advance(minutes=1)
    await put(api, clock, cluster, "False")
    assert await announced(sentinel) == 0

    clock.advance(seconds=11)

    assert await announced(sentinel) == 1


async def test_a_first_report_of_unknown_gives_no_quiet(api: LabApi, sentinel: LabSentinel, clock: Clock) -> None:
    cluster = api.add_cluster("demo")
    clock.advance(minutes=1)

    await put(api, clock, cluster, "Unknown")

    assert await announced(sentinel) == 1


async def test_a_report_of_true_gives_quiet_until_it_is_stale(api: LabApi, sentinel: LabSentinel, clock: Clock) -> None:
    cluster = api.add_cluster("demo")
    clock.advance(minutes=1)
    await put(api, clock, cluster, "True")
    clock.advance(minutes=30)
    assert await announced(sentinel) == 0

    clock.advance(seconds=1)

    assert await announced(sentinel) == 1
    assert sentinel.reasons == {Reason.STALE: 1}


async def test_a_change_and_a_deletion_are_announced_after_the_debounce(
    api: LabApi, sentinel: LabSentinel, clock: Clock
) -> None:
    cluster = api.add_cluster("demo")
    await put(api, clock, cluster, "True")
    api.store.delete(api.store.patch(api.store.get(cluster.id), {"a": 1}))
    assert await announced(sentinel) == 0

    clock.advance(seconds=11)

    [event] = await sentinel.poll()
    assert event.data["generation"] == 3


async def test_every_page_is_read(api: LabApi, sentinel: LabSentinel, clock: Clock) -> None:
    names = [f"cluster-{number}" for number in range(45)]
    identifiers = {api.add_cluster(name).id for name in names}
    clock.advance(minutes=1)

    assert {event.data["id"] for event in await sentinel.poll()} == identifiers
    pages = [seen.query["page"] for seen in api.journal.entries][-3:]
    assert pages == ["1", "2", "3"]


async def test_only_selected_resources_are_announced(
    api: LabApi, settings: Sentinel, broker: LabBroker, clock: Clock
) -> None:
    chosen = api.add_cluster("one", labels={"shard": "a", "env": "dev"})
    api.add_cluster("two", labels={"shard": "b", "env": "dev"})
    clock.advance(minutes=1)
    selecting = replace(settings, selector={"shard": "a", "env": "dev"})

    publisher = EmbeddedPublisher(broker.address)
    async with LabSentinel(selecting, publisher, clock=clock, polling=False) as sentinel:
        assert [event.data["id"] for event in await sentinel.poll()] == [chosen.id]


async def test_node_pools_are_announced_with_their_cluster(
    api: LabApi, settings: Sentinel, broker: LabBroker, clock: Clock
) -> None:
    cluster = api.add_cluster("demo")
    pool = api.add_nodepool(cluster.id, "workers")
    clock.advance(minutes=1)
    pools = replace(settings, resource_type="nodepools", topic="hyperfleet-nodepools", owner_references=True)

    publisher = EmbeddedPublisher(broker.address)
    async with LabSentinel(pools, publisher, clock=clock, polling=False) as sentinel:
        [event] = await sentinel.poll()

    assert event.type == "com.redhat.hyperfleet.nodepool.reconcile"
    assert event.data["id"] == pool.id
    assert event.data["owner_references"] == {"href": cluster.href, "id": cluster.id, "kind": "Cluster"}


@pytest.mark.parametrize("tracing", [True, False])
async def test_events_carry_a_trace_context_unless_it_is_off(
    api: LabApi, settings: Sentinel, broker: LabBroker, clock: Clock, *, tracing: bool
) -> None:
    api.add_cluster("demo")
    clock.advance(minutes=1)
    chosen = settings if tracing else replace(settings, tracing=False)

    publisher = EmbeddedPublisher(broker.address)
    async with LabSentinel(chosen, publisher, clock=clock, polling=False) as sentinel:
        [event] = await sentinel.poll()

    assert ("traceparent" in json.loads(event.body)) is tracing


async def test_the_broker_gets_the_event_as_it_is(
    api: LabApi, sentinel: LabSentinel, broker: LabBroker, clock: Clock
) -> None:
    api.add_cluster("demo")
    clock.advance(minutes=1)
    reader, writer = await asyncio.open_connection("127.0.0.1", broker.port)
    writer.write(encode(Subscribe(topic=TOPIC, subscription=ADAPTER, prefetch=0)))
    assert decode(await reader.readline()).kind == "subscribed"

    [event] = await sentinel.poll()

    delivery = decode(await reader.readline())
    assert isinstance(delivery, Deliver)
    assert delivery.body == event.body
    writer.close()


async def test_a_broker_that_was_away_gets_the_next_event(
    api: LabApi, sentinel: LabSentinel, broker: LabBroker, clock: Clock
) -> None:
    api.add_cluster("demo")
    clock.advance(minutes=1)
    broker.subscribe(TOPIC, ADAPTER)
    await sentinel.poll()
    await broker.kill()
    with pytest.raises(Unavailable):
        await sentinel.poll()
    with pytest.raises(Unavailable):
        await sentinel.poll()

    await broker.start()

    await sentinel.poll()
    assert broker.waiting(TOPIC, ADAPTER) == 2


async def test_an_api_that_fails_for_a_moment_is_asked_again(api: LabApi, sentinel: LabSentinel, clock: Clock) -> None:
    api.add_cluster("demo")
    clock.advance(minutes=1)
    api.faults.fail(503)

    assert await announced(sentinel) == 1


async def test_the_loop_polls_at_once_and_again_and_outlives_failures(
    api: LabApi, settings: Sentinel, broker: LabBroker, clock: Clock
) -> None:
    api.add_cluster("demo")
    clock.advance(minutes=1)
    fast = replace(settings, poll_interval=timedelta(milliseconds=1))
    broker.subscribe(TOPIC, ADAPTER)

    async with asyncio.timeout(DEADLINE), LabSentinel(fast, EmbeddedPublisher(broker.address), clock=clock) as sentinel:
        first = await sentinel.until_published()
        await sentinel.until_published(lambda event: event.id != first.id)
        await broker.kill()
        assert isinstance(await sentinel.until_failed(), Unavailable)
        await broker.start()
        known = {event.id for event in sentinel.events}
        await sentinel.until_published(lambda event: event.id not in known)


@pytest.mark.parametrize("missing", ["api", "broker"])
async def test_it_does_not_start_without_api_and_broker(
    api: LabApi, settings: Sentinel, broker: LabBroker, missing: str
) -> None:
    await (api if missing == "api" else broker).kill()

    with pytest.raises(Unavailable):
        async with LabSentinel(settings, EmbeddedPublisher(broker.address)):
            pass


async def test_an_api_that_is_broken_at_the_start_is_an_error(
    api: LabApi, settings: Sentinel, broker: LabBroker
) -> None:
    api.faults.fail(500)

    with pytest.raises(ServerError):
        async with LabSentinel(settings, EmbeddedPublisher(broker.address)):
            pass


async def test_the_command_announces_until_it_is_terminated(broker: LabBroker) -> None:
    broker.subscribe(TOPIC, ADAPTER)
    async with LabApi() as api:
        cluster = api.add_cluster("demo")
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "lab.sentinel.command", "--api", api.url, "--broker", broker.address,
            "--topic", TOPIC, "--poll-interval", "10ms", "--debounce", "0",
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        reader, writer = await asyncio.open_connection("127.0.0.1", broker.port)
        writer.write(encode(Subscribe(topic=TOPIC, subscription=ADAPTER, prefetch=1)))
        await reader.readline()
        async with asyncio.timeout(DEADLINE):
            delivery = decode(await reader.readline())
        process.terminate()
        assert await process.wait() == 0
        writer.close()

    assert isinstance(delivery, Deliver)
    assert json.loads(delivery.body)["data"]["id"] == cluster.id


async def test_the_command_says_what_it_cannot_reach() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "lab.sentinel.command", "--api", "http://127.0.0.1:1", "--broker", "127.0.0.1:1",
        "--topic", TOPIC, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, complaint = await process.communicate()

    assert process.returncode == 1
    assert complaint.decode().startswith("lab-sentinel: the HyperFleet API at http://127.0.0.1:1")


async def test_the_command_can_be_interrupted_while_the_api_is_silent() -> None:
    asked = asyncio.Event()

    async def keep_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()
        writer.close()

    async with await asyncio.start_server(keep_silent, "127.0.0.1", 0) as silent:
        api = "http://{}:{}".format(*silent.sockets[0].getsockname())
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "lab.sentinel.command", "--api", api, "--broker", "127.0.0.1:1", "--topic", TOPIC),
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(DEADLINE):
                await asked.wait()
                process.send_signal(signal.SIGINT)
                _, errors = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    assert (process.returncode, errors) == (130, b"")
