"""What is particular to Pub/Sub: leases, and creating what is missing."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import pytest

from dispatcher.brokers import pubsub_leases
from dispatcher.brokers.pubsub import PubSubSettings, PubSubSubscription
from dispatcher.brokers.pubsub_setup import PubSubSetup, create_missing, subscription_of, topic_of
from shared.errors import NotFound
from tests.support.brokers import SOON, Inbox, small_pubsub_settings
from tests.support.pubsub_server import PubSubServer

TOPIC = "projects/p/topics/t"
PATH = "projects/p/subscriptions/s"


@pytest.fixture
async def server() -> AsyncIterator[PubSubServer]:
    async with PubSubServer() as server:
        yield server


def settings(server: PubSubServer) -> PubSubSettings:
    return small_pubsub_settings(server, "s")


async def test_a_lease_is_extended_for_as_long_as_its_run_lasts(
    server: PubSubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pubsub_leases, "EXTENSIONS_PER_DEADLINE", 3000)
    server.subscribe(TOPIC, PATH)
    inbox = Inbox()
    connection = await PubSubSubscription(settings(server)).connect(inbox.deliver)
    await server.publish(TOPIC, b"long work")
    (message,) = await inbox.until(1)
    ((_, before),) = server.subscriptions[PATH].leases.values()
    extensions = len(server.extended)
    async with asyncio.timeout(SOON):
        while len(server.extended) < extensions + 3:
            async with server.news:
                await server.news.wait()
    ((_, end),) = server.subscriptions[PATH].leases.values()
    assert end > before
    assert len(inbox.messages) == 1
    await message.ack()
    await connection.close()
    assert not server.subscriptions[PATH].leases
    assert not server.subscriptions[PATH].waiting


async def test_a_closed_connection_frees_its_messages_at_once(server: PubSubServer) -> None:
    server.subscribe(TOPIC, PATH)
    first, second = Inbox(), Inbox()
    connection = await PubSubSubscription(settings(server)).connect(first.deliver)
    await server.publish(TOPIC, b"work")
    await first.until(1)
    await connection.close()
    assert all(ends <= asyncio.get_running_loop().time() for _, ends in server.subscriptions[PATH].leases.values())
    other = await PubSubSubscription(settings(server)).connect(second.deliver)
    await second.until(1)
    await other.close()


async def test_what_comes_while_the_deliveries_are_stopped_goes_to_another_consumer(server: PubSubServer) -> None:
    server.subscribe(TOPIC, PATH)
    first, second = Inbox(), Inbox()
    connection = await PubSubSubscription(settings(server)).connect(first.deliver)
    stopping = asyncio.create_task(connection.stop())
    await asyncio.sleep(0)  # it has begun, and Pub/Sub does not know yet
    await server.publish(TOPIC, b"work")
    await stopping
    other = await PubSubSubscription(settings(server)).connect(second.deliver)
    await second.until(1)
    assert first.messages == []
    await other.close()
    await connection.close()


async def test_a_missing_subscription_is_named_with_what_to_do(server: PubSubServer) -> None:
    with pytest.raises(NotFound, match="create_subscription_if_missing") as refused:
        await PubSubSubscription(settings(server)).connect(Inbox().deliver)
    assert PATH in str(refused.value)


async def test_what_is_missing_is_created_where_the_configuration_asks_for_it(server: PubSubServer) -> None:
    setup = PubSubSetup(
        project="p",
        topic="t",
        subscription="s",
        create_topic=True,
        create_subscription=True,
        call_timeout_seconds=SOON,
    )
    for _ in range(2):  # the second time all is there
        prepared = PubSubSubscription(settings(server), prepare=partial(create_missing, setup))
        connection = await prepared.connect(Inbox().deliver)
        await connection.close()
    assert set(server.topics) == {TOPIC, "projects/p/topics/s-dlq"}
    assert server.created[PATH].topic == TOPIC


async def test_topics_are_created_with_the_names_and_times_of_the_configuration(server: PubSubServer) -> None:
    setup = PubSubSetup(
        project="p",
        topic="t",
        subscription="s",
        create_topic=True,
        create_subscription=True,
        topic_retention=1200,
        dead_letter_topic="graveyard",
        call_timeout_seconds=SOON,
    )
    connection = await PubSubSubscription(settings(server), prepare=partial(create_missing, setup)).connect(
        Inbox().deliver
    )
    await connection.close()
    assert set(server.topics) == {TOPIC, "projects/p/topics/graveyard"}
    assert server.created[PATH].dead_letter_policy.dead_letter_topic == "projects/p/topics/graveyard"
    wire = type(topic_of(setup)).to_dict(topic_of(setup))
    assert (wire["name"], wire["message_retention_duration"]) == (TOPIC, "1200s")


def test_a_subscription_is_created_as_the_go_library_does() -> None:
    plain = subscription_of(PubSubSetup(project="p", topic="t", subscription="s"))
    assert plain.dead_letter_policy.dead_letter_topic == "projects/p/topics/s-dlq"
    assert plain.dead_letter_policy.max_delivery_attempts == 5
    assert "expiration_policy" not in plain
    assert "retry_policy" not in plain

    full = subscription_of(
        PubSubSetup(
            project="p",
            topic="t",
            subscription="s",
            ack_deadline_seconds=30,
            message_retention=600,
            expiration=0,
            ordered=True,
            retry_min_backoff=1.5,
            retry_max_backoff=60,
            dead_letter_attempts=9,
        )
    )
    assert full.ack_deadline_seconds == 30
    wire = type(full).to_dict(full)
    assert wire["message_retention_duration"] == "600s"
    assert "ttl" not in full.expiration_policy  # never
    assert full.enable_message_ordering
    assert wire["retry_policy"]["minimum_backoff"] == "1.500s"
    assert full.dead_letter_policy.max_delivery_attempts == 9
