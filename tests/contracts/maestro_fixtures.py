"""What every Maestro suite works with: a client, its works on a fresh consumer, and that consumer's agent."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import httpx
import pytest

from lab.maestro.agent import Agent
from shared import times
from shared.maestro import Change, MaestroClient, WorkEvent, Works
from shared.maestro.codec import Envelope, spec_request
from shared.maestro.credentials import rest_context
from shared.maestro.freshness import Application, applied
from shared.maestro.link import Link
from shared.manifestwork import ManifestWork
from tests.contracts.maestro_ground import Ground, unique


@pytest.fixture
async def client(maestro: Ground) -> AsyncIterator[MaestroClient]:
    async with MaestroClient(maestro.settings()) as connected:
        yield connected


@pytest.fixture
async def works(client: MaestroClient) -> Works:
    consumer = await client.consumers.create(unique("mgmt"))
    return client.works(consumer.name)


@pytest.fixture
async def agent(maestro: Ground, works: Works) -> AsyncIterator[Agent]:
    async with Agent(maestro.broker_address, works.consumer) as connected:
        yield connected


async def raw_bundle(maestro: Ground, uid: str) -> httpx.Response:
    context = rest_context(maestro.settings())
    async with httpx.AsyncClient(verify=context) as http:
        return await http.get(f"{maestro.rest_url}/api/maestro/v1/resource-bundles/{uid}")


def is_applied(work: ManifestWork | None) -> bool:
    return work is not None and applied(work).state is Application.APPLIED


def was_told(change: Change, name: str, *, generation: int | None = None) -> Callable[[list[WorkEvent]], bool]:
    def told(events: list[WorkEvent]) -> bool:
        return any(
            each.change is change
            and each.work.name == name
            and (generation is None or each.work.generation == generation)
            for each in events
        )

    return told


def was_told_applied(name: str) -> Callable[[list[WorkEvent]], bool]:
    return lambda events: any(event.work.name == name and is_applied(event.work) for event in events)


async def publish(maestro: Ground, works: Works, action: str, work: ManifestWork) -> None:
    """Send past the client's own checks, as a worse client would."""
    addressed = replace(work, consumer=works.consumer, uid=works.id_of(work.name))
    await send(maestro, spec_request(action, addressed, source=works.settings.source_id, at=times.now()))


async def send(maestro: Ground, envelope: Envelope) -> None:
    link = Link(maestro.settings())
    try:
        await link.publish(envelope, "send")
    finally:
        await link.close()
