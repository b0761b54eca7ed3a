"""What the dispatcher relies on with every broker."""

import asyncio

import pytest

from dispatcher.brokers import consuming
from dispatcher.brokers.consuming import Consumer
from shared.errors import HyperFleetError
from tests.support.brokers import SOON, BrokerServer, Inbox


@pytest.fixture(autouse=True)
def _quick_reconnect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consuming, "FIRST_RECONNECT_SECONDS", 0.05)
    monkeypatch.setattr(consuming, "MAX_RECONNECT_SECONDS", 0.5)


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


def require_flow_control(server: BrokerServer) -> None:
    if not server.has_flow_control:
        pytest.skip("Google's fake server delivers everything to the first stream, whatever it asked for")


async def test_a_message_arrives_byte_by_byte(server: BrokerServer, inbox: Inbox) -> None:
    connection = await server.subscription().connect(inbox.deliver)
    body = b'{"text": "\xc3\xa4\\n"}\x00\xff'
    await server.publish(body)
    (message,) = await inbox.until(1)
    assert message.body == body
    await message.ack()
    await connection.close()


async def test_an_acknowledged_message_does_not_come_back_and_another_does(server: BrokerServer, inbox: Inbox) -> None:
    connection = await server.subscription().connect(inbox.deliver)
    await server.publish(b"first")
    await server.publish(b"second")
    for message in await inbox.until(2):
        if message.body == b"first":
            await message.ack()
    await connection.close()

    again = Inbox()
    connection = await server.subscription().connect(again.deliver)
    await server.publish(b"third")
    await again.until(2)
    assert sorted(again.bodies) == [b"second", b"third"]
    await connection.close()


async def test_a_message_that_is_given_back_is_delivered_again(server: BrokerServer, inbox: Inbox) -> None:
    connection = await server.subscription().connect(inbox.deliver)
    await server.publish(b"work")
    (message,) = await inbox.until(1)
    await message.give_back()
    _, again = await inbox.until(2)
    assert again.body == b"work"
    await again.ack()
    await connection.close()


async def test_no_more_messages_are_held_than_were_asked_for(server: BrokerServer, inbox: Inbox) -> None:
    require_flow_control(server)
    connection = await server.subscription(prefetch=2).connect(inbox.deliver)
    for number in range(4):
        await server.publish(str(number).encode())
    first, *_ = await inbox.until(2)
    assert len(inbox.messages) == 2
    await first.ack()
    await inbox.until(3)
    assert len(inbox.messages) == 3
    await connection.close()


async def test_consumers_of_one_subscription_compete(server: BrokerServer, inbox: Inbox) -> None:
    require_flow_control(server)
    other = Inbox()
    one = await server.subscription(prefetch=1).connect(inbox.deliver)
    two = await server.subscription(prefetch=1).connect(other.deliver)
    await server.publish(b"a")
    await server.publish(b"b")
    await inbox.until(1)
    await other.until(1)
    assert sorted(inbox.bodies + other.bodies) == [b"a", b"b"]
    await one.close()
    await two.close()


async def test_each_subscription_gets_its_own_copy(server: BrokerServer, inbox: Inbox) -> None:
    other = Inbox()
    one = await server.subscription("validation").connect(inbox.deliver)
    two = await server.subscription("dns").connect(other.deliver)
    await server.publish(b"for both")
    assert [message.body for message in await inbox.until(1)] == [b"for both"]
    assert [message.body for message in await other.until(1)] == [b"for both"]
    await one.close()
    await two.close()


async def test_a_stopped_consumer_gets_nothing_new_and_can_still_acknowledge(
    server: BrokerServer, inbox: Inbox
) -> None:
    connection = await server.subscription().connect(inbox.deliver)
    await server.publish(b"before")
    (message,) = await inbox.until(1)
    await connection.stop()
    await server.publish(b"after")
    await message.ack()

    successor = Inbox()
    second = await server.subscription().connect(successor.deliver)
    assert [each.body for each in await successor.until(1)] == [b"after"]
    await connection.close()
    await second.close()
    assert inbox.bodies == [b"before"]


async def test_a_connection_that_breaks_says_so(server: BrokerServer, inbox: Inbox) -> None:
    connection = await server.subscription().connect(inbox.deliver)
    await server.kill()
    with pytest.raises(HyperFleetError):
        async with asyncio.timeout(SOON):
            await connection.wait_lost()
    await connection.close()
    await server.start()


async def test_a_broker_that_is_away_is_refused_in_plain_terms(server: BrokerServer, inbox: Inbox) -> None:
    await server.kill()
    with pytest.raises(HyperFleetError):
        await server.subscription().connect(inbox.deliver)
    await server.start()


async def test_a_consumer_survives_the_broker_and_gets_what_was_not_acknowledged(
    server: BrokerServer, inbox: Inbox
) -> None:
    async with Consumer(server.subscription(lease=10), inbox.deliver) as consumer:
        running = asyncio.create_task(consumer.run())
        await _connected(consumer)
        await server.publish(b"held")
        (held,) = await inbox.until(1)
        await server.kill()
        await server.start()
        await inbox.until(2)
        assert inbox.bodies[1] == b"held"
        await held.ack()  # of a connection that is gone: nothing happens
        await inbox.messages[1].ack()
        await server.publish(b"new")
        await inbox.until(3)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_messages_settled_after_the_connection_broke_do_no_harm(server: BrokerServer, inbox: Inbox) -> None:
    connection = await server.subscription().connect(inbox.deliver)
    for body in (b"a", b"b"):
        await server.publish(body)
    first, second = await inbox.until(2)
    await connection.close()
    await first.ack()
    await second.give_back()


async def _connected(consumer: Consumer) -> None:
    async with asyncio.timeout(SOON):
        while not consumer.connected:  # noqa: ASYNC110 - a state of the broker, which has no event to await
            await asyncio.sleep(0.01)
