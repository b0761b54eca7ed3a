"""The configured subscription. Only its driver is imported: Pub/Sub's alone takes half a second and 30 MiB."""

from collections.abc import Mapping
from functools import partial

from dispatcher.brokers.port import Subscription
from dispatcher.config.models.adapter import BrokerClientConfig
from dispatcher.config.models.broker import BrokerConfig, PubSubConfig, RabbitMqConfig
from shared.errors import Misconfigured, Problem
from shared.network.urls import usable_scheme

# Enough that an object that waits for its backoff does not keep the others from being delivered.
PREFETCH_PER_RUN = 8
# AMQP's prefetch has 16 bits.
MAX_RABBITMQ_PREFETCH = 65_535
EMULATOR_VARIABLE = "PUBSUB_EMULATOR_HOST"


def parallelism_of(broker: BrokerConfig) -> int:
    return max(1, broker.subscriber.parallelism)


def open_subscription(
    broker: BrokerConfig, client: BrokerClientConfig, environment: Mapping[str, str], *, name: str
) -> Subscription:
    """`name` is shown to the broker's operators. Raises Misconfigured with everything that is missing."""
    problems = [
        Problem(path, "is needed to serve")
        for path, value in (
            ("clients.broker.topic", client.topic),
            ("clients.broker.subscription_id", client.subscription_id),
            *_needed(broker),
        )
        if not value
    ]
    url = broker.broker.rabbitmq.url
    if broker.broker.type == "rabbitmq" and url and usable_scheme(url) not in ("amqp", "amqps"):
        problems.append(Problem("broker.rabbitmq.url", "must be an amqp:// or amqps:// URL"))
    if problems:
        remedy = "set them in the adapter config and the broker config, or by their environment variables"
        raise Misconfigured("the broker cannot be used", problems, remedy=remedy)
    section, default_prefetch = broker.broker, PREFETCH_PER_RUN * parallelism_of(broker)
    match section.type:
        case "rabbitmq":
            prefetch = section.rabbitmq.prefetch_count * parallelism_of(broker) or default_prefetch
            return _rabbitmq(section.rabbitmq, client, min(prefetch, MAX_RABBITMQ_PREFETCH), name)
        case "googlepubsub":
            return _pubsub(section.googlepubsub, client, default_prefetch, environment)
        case _:
            return _embedded(section.embedded.address, client, default_prefetch)


def _needed(broker: BrokerConfig) -> tuple[tuple[str, str], ...]:
    section = broker.broker
    match section.type:
        case "":
            return (("broker.type", ""),)
        case "rabbitmq":
            return (("broker.rabbitmq.url", section.rabbitmq.url),)
        case "googlepubsub":
            return (("broker.googlepubsub.project_id", section.googlepubsub.project_id),)
        case "embedded":
            return (("broker.embedded.address", section.embedded.address),)


def _rabbitmq(config: RabbitMqConfig, client: BrokerClientConfig, prefetch: int, name: str) -> Subscription:
    from dispatcher.brokers.rabbitmq import RabbitSettings, RabbitSubscription  # noqa: PLC0415 - see the module

    settings = RabbitSettings(
        url=config.url,
        topic=client.topic,
        subscription=client.subscription_id,
        exchange=config.exchange,
        exchange_type=config.exchange_type,
        queue=config.queue,
        prefetch_count=prefetch,
        consumer_tag=config.consumer_tag,
    )
    return RabbitSubscription(settings, connection_name=name)


def _pubsub(
    config: PubSubConfig, client: BrokerClientConfig, prefetch: int, environment: Mapping[str, str]
) -> Subscription:
    from dispatcher.brokers.pubsub import (  # noqa: PLC0415 - see the module
        DEFAULT_ACK_DEADLINE_SECONDS,
        PubSubSettings,
        PubSubSubscription,
    )
    from dispatcher.brokers.pubsub_setup import PubSubSetup, create_missing  # noqa: PLC0415 - see the module

    settings = PubSubSettings(
        project=config.project_id,
        subscription=client.subscription_id,
        emulator=environment.get(EMULATOR_VARIABLE, ""),
        ack_deadline_seconds=config.ack_deadline_seconds or DEFAULT_ACK_DEADLINE_SECONDS,
        max_outstanding_messages=config.max_outstanding_messages or prefetch,
        max_outstanding_bytes=config.max_outstanding_bytes,
    )
    setup = PubSubSetup(
        project=config.project_id,
        topic=client.topic,
        subscription=client.subscription_id,
        create_topic=config.create_topic_if_missing,
        create_subscription=config.create_subscription_if_missing,
        ack_deadline_seconds=config.ack_deadline_seconds,
        message_retention=config.message_retention_duration,
        expiration=config.expiration_ttl,
        ordered=config.enable_message_ordering,
        retry_min_backoff=config.retry_min_backoff,
        retry_max_backoff=config.retry_max_backoff,
        dead_letter_topic=config.dead_letter_topic,
        dead_letter_attempts=config.dead_letter_max_attempts,
        topic_retention=config.topic_retention_duration,
    )
    creates = setup.create_topic or setup.create_subscription
    return PubSubSubscription(settings, prepare=partial(create_missing, setup) if creates else None)


def _embedded(address: str, client: BrokerClientConfig, prefetch: int) -> Subscription:
    from dispatcher.brokers.embedded import EmbeddedSettings, EmbeddedSubscription  # noqa: PLC0415 - see the module

    settings = EmbeddedSettings(
        address=address, topic=client.topic, subscription=client.subscription_id, prefetch_count=prefetch
    )
    return EmbeddedSubscription(settings)
