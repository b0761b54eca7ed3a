"""Google Pub/Sub by a streaming pull. `PUBSUB_EMULATOR_HOST` is honoured.

The stream only brings messages; leases are ended and extended by calls of their own, which go on working after the
stream was stopped. Pub/Sub itself ends every stream after half an hour or so; that is an ordinary reconnection.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import google.auth
import grpc
from google.api_core import exceptions as refusals
from google.pubsub_v1 import SubscriberAsyncClient
from google.pubsub_v1.services.subscriber.transports import SubscriberGrpcAsyncIOTransport
from google.pubsub_v1.types import ReceivedMessage, StreamingPullRequest

from dispatcher.brokers.port import Deliver
from dispatcher.brokers.pubsub_leases import Leases
from shared.errors import Forbidden, NotFound, Unauthenticated, Unavailable

SERVICE = "pubsub.googleapis.com:443"
SCOPES = ("https://www.googleapis.com/auth/pubsub",)
DEFAULT_ACK_DEADLINE_SECONDS = 60
# Pub/Sub may send no headers before the first message; a refusal comes at once.
HEADER_GRACE_SECONDS = 1.0
CALL_TIMEOUT_SECONDS = 10.0
# Less than a consumer gives to stopping and to closing.
STOP_SECONDS = 4.0
_CHANNEL_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.max_receive_message_length", -1),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PubSubSettings:
    """`emulator` is host:port of an emulator, "" for Google's own service."""

    project: str
    subscription: str
    emulator: str = ""
    ack_deadline_seconds: int = DEFAULT_ACK_DEADLINE_SECONDS
    max_outstanding_messages: int = 128
    max_outstanding_bytes: int = 0
    header_grace_seconds: float = HEADER_GRACE_SECONDS
    call_timeout_seconds: float = CALL_TIMEOUT_SECONDS
    stop_timeout_seconds: float = STOP_SECONDS

    @property
    def path(self) -> str:
        return f"projects/{self.project}/subscriptions/{self.subscription}"


class PubSubSubscription:
    """`prepare` creates what is missing, before each connection."""

    def __init__(
        self, settings: PubSubSettings, *, prepare: Callable[[grpc.aio.Channel], Awaitable[None]] | None = None
    ) -> None:
        self._settings = settings
        self._prepare = prepare

    @property
    def description(self) -> str:
        where = f" of the emulator at {self._settings.emulator}" if self._settings.emulator else ""
        return f"Pub/Sub {self._settings.path}{where}"

    async def connect(self, deliver: Deliver) -> "PubSubConnection":
        channel = await open_channel(self._settings.emulator)
        connection = PubSubConnection(self._settings, channel, deliver)
        try:
            if self._prepare is not None:
                await self._prepare(channel)
            await connection.start()
        except BaseException:
            await connection.close()
            raise
        return connection


