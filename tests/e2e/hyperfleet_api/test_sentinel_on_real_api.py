"""The lab's Sentinel on the real API: its lists are read page by page, and its rules hold for the real conditions."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from lab.broker import LabBroker
from lab.real.servers.hyperfleet_api import RealHyperFleetApi
from lab.sentinel import EmbeddedPublisher, LabSentinel, Sentinel
from lab.sentinel.decision import Reason
from shared import times
from tests.support.hyperfleet_api import Api, conditions, unique


@pytest.fixture
def shard() -> str:
    """A label of this test's own resources: the API holds others."""
    return unique("shard")


@pytest.fixture
async def sentinel(real_hyperfleet_api: RealHyperFleetApi, shard: str) -> AsyncIterator[LabSentinel]:
    """One that polls when it is asked to, a minute ahead, so that the debounce has passed."""
    settings = Sentinel(api_url=real_hyperfleet_api.url, topic="clusters", page_size=2, selector={"shard": shard})
    async with (
        LabBroker() as broker,
        LabSentinel(
            settings,
            EmbeddedPublisher(broker.address),
            clock=lambda: times.now() + timedelta(minutes=1),
            polling=False,
        ) as sentinel,
    ):
        yield sentinel


async def test_every_cluster_that_is_not_reconciled_is_announced(api: Api, sentinel: LabSentinel, shard: str) -> None:
    clusters = [await api.create_cluster(labels={"shard": shard}) for _ in range(5)]
    await api.reconcile(clusters[0])
    await api.accept(clusters[1], conditions=conditions("False"))

    events = await sentinel.poll()

    assert {event.data["id"] for event in events} == {cluster["id"] for cluster in clusters[1:]}
    assert sentinel.reasons == {Reason.DEBOUNCED: 4}


async def test_a_deletion_is_announced_with_its_generation(api: Api, sentinel: LabSentinel, shard: str) -> None:
    cluster = await api.create_cluster(labels={"shard": shard})
    await api.reconcile(cluster)
    assert await sentinel.poll() == []

    await api.delete(cluster)

    [event] = await sentinel.poll()
    assert event.data == {"generation": 2, "href": cluster["href"], "id": cluster["id"], "kind": "Cluster"}
