"""A broker with queues and one with leases: the lab's and a small Pub/Sub, or RabbitMQ and Google's fake Pub/Sub."""

from collections.abc import AsyncIterator

import pytest

from tests.support.brokers import BrokerServer, embedded, google_pubsub, rabbitmq, small_pubsub


@pytest.fixture(params=["queues", "leases"])
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def server(servers: str, family: str, request: pytest.FixtureRequest) -> AsyncIterator[BrokerServer]:
    match servers, family:
        case "standin", "queues":
            running = embedded()
        case "standin", _:
            running = small_pubsub()
        case _, "queues":
            running = rabbitmq(request.getfixturevalue("real_rabbitmq"))
        case _:
            running = google_pubsub(request.getfixturevalue("real_pubsub"))
    async with running as broker:
        yield broker
