"""The real RabbitMQ as our tests use it: what is durable survives a crash, and nothing of it stays behind."""

import time
from pathlib import Path

import aio_pika

from lab.real.servers.processes import accepts
from lab.real.servers.rabbitmq import RealRabbitMq

# Erlang's helpers end once they notice that the server has.
SETTLED_SECONDS = 60.0


async def test_a_crash_keeps_the_port_durable_queues_and_persistent_messages(real_rabbitmq: RealRabbitMq) -> None:
    async with await aio_pika.connect(real_rabbitmq.url) as connection:
        channel = await connection.channel(publisher_confirms=True)
        await channel.declare_queue("kept", durable=True)
        message = aio_pika.Message(b"event", delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
        await channel.default_exchange.publish(message, "kept")

    real_rabbitmq.kill()
    real_rabbitmq.start()

    async with await aio_pika.connect(real_rabbitmq.url) as connection:
        channel = await connection.channel()
        queue = await channel.declare_queue("kept", passive=True)
        received = await queue.get()
        assert received is not None
        assert received.body == b"event"
        await received.ack()


async def test_settings_are_those_of_rabbitmq_conf(tmp_path: Path) -> None:
    server = RealRabbitMq(tmp_path, settings={"default_user": "somebody", "default_pass": "secret"})
    server.start()
    try:
        async with await aio_pika.connect(server.url.replace("guest:guest", "somebody:secret")) as connection:
            assert not connection.is_closed
    finally:
        server.stop()

    assert not accepts(server.port)


async def test_nothing_of_a_stopped_server_is_left(tmp_path: Path) -> None:
    server = RealRabbitMq(tmp_path)
    server.start()
    assert {"beam.smp", "epmd"} <= set(_processes_of(tmp_path))

    server.stop()

    deadline = time.monotonic() + SETTLED_SECONDS
    while (left := _processes_of(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.1)  # noqa: ASYNC251 - nothing else runs here
    assert left == []


def _processes_of(folder: Path) -> list[str]:
    """Commands of processes that work for a server in this folder, by their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (process / "environ").read_bytes():
                found.append((process / "comm").read_text().strip())
        except OSError:
            continue  # it ended meanwhile, or is another user's
    return found
