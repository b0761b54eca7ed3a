"""A small Pub/Sub in the test's own process: topics, subscriptions with leases, streaming pull with flow control.

Only what the dispatcher calls. Google's own fake server is in `tests/e2e/brokers`.
"""

import asyncio
import itertools
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Self

import grpc
from google.protobuf.empty_pb2 import Empty
from google.pubsub_v1 import types

from lab.loopback import HOST, ReservedPort

_SUBSCRIBER = "google.pubsub.v1.Subscriber"
_PUBLISHER = "google.pubsub.v1.Publisher"


@dataclass(eq=False)
class _Stream:
    limit: int
    held: dict[str, bytes] = field(default_factory=dict)
    closed: bool = False

    @property
    def takes_more(self) -> bool:
        return not self.closed and (not self.limit or len(self.held) < self.limit)


@dataclass(eq=False)
class _Subscription:
    """`leases` are the messages held, by ack id, with the instant their lease ends."""

    waiting: deque[bytes] = field(default_factory=deque)
    leases: dict[str, tuple[bytes, float]] = field(default_factory=dict)
    streams: list[_Stream] = field(default_factory=list)


class PubSubServer:
    """Messages outlive `kill`, and so do leases until they end: a lost stream does not free its messages."""

    def __init__(self) -> None:
        self.subscriptions: dict[str, _Subscription] = {}
        self.created: dict[str, types.Subscription] = {}
        self.topics: dict[str, set[str]] = {}
        self.extended: list[str] = []
        self._ids = itertools.count()
        self._server: grpc.aio.Server | None = None
        self.news = asyncio.Condition()

    async def __aenter__(self) -> Self:
        self._port = ReservedPort()
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()
        self._port.release()

    async def start(self) -> None:
        self._server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        self._server.add_generic_rpc_handlers((self._subscriber_handlers(), self._publisher_handlers()))
        self._server.add_insecure_port(self.address)
        await self._server.start()

    async def kill(self) -> None:
        if self._server is not None:
            await self._server.stop(grace=None)
            self._server = None

    @property
    def address(self) -> str:
        return f"{HOST}:{self._port.number}"

    def subscribe(self, topic: str, path: str) -> None:
        self.subscriptions.setdefault(path, _Subscription())
        self.topics.setdefault(topic, set()).add(path)

    async def publish(self, topic: str, body: bytes) -> None:
        for path in self.topics.get(topic, ()):
            self.subscriptions[path].waiting.append(body)
        await self._changed()

    async def _changed(self) -> None:
        async with self.news:
            self.news.notify_all()

    def _subscriber_handlers(self) -> grpc.GenericRpcHandler:
        return grpc.method_handlers_generic_handler(
            _SUBSCRIBER,
            {
                "StreamingPull": grpc.stream_stream_rpc_method_handler(
                    self._streaming_pull,
                    request_deserializer=types.StreamingPullRequest.deserialize,
                    response_serializer=types.StreamingPullResponse.serialize,
                ),
                "Acknowledge": _unary(self._acknowledge, types.AcknowledgeRequest, Empty),
                "ModifyAckDeadline": _unary(self._modify_ack_deadline, types.ModifyAckDeadlineRequest, Empty),
                "CreateSubscription": _unary(self._create_subscription, types.Subscription, types.Subscription),
            },
        )

    def _publisher_handlers(self) -> grpc.GenericRpcHandler:
        return grpc.method_handlers_generic_handler(
            _PUBLISHER, {"CreateTopic": _unary(self._create_topic, types.Topic, types.Topic)}
        )

    async def _streaming_pull(
        self, requests: AsyncIterator[types.StreamingPullRequest], context: "grpc.aio.ServicerContext[Any, Any]"
    ) -> AsyncIterator[types.StreamingPullResponse]:
        first = await anext(requests)
        subscription = self.subscriptions.get(first.subscription)
        if subscription is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"Resource not found (resource={first.subscription}).")
        await context.send_initial_metadata(())
        stream = _Stream(first.max_outstanding_messages)
        subscription.streams.append(stream)
        until_closed = asyncio.create_task(self._close_after(requests, stream))
        try:
            while not stream.closed:
                self._expire(subscription)
                while subscription.waiting and stream.takes_more:
                    yield self._lease(subscription, stream, first.stream_ack_deadline_seconds)
                await self._wait_for_news(subscription, stream)
        finally:
            until_closed.cancel()
            stream.closed = True
            subscription.streams.remove(stream)

    async def _close_after(self, requests: AsyncIterator[types.StreamingPullRequest], stream: _Stream) -> None:
        async for _ in requests:
            pass
        stream.closed = True
        await self._changed()

    def _lease(self, subscription: _Subscription, stream: _Stream, seconds: int) -> types.StreamingPullResponse:
        body, ack_id = subscription.waiting.popleft(), f"ack-{next(self._ids)}"
        subscription.leases[ack_id] = (body, asyncio.get_running_loop().time() + seconds)
        stream.held[ack_id] = body
        received = types.ReceivedMessage(ack_id=ack_id, message=types.PubsubMessage(data=body))
        return types.StreamingPullResponse(received_messages=[received])

    def _expire(self, subscription: _Subscription) -> None:
        now = asyncio.get_running_loop().time()
        for ack_id, (body, ends) in list(subscription.leases.items()):
            if ends <= now:
                self._end(subscription, ack_id)
                subscription.waiting.append(body)

    def _end(self, subscription: _Subscription, ack_id: str) -> None:
        subscription.leases.pop(ack_id, None)
        for stream in subscription.streams:
            stream.held.pop(ack_id, None)

    async def _wait_for_news(self, subscription: _Subscription, stream: _Stream) -> None:
        ends = min((ends for _, ends in subscription.leases.values()), default=None)
        try:
            async with asyncio.timeout_at(ends), self.news:
                if not stream.closed:
                    await self.news.wait()
        except TimeoutError:
            return

    async def _acknowledge(self, request: types.AcknowledgeRequest, _context: object) -> Empty:
        for ack_id in request.ack_ids:
            self._end(self.subscriptions[request.subscription], ack_id)
        await self._changed()
        return Empty()

    async def _modify_ack_deadline(self, request: types.ModifyAckDeadlineRequest, _context: object) -> Empty:
        subscription = self.subscriptions[request.subscription]
        for ack_id in request.ack_ids:
            if ack_id in subscription.leases:
                ends = asyncio.get_running_loop().time() + request.ack_deadline_seconds
                subscription.leases[ack_id] = (subscription.leases[ack_id][0], ends)
                self.extended += [ack_id] if request.ack_deadline_seconds else []
        await self._changed()
        return Empty()

    async def _create_subscription(
        self, request: types.Subscription, context: "grpc.aio.ServicerContext[Any, Any]"
    ) -> types.Subscription:
        if request.name in self.subscriptions:
            await context.abort(grpc.StatusCode.ALREADY_EXISTS, "Resource already exists in the project.")
        if request.topic not in self.topics:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"Resource not found (resource={request.topic}).")
        self.created[request.name] = request
        self.subscribe(request.topic, request.name)
        return request

    async def _create_topic(self, request: types.Topic, context: "grpc.aio.ServicerContext[Any, Any]") -> types.Topic:
        if request.name in self.topics:
            await context.abort(grpc.StatusCode.ALREADY_EXISTS, "Resource already exists in the project.")
        self.topics[request.name] = set()
        return request


def _unary(handler: Any, request: Any, response: Any) -> "grpc.RpcMethodHandler[Any, Any]":
    serialize = response.SerializeToString if response is Empty else response.serialize
    return grpc.unary_unary_rpc_method_handler(
        handler, request_deserializer=request.deserialize, response_serializer=serialize
    )
