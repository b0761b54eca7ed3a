"""Settings of the adapter config and the broker config that cannot work, or that nothing uses."""

from collections.abc import Callable

import pytest

from dispatcher.config.checking.settings import IGNORED
from dispatcher.config.findings import Finding, Severity
from dispatcher.config.loading import Inspection
from dispatcher.config.overrides import SETTINGS as SETTINGS_OF_THE_ADAPTER
from tests.support.work_config import MAESTRO, WORK

Found = Callable[..., list[Finding]]

REFUSED, MISTAKE, ADVICE = Severity.REFUSED, Severity.MISTAKE, Severity.ADVICE

SETTINGS: dict[str, tuple[str, str, tuple[Severity, str, str]]] = {
    "nowhere to send a work": (WORK, "adapter: {name: demo}\n", (MISTAKE, "maestro", "resources[0].transport.client")),
    "a Maestro without TLS": (WORK, MAESTRO.replace("http://m:8000", "https://m").replace("insecure: true", "insecure: false"), (MISTAKE, "maestro", "clients.maestro.auth.tls_config.ca_file")),
    "a Maestro without a source": (WORK, MAESTRO.replace("source_id: s, ", ""), (MISTAKE, "maestro", "clients.maestro.source_id")),
    "a setting that is not used": ("params: []\n", "adapter: {name: demo}\nclients: {kubernetes: {api_version: v1}}\n", (ADVICE, "ignored", "clients.kubernetes.api_version")),
    "a level of logs that is none": ("params: []\n", "adapter: {name: demo}\nlog: {level: loud}\n", (MISTAKE, "log-level", "log.level")),
    "a token in a header": ("params: []\n", "adapter: {name: demo}\nclients: {hyperfleet_api: {default_headers: {Authorization: Bearer abc}}}\n", (MISTAKE, "clear-text-secret", "clients.hyperfleet_api.default_headers.Authorization")),
    "a URL without its scheme": ("params: []\n", "adapter: {name: demo}\nclients: {hyperfleet_api: {base_url: 'api:8000'}}\n", (MISTAKE, "invalid-value", "clients.hyperfleet_api.base_url")),
    "a URL that is none": ("params: []\n", "adapter: {name: demo}\nclients: {hyperfleet_api: {base_url: 'http://[api'}}\n", (MISTAKE, "invalid-value", "clients.hyperfleet_api.base_url")),
    "a password in a URL": ("params: []\n", "adapter: {name: demo}\nclients: {hyperfleet_api: {base_url: 'http://me:abc@api'}}\n", (MISTAKE, "clear-text-secret", "clients.hyperfleet_api.base_url")),
}  # fmt: skip


@pytest.mark.parametrize(("task", "adapter", "expected"), SETTINGS.values(), ids=SETTINGS)
def test_a_setting_that_cannot_work_is_found(
    task: str, adapter: str, expected: tuple[Severity, str, str], found: Found
) -> None:
    [finding] = found(task, adapter)
    assert (finding.severity, finding.rule, finding.place.path) == expected
    assert "abc" not in finding.explain()


@pytest.mark.parametrize("path", IGNORED, ids=".".join)
def test_a_setting_that_is_accepted_and_not_used_is_answered_with_advice(
    path: tuple[str, ...], inspected: Callable[..., Inspection]
) -> None:
    setting = next(each for each in SETTINGS_OF_THE_ADAPTER if each.path == path)

    (finding,) = inspected("params: []\n", MAESTRO, environment={setting.variables[0]: "x"}).findings

    assert (finding.severity, finding.rule, finding.place.path) == (ADVICE, "ignored", ".".join(path))
    assert "not used" in finding.message


BROKERS: dict[str, tuple[str, tuple[Severity, str, str]]] = {
    "a password": ("broker: {type: rabbitmq, rabbitmq: {url: 'amqp://me:abc@mq'}}\n", (MISTAKE, "clear-text-secret", "broker.rabbitmq.url")),
    "a url that is none": ("broker: {type: rabbitmq, rabbitmq: {url: 'amqp://[mq'}}\n", (MISTAKE, "broker", "broker.rabbitmq.url")),
    "another scheme": ("broker: {type: rabbitmq, rabbitmq: {url: 'http://mq'}}\n", (MISTAKE, "broker", "broker.rabbitmq.url")),
    "no url": ("broker: {type: rabbitmq}\n", (MISTAKE, "broker", "broker.rabbitmq.url")),
    "no project": ("broker: {type: googlepubsub}\n", (MISTAKE, "broker", "broker.googlepubsub.project_id")),
    "no address": ("broker: {type: embedded}\n", (MISTAKE, "broker", "broker.embedded.address")),
    "a limit that RabbitMQ has not": ("broker: {rabbitmq: {prefetch_size: 5}}\n", (ADVICE, "ignored", "broker.rabbitmq.prefetch_size")),
    "a routing key": ("broker: {rabbitmq: {routing_key: x}}\n", (ADVICE, "ignored", "broker.rabbitmq.routing_key")),
}  # fmt: skip


@pytest.mark.parametrize(("broker", "expected"), BROKERS.values(), ids=BROKERS)
def test_a_broker_that_cannot_work_is_found(broker: str, expected: tuple[Severity, str, str], found: Found) -> None:
    [finding] = found(broker=broker)
    assert (finding.severity, finding.rule, finding.place.path) == expected
    assert "abc" not in finding.explain()


def test_a_password_from_the_environment_is_as_it_should_be(found: Found) -> None:
    broker = "broker: {type: rabbitmq}\n"
    assert found(broker=broker, environment={"BROKER_RABBITMQ_URL": "amqp://me:abc@mq"}) == []
