"""The embedded broker over TCP: what its protocol promises, with clients that vanish and a broker that crashes."""

import asyncio
import json
import sys

import pytest

from lab.broker import LabBroker
from shared.embedded_broker import Ack, Cancel, Cancelled, Nack, Publish, Published, Refused, Subscribe, decode, encode
from tests.integration.lab_broker.clients import DEADLINE, Connect

TOPIC, NAME = "hyperfleet-clusters", "controlplane"


def _publish(body: bytes) -> Publish:
    return Publish(number=9, topic=TOPIC, body=body)


async def test_every_subscription_of_a_topic_gets_its_copy(connect: Connect) -> None:
    one, other, publisher = await connect(), await connect(), await connect()
    await one.subscribe(TOPIC, "controlplane")
    await other.subscribe(TOPIC, "dns")

    await publisher.publish(TOPIC, b"event")

    assert (await one.delivered()).body == (await other.delivered()).body == b"event"


async def test_a_message_reaches_one_of_the_competing_consumers(connect: Connect, broker: LabBroker) -> None:
    one, other = await connect(), await connect()
    await one.subscribe(TOPIC, NAME, prefetch=1)
    await other.subscribe(TOPIC, NAME, prefetch=1)

    broker.publish(TOPIC, b"1")
    broker.publish(TOPIC, b"2")

    assert {(await one.delivered()).body, (await other.delivered()).body} == {b"1", b"2"}


async def test_what_is_published_before_the_subscription_exists_is_not_in_it(connect: Connect) -> None:
    client = await connect()
    await client.publish(TOPIC, b"early")
    await client.subscribe(TOPIC, NAME)

    client.send(_publish(b"late"))

    assert (await client.delivered()).body == b"late"
    assert await client.receive(Published) == Published(number=9)


async def test_a_subscription_keeps_messages_while_no_consumer_is_there(connect: Connect, broker: LabBroker) -> None:
    broker.subscribe(TOPIC, NAME)
    broker.publish(TOPIC, b"event")

    client = await connect()
    await client.subscribe(TOPIC, NAME)

    assert (await client.delivered()).body == b"event"


async def test_messages_of_a_client_that_vanished_are_redelivered(connect: Connect, broker: LabBroker) -> None:
    lost = await connect()
    await lost.subscribe(TOPIC, NAME)
    broker.publish(TOPIC, b"event")
    await lost.delivered()
    lost.abort()

    heir = await connect()
    await heir.subscribe(TOPIC, NAME)

    delivery = await heir.delivered()
    assert (delivery.body, delivery.redelivered) == (b"event", True)


async def test_an_acknowledged_message_is_gone(connect: Connect, broker: LabBroker) -> None:
    client = await connect()
    await client.subscribe(TOPIC, NAME)
    broker.publish(TOPIC, b"event")
    client.send(Ack(tag=(await client.delivered()).tag))

    async with asyncio.timeout(DEADLINE):
        await broker.until_consumed(TOPIC, NAME)
    assert (broker.waiting(TOPIC, NAME), broker.unacknowledged(TOPIC, NAME)) == (0, 0)


async def test_a_nacked_message_comes_again(connect: Connect, broker: LabBroker) -> None:
    client = await connect()
    await client.subscribe(TOPIC, NAME, prefetch=1)
    broker.publish(TOPIC, b"event")
    client.send(Nack(tag=(await client.delivered()).tag, requeue=True))

    assert (await client.delivered()).redelivered


async def test_after_cancel_nothing_is_delivered_and_acknowledgements_still_count(
    connect: Connect, broker: LabBroker
) -> None:
    client = await connect()
    await client.subscribe(TOPIC, NAME)
    broker.publish(TOPIC, b"1")
    delivery = await client.delivered()
    client.send(Cancel())
    await client.receive(Cancelled)

    broker.publish(TOPIC, b"2")
    client.send(Ack(tag=delivery.tag))
    client.send(_publish(b"3"))

    assert await client.receive(Published) == Published(number=9)
    assert (broker.waiting(TOPIC, NAME), broker.unacknowledged(TOPIC, NAME)) == (2, 0)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(b"hello\n", "it is not JSON", id="no frame"),
        pytest.param(encode(Ack(tag=1)), "this connection has no subscription", id="an ack before subscribing"),
        pytest.param(encode(Published(number=1)), "'published' is a frame of the broker", id="a frame of the broker"),
        pytest.param(b"x" * (3 * 1024 * 1024), "longer than a frame", id="an endless line"),
    ],
)
async def test_a_client_that_breaks_the_protocol_is_refused_with_the_reason(
    connect: Connect, line: bytes, reason: str
) -> None:
    client = await connect()
    client.send_line(line)

    assert reason in (await client.receive(Refused)).reason


async def test_an_unknown_tag_or_a_second_subscription_is_refused(connect: Connect) -> None:
    for wrong in (Ack(tag=5), Subscribe(topic=TOPIC, subscription="other", prefetch=0)):
        client = await connect()
        await client.subscribe(TOPIC, NAME)
        client.send(wrong)
        await client.receive(Refused)
        await client.ended()


async def test_a_crash_breaks_connections_and_keeps_port_subscriptions_and_messages(
    connect: Connect, broker: LabBroker
) -> None:
    client = await connect()
    await client.subscribe(TOPIC, NAME, prefetch=1)
    broker.publish(TOPIC, b"held")
    broker.publish(TOPIC, b"waiting")
    await client.delivered()

    await broker.kill()
    await client.ended()
    with pytest.raises(OSError, match="Connect call failed"):
        await connect()
    await broker.start()

    client = await connect()
    await client.subscribe(TOPIC, NAME)
    first, second = await client.delivered(), await client.delivered()
    assert [(first.body, first.redelivered), (second.body, second.redelivered)] == [
        (b"held", True),
        (b"waiting", False),
    ]


async def test_the_command_serves_until_it_is_terminated() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "lab.broker.command", "--output", "json", "--subscription", f"{TOPIC}/{NAME}",
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        async with asyncio.timeout(DEADLINE):
            address = json.loads(await process.stdout.readline())["broker"]
        reader, writer = await asyncio.open_connection(*address.split(":"))
        for frame in (_publish(b"event"), Subscribe(topic=TOPIC, subscription=NAME, prefetch=0)):
            writer.write(encode(frame))
        kinds = [decode(await reader.readline()).kind for _ in range(3)]
        writer.close()
    finally:
        process.terminate()

    assert kinds == ["published", "subscribed", "deliver"]
    assert await process.wait() == 0


async def test_the_command_names_the_port_it_cannot_have(broker: LabBroker) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "lab.broker.command", "--port", str(broker.port), stderr=asyncio.subprocess.PIPE
    )
    _, complaint = await process.communicate()

    assert process.returncode == 1
    assert f"port {broker.port} on 127.0.0.1 is not available" in complaint.decode()
