"""A Sentinel between an API and a broker: the lab's, between the lab's own or the real ones.

No real Sentinel can be built here. With `--servers=real` and its addresses in the environment (`tests.support.sentinels`),
a Sentinel that runs already takes the place of the lab's.
"""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from lab.api import LabApi
from lab.broker import LabBroker
from lab.sentinel import EmbeddedPublisher, LabSentinel, Publisher, Sentinel
from lab.sentinel.rabbitmq import RabbitPublisher
from tests.support.hyperfleet_api import REQUIRED_ADAPTERS, Api, unique
from tests.support.sentinels import (
    API,
    BROKER,
    CLUSTERS,
    DEBOUNCE,
    NODEPOOLS,
    SELECTOR,
    STALE,
    Watched,
    subscribed,
)


@pytest.fixture
async def addresses(servers: str, request: pytest.FixtureRequest) -> AsyncIterator[tuple[str, str]]:
    """Of the API and of the broker; a Sentinel runs between them."""
    if servers == "real" and API:
        yield API, BROKER
        return
    async with contextlib.AsyncExitStack() as lifetime:
        if servers == "real":
            api = request.getfixturevalue("real_hyperfleet_api").url
            broker = request.getfixturevalue("real_rabbitmq").url
        else:
            api = (await lifetime.enter_async_context(LabApi(required_adapters=REQUIRED_ADAPTERS))).url
            broker = (await lifetime.enter_async_context(LabBroker())).address
        clusters = Sentinel(
            api_url=api,
            topic=CLUSTERS,
            poll_interval=timedelta(milliseconds=100),
            debounce=DEBOUNCE,
            stale=STALE,
            page_size=2,
            selector=SELECTOR,
        )
        nodepools = replace(clusters, topic=NODEPOOLS, resource_type="nodepools", owner_references=True)
        for settings in (clusters, nodepools):
            await lifetime.enter_async_context(LabSentinel(settings, _publisher(broker)))
        yield api, broker


@pytest.fixture
async def watched(addresses: tuple[str, str]) -> AsyncIterator[Watched]:
    api, broker = addresses
    async with (
        httpx.AsyncClient(base_url=api, timeout=120) as http,
        subscribed(broker, CLUSTERS) as clusters,
        subscribed(broker, NODEPOOLS) as nodepools,
    ):
        client = Api(http)
        marker = await client.create_cluster(unique("marker"), labels=SELECTOR)
        watched = Watched(client, clusters, nodepools, marker)
        yield watched
        await watched.clear()


def _publisher(broker: str) -> Publisher:
    return RabbitPublisher(broker) if broker.startswith("amqp://") else EmbeddedPublisher(broker)