class PubSubConnection:
    def __init__(self, settings: PubSubSettings, channel: grpc.aio.Channel, deliver: Deliver) -> None:
        self._settings = settings
        self._channel = channel
        self._deliver = deliver
        self._client = SubscriberAsyncClient(transport=SubscriberGrpcAsyncIOTransport(channel=channel))
        self._leases = Leases(_Calls(self._client, settings), deadline=settings.ack_deadline_seconds)
        self._tasks: list[asyncio.Task[None]] = []
        self._stream: Any = None
        self._stopping = asyncio.Event()

    async def start(self) -> None:
        with translated(self._settings.path):
            self._stream = await self._client.streaming_pull(requests=self._requests(), retry=None, timeout=None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.header_grace_seconds):
                await asyncio.shield(asyncio.ensure_future(self._stream.initial_metadata()))
        self._tasks = [
            asyncio.create_task(self._read(), name="pubsub-stream"),
            asyncio.create_task(self._leases.run(), name="pubsub-leases"),
        ]
        if self._stream.done():
            await self.wait_lost()

    async def wait_lost(self) -> None:
        """Without its leases a stream would only deliver what it delivered before."""
        ended, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        if any(task.cancelled() for task in ended):
            raise Unavailable("the stream was stopped")
        with translated(self._settings.path):
            for task in ended:
                task.result()

    async def stop(self) -> None:
        """End the requests, and give back what comes until Pub/Sub ends the stream.

        A message sent into a stream that we cancelled would wait for the end of its lease.
        """
        is_first_call = not self._stopping.is_set()
        self._stopping.set()
        if self._tasks and is_first_call:
            limit = self._settings.stop_timeout_seconds
            await asyncio.wait(self._tasks, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        if self._stream is not None:
            self._stream.cancel()

    async def close(self) -> None:
        await self.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._leases.give_all_back()
        await self._leases.flush()
        await self._channel.close()

    async def _requests(self) -> AsyncIterator[StreamingPullRequest]:
        settings = self._settings
        yield StreamingPullRequest(
            subscription=settings.path,
            stream_ack_deadline_seconds=settings.ack_deadline_seconds,
            max_outstanding_messages=settings.max_outstanding_messages,
            max_outstanding_bytes=settings.max_outstanding_bytes,
        )
        await self._stopping.wait()  # the stream lasts as long as its requests

    async def _read(self) -> None:
        async for response in self._stream:
            for received in response.received_messages:
                self._leases.take(received.ack_id)
                if self._stopping.is_set():
                    self._leases.give_back(received.ack_id)
                else:
                    self._deliver(PubSubMessage(received, self._leases))
        raise Unavailable("Pub/Sub ended the stream")


class PubSubMessage:
    def __init__(self, received: ReceivedMessage, leases: Leases) -> None:
        self.body: bytes = received.message.data
        self._ack_id = received.ack_id
        self._leases = leases

    async def ack(self) -> None:
        self._leases.ack(self._ack_id)

    async def give_back(self) -> None:
        self._leases.give_back(self._ack_id)


class _Calls:
    def __init__(self, client: SubscriberAsyncClient, settings: PubSubSettings) -> None:
        self._client = client
        self._path = settings.path
        self._timeout = settings.call_timeout_seconds

    async def acknowledge(self, ids: list[str]) -> None:
        await self._client.acknowledge(subscription=self._path, ack_ids=ids, retry=None, timeout=self._timeout)

    async def extend(self, ids: list[str], seconds: int) -> None:
        await self._client.modify_ack_deadline(
            subscription=self._path,
            ack_ids=ids,
            ack_deadline_seconds=seconds,
            retry=None,
            timeout=self._timeout,
        )

    async def give_back(self, ids: list[str]) -> None:
        await self.extend(ids, 0)


async def open_channel(emulator: str) -> grpc.aio.Channel:
    """A channel to the emulator, or with the credentials of the environment to Google."""
    if emulator:
        return grpc.aio.insecure_channel(emulator, options=_CHANNEL_OPTIONS)
    try:
        credentials, _ = await asyncio.to_thread(google.auth.default, scopes=SCOPES)
    except google.auth.exceptions.GoogleAuthError as error:
        remedy = "give the pod a Google identity, or set GOOGLE_APPLICATION_CREDENTIALS or PUBSUB_EMULATOR_HOST"
        raise Unauthenticated("no credentials for Pub/Sub", why=str(error), remedy=remedy) from error
    channel: grpc.aio.Channel = SubscriberGrpcAsyncIOTransport.create_channel(
        SERVICE, credentials=credentials, options=_CHANNEL_OPTIONS
    )
    return channel


@contextlib.contextmanager
def translated(path: str) -> Iterator[None]:
    try:
        yield
    except refusals.NotFound as error:
        remedy = "create it, or set create_topic_if_missing and create_subscription_if_missing"
        raise NotFound(f"Pub/Sub has no {path}", why=error.message, remedy=remedy) from error
    except refusals.PermissionDenied as error:
        remedy = "grant roles/pubsub.subscriber on the subscription"
        raise Forbidden(f"Pub/Sub refuses access to {path}", why=error.message, remedy=remedy) from error
    except refusals.Unauthenticated as error:
        raise Unauthenticated(f"Pub/Sub does not know us at {path}", why=error.message) from error
    except (refusals.GoogleAPICallError, grpc.aio.AioRpcError) as error:
        raise Unavailable(f"the stream of {path} broke", why=str(error)) from error
