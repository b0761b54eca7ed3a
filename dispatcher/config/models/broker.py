"""The broker config: where events come from. The same file as Sentinel's and the Go adapters'."""

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from dispatcher.config.models.blocks import Block
from dispatcher.config.models.fields import Flag, Seconds, Text, Whole, mistake

PARALLELISM: Final = 16
_DAY: Final = 86_400


def _never_or_a_day(seconds: float) -> float:
    if seconds and seconds < _DAY:
        raise mistake("must be 0 or at least a day", hint="write 0 or 24h")
    return seconds


class RabbitMqConfig(Block):
    url: Text = Field(default="", description="amqp:// or amqps:// URL; required")
    exchange: Text = Field(default="", description="name of the exchange; the topic by default")
    exchange_type: Literal["direct", "fanout", "topic", "headers"] = Field(
        default="topic", description="must equal the publisher's"
    )
    queue: Text = Field(default="", description="first part of the queue's name; the topic by default")
    routing_key: Text = Field(default="", description="of a publisher; accepted and not used")
    prefetch_count: Whole = Field(default=0, description="messages in advance; 0 leaves it to the program")
    prefetch_size: Whole = Field(default=0, description="bytes in advance; accepted and not used")
    consumer_tag: Text = Field(default="", description="name of the consumer")
    publisher_confirm: Flag = Field(default=False, description="of a publisher; accepted and not used")


class PubSubConfig(Block):
    project_id: Text = Field(default="", description="the Google Cloud project; required")
    ack_deadline_seconds: Whole | None = Field(default=None, ge=10, le=600, description="of a new subscription")
    message_retention_duration: Seconds | None = Field(
        default=None, ge=600, le=31 * _DAY, description="of a new subscription; 10m to 31d"
    )
    expiration_ttl: Annotated[Seconds, AfterValidator(_never_or_a_day)] | None = Field(
        default=None, description="of a new subscription: 0 means never, else at least 1d"
    )
    enable_message_ordering: Flag = Field(default=False, description="of a new subscription")
    retry_min_backoff: Seconds | None = Field(default=None, ge=0, le=600, description="of a new subscription")
    retry_max_backoff: Seconds | None = Field(default=None, ge=0, le=600, description="of a new subscription")
    dead_letter_topic: Text = Field(default="", description="of a new subscription; otherwise SUBSCRIPTION-dlq")
    dead_letter_max_attempts: Whole = Field(default=5, ge=5, le=100, description="of a new subscription")
    topic_retention_duration: Seconds | None = Field(default=None, description="of a new topic")
    max_outstanding_messages: Whole = Field(default=0, description="messages held at once; 0 leaves it to the program")
    max_outstanding_bytes: Whole = Field(default=0, description="bytes held at once; 0 means no limit")
    num_goroutines: Whole = Field(default=0, description="streams; accepted and not used")
    create_topic_if_missing: Flag = Field(default=False, description="create the topic")
    create_subscription_if_missing: Flag = Field(default=False, description="create the subscription")


class EmbeddedConfig(Block):
    address: Text = Field(default="", description="ours: HOST:PORT of lab-broker")


class BrokerSection(Block):
    type: Literal["", "rabbitmq", "googlepubsub", "embedded"] = Field(
        default="", description="rabbitmq or googlepubsub; ours: embedded, the broker of the lab"
    )
    rabbitmq: RabbitMqConfig = Field(default_factory=RabbitMqConfig, description="for the type rabbitmq")
    googlepubsub: PubSubConfig = Field(default_factory=PubSubConfig, description="for the type googlepubsub")
    embedded: EmbeddedConfig = Field(default_factory=EmbeddedConfig, description="for the type embedded")


class SubscriberConfig(Block):
    parallelism: Annotated[Whole, AfterValidator(lambda number: max(1, number))] = Field(
        default=PARALLELISM, description="events handled at once; less than 1 means 1"
    )


class BrokerConfig(Block):
    """The broker config. Every key has its environment variable: BROKER_RABBITMQ_URL, SUBSCRIBER_PARALLELISM."""

    log_config: Flag = Field(default=False, description="log this configuration at the start, without its secrets")
    broker: BrokerSection = Field(default_factory=BrokerSection, description="the broker")
    subscriber: SubscriberConfig = Field(default_factory=SubscriberConfig, description="how events are taken")
