"""Works in contract tests: what was reported of them, and requests that bypass our client's checks."""

from collections.abc import Callable
from dataclasses import replace

import httpx

from shared import times
from shared.maestro import ApplyState, Change, WorkEvent, Works, apply_result
from shared.maestro.config.credentials import rest_context
from shared.maestro.grpc.channel import GrpcChannel
from shared.maestro.wire.codec import Envelope, spec_request
from shared.model.manifestwork import ManifestWork
from tests.support.maestro import TIMEOUT, MaestroServer


async def raw_bundle(server: MaestroServer, uid: str) -> httpx.Response:
    context = rest_context(server.settings())
    async with httpx.AsyncClient(verify=context, timeout=TIMEOUT) as http:
        return await http.get(f"{server.rest_url}/api/maestro/v1/resource-bundles/{uid}")


def is_applied(work: ManifestWork | None) -> bool:
    return work is not None and apply_result(work).state is ApplyState.APPLIED


def reported(change: Change, name: str, *, generation: int | None = None) -> Callable[[list[WorkEvent]], bool]:
    def reached(events: list[WorkEvent]) -> bool:
        return any(
            each.change is change
            and each.work.name == name
            and (generation is None or each.work.generation == generation)
            for each in events
        )

    return reached


def reported_applied(name: str) -> Callable[[list[WorkEvent]], bool]:
    return lambda events: any(event.work.name == name and is_applied(event.work) for event in events)


async def publish(server: MaestroServer, works: Works, action: str, work: ManifestWork) -> None:
    """Send past the client's own checks, as a worse client would."""
    addressed = replace(work, consumer=works.consumer, uid=works.id_of(work.name))
    await send(server, spec_request(action, addressed, source=works.settings.source_id, at=times.now()))


async def send(server: MaestroServer, envelope: Envelope) -> None:
    link = GrpcChannel(server.settings())
    try:
        await link.publish(envelope, "send")
    finally:
        await link.close()
