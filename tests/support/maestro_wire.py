"""Maestro's protocol without our client: events, reports, streams and REST."""

import asyncio
import contextlib
import itertools
import json
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import grpc
import httpx
import pytest

from shared.maestro.wire.cloudevent_pb2 import CloudEvent, PublishRequest, SubscriptionRequest
from shared.maestro.wire.cloudevent_pb2_grpc import CloudEventServiceStub
from shared.maestro.wire.codec import DATA_TYPE, HEARTBEAT_TYPE, Envelope
from tests.support.maestro import TIMEOUT, MaestroServer, unique

SERVER = "maestro"
# Snowflake ids: the time is above bit 22, the node between 12 and 22.
MOMENT, NODE = 1 << 22, 1 << 12

Refused = tuple[str, str]
Json = Mapping[str, Any]


def config_map(name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, **more}


def condition(kind: str, status: str = "True", **more: Any) -> dict[str, Any]:
    known = {"reason": "Because", "message": "so it is", "lastTransitionTime": "2026-01-02T03:04:05Z"}
    return {"type": kind, "status": status, **known, **more}


class Listener:
    """One subscription: its headers, and its events in order with the heartbeats left out."""

    def __init__(self, call: Any) -> None:
        self._call = call

    async def headers(self) -> dict[str, Any]:
        async with asyncio.timeout(TIMEOUT):
            return dict(await self._call.initial_metadata())

    async def raw(self) -> CloudEvent:
        async with asyncio.timeout(TIMEOUT):
            event = await self._call.read()
        assert isinstance(event, CloudEvent), "the stream ended"
        return event

    async def next(self) -> Envelope:
        while (event := await self.raw()).type == HEARTBEAT_TYPE:
            pass
        return Envelope.from_proto(event)

    async def refusal(self) -> Refused:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await self.next()
        return caught.value.code().name, caught.value.details() or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """Its own consumer and source, and connections to all three ports."""

    consumer: str
    source: str
    sources: grpc.aio.Channel
    agents: grpc.aio.Channel
    http: httpx.AsyncClient
    sequence: Any = field(default_factory=lambda: itertools.count(MOMENT | NODE, MOMENT))

    def id_of(self, name: str) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.source}-{name}"))

    def event(
        self,
        name: str,
        action: str = "create_request",
        *,
        version: int = 0,
        data: Any = None,
        kind: str = "",
        metadata: Json | None = None,
    ) -> CloudEvent:
        """A request of our source. Whatever is to be wrong with it is made wrong by the test."""
        known = {"name": name, "namespace": self.consumer}
        return Envelope(
            id=str(uuid.uuid4()),
            source=self.source,
            type=kind or f"{DATA_TYPE}.spec.{action}",
            extensions={
                "clustername": self.consumer,
                "originalsource": "",
                "resourceid": self.id_of(name),
                "resourceversion": version,
                "metadata": json.dumps(known if metadata is None else metadata),
            },
            data=json.dumps({"manifests": [config_map("a")]} if data is None else data).encode(),
            content_type="application/json",
        ).to_proto()

    def status(self, name: str, *conditions: Json, version: int = 1, data: Any = None, **extensions: Any) -> CloudEvent:
        """An agent's report on a work, each later than the one before."""
        known: dict[str, Any] = {
            "clustername": self.consumer,
            "originalsource": SERVER,
            "resourceid": self.id_of(name),
            "resourceversion": version,
            "sequenceid": str(next(self.sequence)),
        }
        return Envelope(
            id=str(uuid.uuid4()),
            source=f"{self.consumer}-agent",
            type=f"{DATA_TYPE}.status.update_request",
            extensions=known | extensions,
            data=json.dumps({"conditions": conditions} if data is None else data).encode(),
            content_type="application/json",
        ).to_proto()

    async def publish(self, event: CloudEvent) -> None:
        await CloudEventServiceStub(self.sources).Publish(PublishRequest(event=event), timeout=TIMEOUT)

    async def report(self, event: CloudEvent) -> None:
        await CloudEventServiceStub(self.agents).Publish(PublishRequest(event=event), timeout=TIMEOUT)

    async def refusal(self, event: CloudEvent, *, by_agent: bool = False) -> Refused:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await (self.report if by_agent else self.publish)(event)
        return caught.value.code().name, caught.value.details() or ""

    async def bundle(self, name: str) -> dict[str, Any]:
        return await self.get(f"/resource-bundles/{self.id_of(name)}")

    async def get(self, path: str, **parameters: str) -> dict[str, Any]:
        answer = await self.http.get(path, params=parameters)
        assert answer.status_code == httpx.codes.OK, answer.text
        document: dict[str, Any] = answer.json()
        return document

    @contextlib.asynccontextmanager
    async def source_stream(self, source: str | None = None) -> AsyncIterator[Listener]:
        request = SubscriptionRequest(source=self.source if source is None else source, data_type=DATA_TYPE)
        async with _listening(self.sources, request) as listener:
            await listener.headers()
            yield listener

    @contextlib.asynccontextmanager
    async def agent_stream(self, data_type: str = DATA_TYPE) -> AsyncIterator[Listener]:
        request = SubscriptionRequest(cluster_name=self.consumer, data_type=data_type)
        async with _listening(self.agents, request) as listener:
            await listener.headers()
            yield listener

    async def subscription_refusal(self, request: SubscriptionRequest) -> Refused:
        async with _listening(self.agents, request) as listener:
            return await listener.refusal()


@contextlib.asynccontextmanager
async def _listening(channel: grpc.aio.Channel, request: SubscriptionRequest) -> AsyncIterator[Listener]:
    call = CloudEventServiceStub(channel).Subscribe(request)
    try:
        yield Listener(call)
    finally:
        call.cancel()


@contextlib.asynccontextmanager
async def connected(server: MaestroServer) -> AsyncIterator[Wire]:
    """Connections to all three ports, for a new consumer and source."""
    consumer = unique("wire")
    async with (
        grpc.aio.insecure_channel(server.grpc_address) as sources,
        grpc.aio.insecure_channel(server.broker_address) as agents,
        httpx.AsyncClient(base_url=f"{server.rest_url}/api/maestro/v1", timeout=TIMEOUT) as http,
    ):
        (await http.post("/consumers", json={"name": consumer})).raise_for_status()
        yield Wire(consumer=consumer, source=unique("source"), sources=sources, agents=agents, http=http)
