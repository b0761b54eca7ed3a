"""A Sentinel seen from outside, whichever it is: the API that it polls, and the topics that it publishes to.

A Sentinel that runs elsewhere is tried by its addresses: `CONTRACT_SENTINEL_API` is the HyperFleet API that it polls, with
the required adapters of `tests.support.hyperfleet_api`; `CONTRACT_SENTINEL_BROKER` is where it publishes, an amqp:// URL
or host:port of lab-broker. There is one Sentinel for clusters and one for node pools, with the topics, the selector
and the times below, and with owner references in the events of node pools.
"""

import asyncio
import contextlib
import json
import os
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import aio_pika
from aio_pika.abc import AbstractIncomingMessage

from dispatcher.brokers.embedded import EmbeddedSettings, EmbeddedSubscription
from dispatcher.brokers.port import Message
from tests.support.hyperfleet_api import Api, Document, unique

CLUSTERS, NODEPOOLS = "contract-clusters", "contract-nodepools"
SELECTOR = {"contract": "sentinel"}
DEBOUNCE, STALE = timedelta(seconds=1), timedelta(seconds=4)

API = os.environ.get("CONTRACT_SENTINEL_API", "").rstrip("/")
BROKER = os.environ.get("CONTRACT_SENTINEL_BROKER", "")

# Generous, because the machine may be slow; nothing waits this long unless it is broken.
DEADLINE = 240.0


@dataclass(frozen=True, slots=True)
class Announcement:
    """An event as it came over the wire."""

    body: bytes

    @property
    def event(self) -> Document:
        event: Document = json.loads(self.body)
        return event

    @property
    def data(self) -> Document:
        data: Document = self.event["data"]
        return data

    @property
    def published(self) -> datetime:
        """The end of the millisecond in which it was made: its id is a UUID of version 7."""
        milliseconds = (uuid.UUID(self.event["id"]).int >> 80) + 1
        return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=milliseconds)


@dataclass(slots=True)
class Topic:
    """What a topic got since it was subscribed to, in order."""

    announcements: list[Announcement] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, body: bytes) -> None:
        self.announcements.append(Announcement(body))
        self._news.set()

    def positions(self, resource: Mapping[str, Any], since: int = 0) -> list[int]:
        """Where this resource is announced, from a position on."""
        later = enumerate(self.announcements[since:], since)
        return [position for position, each in later if each.data["id"] == resource["id"]]

    async def until_announced(self, resource: Mapping[str, Any], count: int = 1, *, since: int = 0) -> list[int]:
        """Wait until it is announced so many times."""
        try:
            async with asyncio.timeout(DEADLINE):
                while len(positions := self.positions(resource, since)) < count:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            seen = [each.body.decode() for each in self.announcements[since:]]
            raise AssertionError(f"waited for {count} events of {resource['id']}, got {seen[-10:]}") from None
        return positions[:count]

    async def next_of(self, resource: Mapping[str, Any], count: int = 1, *, since: int = 0) -> list[Announcement]:
        return [self.announcements[each] for each in await self.until_announced(resource, count, since=since)]


@dataclass(slots=True)
class Watched:
    """The API that the Sentinel polls, and what it publishes. `marker` is never reported, so each turn announces it."""

    api: Api
    clusters: Topic
    nodepools: Topic
    marker: Document
    _created: list[Document] = field(default_factory=list)

    async def create_cluster(self, labels: Mapping[str, str] = SELECTOR) -> Document:
        self._created.append(await self.api.create_cluster(unique("watched"), labels=labels))
        return self._created[-1]

    async def create_nodepool(self, cluster: Document) -> Document:
        self._created.append(await self.api.create_nodepool(cluster, labels=SELECTOR))
        return self._created[-1]

    async def next_turn(self) -> int:
        """A position in `clusters`: events from there on were decided after this call.

        The turn that runs now may have read before; the one that announces the marker after the next has not.
        """
        first, last = await self.clusters.until_announced(self.marker, 2, since=len(self.clusters.announcements))
        assert first < last
        return last

    async def clear(self) -> None:
        """Remove what the test created: a resource that nobody reports is announced for ever."""
        for resource in [*reversed(self._created), self.marker]:
            if not await self.api.is_gone(resource):
                deleted = await self.api.delete(resource)
                await self.api.finalise(resource, deleted["generation"])


@contextlib.asynccontextmanager
async def subscribed(broker: str, name: str) -> AsyncIterator[Topic]:
    """A topic of the broker at this address, from now on; the subscription goes with it."""
    topic = Topic()
    if broker.startswith(("amqp://", "amqps://")):
        async with await aio_pika.connect(broker) as connection:
            channel = await connection.channel()
            exchange = await channel.declare_exchange(name, "topic", durable=True)
            queue = await channel.declare_queue(exclusive=True)
            await queue.bind(exchange, routing_key="")

            async def take(message: AbstractIncomingMessage) -> None:
                topic.take(message.body)

            await queue.consume(take, no_ack=True)
            yield topic
        return
    acknowledging = set[asyncio.Task[None]]()

    def deliver(message: Message) -> None:
        topic.take(message.body)
        acknowledging.add(asyncio.ensure_future(message.ack()))

    settings = EmbeddedSettings(address=broker, topic=name, subscription=unique("contract"))
    consumer = await EmbeddedSubscription(settings).connect(deliver)
    yield topic
    await asyncio.gather(*acknowledging)
    await consumer.close()
