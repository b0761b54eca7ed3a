"""Which subscription a configuration asks for."""

import re
import sys
from pathlib import Path
from subprocess import run
from typing import Any

import pytest

import dispatcher
from dispatcher.brokers.opening import open_subscription, parallelism_of
from dispatcher.config.broker_variables import model_leaves
from dispatcher.config.checking.settings import IGNORED_BY_BROKER
from dispatcher.config.models.adapter import BrokerClientConfig
from dispatcher.config.models.broker import BrokerConfig
from shared.errors import Misconfigured

CLIENT = BrokerClientConfig(topic="hyperfleet-clusters", subscription_id="dns")


def broker(**section: Any) -> BrokerConfig:
    return BrokerConfig.model_validate({"broker": section})


def opened(config: BrokerConfig, client: BrokerClientConfig = CLIENT, **environment: str) -> Any:
    return open_subscription(config, client, environment, name="dns-0")


def test_rabbitmq_with_the_go_librarys_names() -> None:
    settings = opened(broker(type="rabbitmq", rabbitmq={"url": "amqp://u:secret@mq:5672/"}))._settings
    assert (settings.exchange_name, settings.exchange_type) == ("hyperfleet-clusters", "topic")
    assert settings.queue_name == "hyperfleet-clusters-dns"
    assert settings.prefetch_count == 128


def test_rabbitmq_with_names_of_its_own() -> None:
    config = {"url": "amqp://mq/", "exchange": "events", "exchange_type": "fanout", "queue": "q", "prefetch_count": 2}
    settings = opened(broker(type="rabbitmq", rabbitmq=config))._settings
    assert (settings.exchange_name, settings.exchange_type, settings.queue_name) == ("events", "fanout", "q-dns")
    assert settings.prefetch_count == 32  # for each of the 16 runs at once, as the Go library has one channel each


def test_rabbitmq_is_not_asked_for_more_messages_than_its_protocol_can_say() -> None:
    config = {"url": "amqp://mq/", "prefetch_count": 10_000}  # of each of the Go library's channels
    assert opened(broker(type="rabbitmq", rabbitmq=config))._settings.prefetch_count == 65_535


def test_no_password_is_shown() -> None:
    subscription = opened(broker(type="rabbitmq", rabbitmq={"url": "amqp://u:secret@mq:5672/"}))
    assert "secret" not in subscription.description + repr(subscription._settings)
    assert "mq:5672" in subscription.description


def test_pubsub_with_the_emulator_of_the_environment() -> None:
    subscription = opened(
        broker(type="googlepubsub", googlepubsub={"project_id": "p"}), PUBSUB_EMULATOR_HOST="127.0.0.1:8085"
    )
    settings = subscription._settings
    assert settings.path == "projects/p/subscriptions/dns"
    assert (settings.emulator, settings.ack_deadline_seconds, settings.max_outstanding_messages) == (
        "127.0.0.1:8085",
        60,
        128,
    )
    assert subscription._prepare is None


def test_pubsub_creates_only_what_it_is_asked_to() -> None:
    config = {
        "project_id": "p",
        "create_subscription_if_missing": True,
        "expiration_ttl": "0",
        "ack_deadline_seconds": 20,
        "dead_letter_topic": "graveyard",
        "topic_retention_duration": "20m",
    }
    (setup,) = opened(broker(type="googlepubsub", googlepubsub=config))._prepare.args
    assert (setup.create_topic, setup.create_subscription) == (False, True)
    assert (setup.expiration, setup.ack_deadline_seconds) == (0, 20)
    assert (setup.dead_letter_topic, setup.topic_retention) == ("graveyard", 1200)


def test_every_setting_of_the_broker_config_is_used_or_answered_with_a_warning() -> None:
    """A field that nothing reads would be a promise of docs/configuration.md that nobody keeps."""
    folder = Path(dispatcher.__file__).parent
    source = "".join(file.read_text() for part in ("brokers", "runtime") for file in (folder / part).rglob("*.py"))

    unread = {path for path in model_leaves(BrokerConfig) if not re.search(rf"\.{path[-1]}\b", source)}

    assert unread == IGNORED_BY_BROKER.keys()


def test_the_embedded_broker() -> None:
    settings = opened(broker(type="embedded", embedded={"address": "127.0.0.1:5673"}))._settings
    assert (settings.address, settings.topic, settings.subscription) == ("127.0.0.1:5673", "hyperfleet-clusters", "dns")


@pytest.mark.parametrize(
    ("config", "missing"),
    [
        (broker(), "broker.type"),
        (broker(type="rabbitmq"), "broker.rabbitmq.url"),
        (broker(type="googlepubsub"), "broker.googlepubsub.project_id"),
        (broker(type="embedded"), "broker.embedded.address"),
    ],
)
def test_all_that_is_missing_is_said_at_once(config: BrokerConfig, missing: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        opened(config, BrokerClientConfig())
    assert [problem.path for problem in refused.value.problems] == [
        "clients.broker.topic",
        "clients.broker.subscription_id",
        missing,
    ]


@pytest.mark.parametrize("url", ["mq:5672", "http://mq", "amqp://[mq", "amqp://mq:port"])
def test_a_url_that_is_none_of_rabbitmq_is_refused(url: str) -> None:
    with pytest.raises(Misconfigured, match=r"broker\.rabbitmq\.url: must be an amqp:// or amqps:// URL"):
        opened(broker(type="rabbitmq", rabbitmq={"url": url}))


@pytest.mark.parametrize(("written", "expected"), [(None, 16), (0, 1), (-3, 1), (4, 4)])
def test_how_many_objects_run_at_once(written: int | None, expected: int) -> None:
    config = BrokerConfig.model_validate({} if written is None else {"subscriber": {"parallelism": written}})
    assert parallelism_of(config) == expected


def test_only_the_configured_driver_is_imported() -> None:
    code = "import dispatcher.brokers.opening, sys; sys.exit(any(m in sys.modules for m in ('aio_pika', 'google.pubsub_v1')))"
    assert run([sys.executable, "-c", code], check=False).returncode == 0
