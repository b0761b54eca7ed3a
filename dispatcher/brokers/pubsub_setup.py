"""Creates what Pub/Sub lacks, where the configuration asks for it.

A subscription is created as the Go library creates it: always with a dead-letter topic.
"""

import contextlib
from dataclasses import dataclass

import grpc
from google.api_core.exceptions import AlreadyExists
from google.protobuf.duration_pb2 import Duration
from google.pubsub_v1 import PublisherAsyncClient, SubscriberAsyncClient
from google.pubsub_v1.services.publisher.transports import PublisherGrpcAsyncIOTransport
from google.pubsub_v1.services.subscriber.transports import SubscriberGrpcAsyncIOTransport
from google.pubsub_v1.types import DeadLetterPolicy, ExpirationPolicy, RetryPolicy, Subscription, Topic

from dispatcher.brokers.pubsub import CALL_TIMEOUT_SECONDS, translated

DEFAULT_DEAD_LETTER_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PubSubSetup:
    """How to create the topic and the subscription. Durations are seconds; None leaves Pub/Sub's default."""

    project: str
    topic: str
    subscription: str
    create_topic: bool = False
    create_subscription: bool = False
    ack_deadline_seconds: int | None = None
    message_retention: float | None = None
    expiration: float | None = None
    ordered: bool = False
    retry_min_backoff: float | None = None
    retry_max_backoff: float | None = None
    dead_letter_topic: str = ""
    """`<subscription>-dlq` where it is empty."""
    dead_letter_attempts: int = DEFAULT_DEAD_LETTER_ATTEMPTS
    topic_retention: float | None = None
    call_timeout_seconds: float = CALL_TIMEOUT_SECONDS

    @property
    def dead_letter_path(self) -> str:
        return self.topic_path(self.dead_letter_topic or f"{self.subscription}-dlq")

    def topic_path(self, topic: str) -> str:
        return f"projects/{self.project}/topics/{topic}"


async def create_missing(setup: PubSubSetup, channel: grpc.aio.Channel) -> None:
    """Raises errors of `shared.errors`; what exists is left as it is."""
    publisher = PublisherAsyncClient(transport=PublisherGrpcAsyncIOTransport(channel=channel))
    topics = [topic_of(setup)] if setup.create_topic else []
    if setup.create_topic and setup.create_subscription:
        topics.append(Topic(name=setup.dead_letter_path))
    for topic in topics:
        with translated(topic.name), contextlib.suppress(AlreadyExists):
            await publisher.create_topic(topic, retry=None, timeout=setup.call_timeout_seconds)
    if setup.create_subscription:
        subscriber = SubscriberAsyncClient(transport=SubscriberGrpcAsyncIOTransport(channel=channel))
        wanted = subscription_of(setup)
        with translated(wanted.name), contextlib.suppress(AlreadyExists):
            await subscriber.create_subscription(wanted, retry=None, timeout=setup.call_timeout_seconds)


def topic_of(setup: PubSubSetup) -> Topic:
    return Topic(name=setup.topic_path(setup.topic), message_retention_duration=_duration(setup.topic_retention))


def subscription_of(setup: PubSubSetup) -> Subscription:
    wanted = Subscription(
        name=f"projects/{setup.project}/subscriptions/{setup.subscription}",
        topic=setup.topic_path(setup.topic),
        enable_message_ordering=setup.ordered,
        message_retention_duration=_duration(setup.message_retention),
        dead_letter_policy=DeadLetterPolicy(
            dead_letter_topic=setup.dead_letter_path, max_delivery_attempts=setup.dead_letter_attempts
        ),
    )
    if setup.ack_deadline_seconds is not None:
        wanted.ack_deadline_seconds = setup.ack_deadline_seconds
    if setup.expiration is not None:
        # An expiration policy without a duration means: never.
        wanted.expiration_policy = ExpirationPolicy(ttl=_duration(setup.expiration or None))
    if setup.retry_min_backoff is not None or setup.retry_max_backoff is not None:
        wanted.retry_policy = RetryPolicy(
            minimum_backoff=_duration(setup.retry_min_backoff), maximum_backoff=_duration(setup.retry_max_backoff)
        )
    return wanted


def _duration(seconds: float | None) -> Duration | None:
    return None if seconds is None else Duration(seconds=int(seconds), nanos=round(seconds % 1 * 1e9))
