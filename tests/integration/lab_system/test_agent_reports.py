"""How the simulated work agent reports many works at once to a Maestro that is slow to answer."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf.empty_pb2 import Empty

from lab.loopback import HOST
from lab.maestro.agent import Agent
from lab.maestro.agent.agent_status import Held
from lab.maestro.agent.work_agent import REPORTS_AT_ONCE
from shared import times
from shared.maestro.wire.cloudevent_pb2 import CloudEvent, PublishRequest, SubscriptionRequest
from shared.maestro.wire.cloudevent_pb2_grpc import CloudEventServiceServicer, add_CloudEventServiceServicer_to_server
from shared.maestro.wire.codec import DATA_TYPE, Envelope, timestamp

WORKS = 40
TIMEOUT = 120.0


class SlowMaestro(CloudEventServiceServicer):
    """Answers a report once it `may_answer`, and loses as many as are `lost`.

    `reports` has the phase of every report, or its first condition, in the order of arrival; `events` go to the agent.
    """

    def __init__(self) -> None:
        self.lost = 0
        self.events: asyncio.Queue[CloudEvent] = asyncio.Queue()
        self.may_answer = asyncio.Event()
        self.arrived = asyncio.Condition()
        self.reports: list[tuple[str, str]] = []
        self.at_once = self.most_at_once = 0

    async def Subscribe(  # type: ignore[override]  # noqa: N802 - the protocol's name
        self, _request: SubscriptionRequest, context: Any
    ) -> None:
        await context.send_initial_metadata(())
        while True:
            await context.write(await self.events.get())

    async def Publish(self, request: PublishRequest, context: Any) -> Empty:  # noqa: N802 - the protocol's name
        if request.event.type.endswith("resync_request"):
            return Empty()
        if self.lost:
            self.lost -= 1
            await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "too slow")
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        async with self.arrived:
            envelope = Envelope.from_proto(request.event)
            self.reports.append((envelope.text("resourceid"), _phase(envelope)))
            self.arrived.notify_all()
        await self.may_answer.wait()
        self.at_once -= 1
        return Empty()

    async def until(self, *wanted: tuple[str, str]) -> None:
        async with asyncio.timeout(TIMEOUT), self.arrived:
            await self.arrived.wait_for(lambda: set(wanted) <= set(self.reports))


def _phase(report: Envelope) -> str:
    if not report.payload["resourceStatus"]:
        return str(report.payload["conditions"][-1]["type"])
    feedback = report.payload["resourceStatus"][0]["statusFeedback"]
    return str(feedback["values"][0]["fieldValue"]["string"])


@pytest.fixture
async def maestro() -> SlowMaestro:
    return SlowMaestro()


@pytest.fixture
async def agent(maestro: SlowMaestro) -> AsyncIterator[Agent]:
    server = grpc.aio.server()
    add_CloudEventServiceServicer_to_server(maestro, server)
    port = server.add_insecure_port(f"{HOST}:0")
    await server.start()
    try:
        async with Agent(f"{HOST}:{port}", "mc") as agent:
            agent.held.update({each.uid: each for each in map(_work, range(WORKS))})
            yield agent
    finally:
        await server.stop(None)


def _work(number: int) -> Held:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "ns", "name": f"c{number}"}}
    config = {
        "resourceIdentifier": {"resource": "configmaps", "namespace": "ns", "name": f"c{number}"},
        "feedbackRules": [{"type": "JSONPaths", "jsonPaths": [{"name": "phase", "path": ".status.phase"}]}],
    }
    bundle = {"manifests": [manifest], "manifestConfigs": [config]}
    return Held(uid=f"work-{number}", version=1, metadata={}, bundle=bundle)


async def test_few_reports_wait_in_the_server_however_many_works_change_at_once(
    maestro: SlowMaestro, agent: Agent
) -> None:
    maestro.may_answer.set()
    for number in range(WORKS):
        agent.change("ConfigMap", "ns", f"c{number}", {"phase": "Ready"})
    await maestro.until(*((f"work-{number}", "Ready") for number in range(WORKS)))

    assert maestro.most_at_once <= REPORTS_AT_ONCE


async def test_changes_that_come_while_a_report_is_on_its_way_become_one_report(
    maestro: SlowMaestro, agent: Agent
) -> None:
    agent.change("ConfigMap", "ns", "c0", {"phase": "Pending"})
    await maestro.until(("work-0", "Pending"))
    for phase in ("Starting", "Running", "Ready"):
        agent.change("ConfigMap", "ns", "c0", {"phase": phase})
    maestro.may_answer.set()
    await maestro.until(("work-0", "Ready"))

    assert maestro.reports == [("work-0", "Pending"), ("work-0", "Ready")]


async def test_an_observation_is_reported_when_it_returns(maestro: SlowMaestro, agent: Agent) -> None:
    maestro.may_answer.set()
    async with asyncio.timeout(TIMEOUT):
        await agent.observe("ConfigMap", "ns", "c0", {"phase": "Ready"})

    assert maestro.reports == [("work-0", "Ready")]


async def test_a_deletion_whose_reports_are_lost_is_reported_again(maestro: SlowMaestro, agent: Agent) -> None:
    maestro.may_answer.set()
    maestro.lost = 2
    deletion = Envelope(
        id="1",
        source="maestro",
        type=f"{DATA_TYPE}.spec.delete_request",
        extensions={"resourceid": "work-0", "resourceversion": 1, "deletiontimestamp": timestamp(times.now())},
    )
    maestro.events.put_nowait(deletion.to_proto())
    await maestro.until(("work-0", "Deleted"))

    assert maestro.reports == [("work-0", "Deleting"), ("work-0", "Deleted")]
