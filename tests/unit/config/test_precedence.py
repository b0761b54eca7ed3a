"""A flag wins over its variable, the variable over the file, the file over the default: for every setting there is."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from dispatcher.config.broker_variables import model_leaves
from dispatcher.config.findings import ConfigError
from dispatcher.config.loading import Loaded
from dispatcher.config.models.broker import BrokerConfig
from dispatcher.config.overrides import SETTINGS, Setting

TLS = "clients.maestro.auth.tls_config"
# path: the default, and three valid texts with the value each becomes.
VALUES: dict[str, tuple[Any, list[tuple[str, Any]]]] = {
    "debug_config": (False, [("true", True), ("1", True), ("yes", True)]),
    "log.level": ("info", [("debug", "debug"), ("warn", "warn"), ("ERROR", "error")]),
    "log.format": ("json", [("text", "text"), ("json", "json"), ("TEXT", "text")]),
    "log.output": ("stdout", [("stderr", "stderr"), ("stdout", "stdout"), ("stderr", "stderr")]),
    "clients.hyperfleet_api.base_url": (
        "",
        [("http://a", "http://a"), ("http://b", "http://b"), ("http://c", "http://c")],
    ),
    "clients.hyperfleet_api.version": ("v1", [("v2", "v2"), ("v3", "v3"), ("v4", "v4")]),
    "clients.hyperfleet_api.timeout": (10.0, [("1s", 1.0), ("1m30s", 90.0), ("500ms", 0.5)]),
    "clients.hyperfleet_api.retry_attempts": (3, [("1", 1), ("5", 5), ("7", 7)]),
    "clients.hyperfleet_api.retry_backoff": (
        "exponential",
        [("linear", "linear"), ("constant", "constant"), ("linear", "linear")],
    ),
    "clients.hyperfleet_api.base_delay": (1.0, [("2s", 2.0), ("3s", 3.0), ("4s", 4.0)]),
    "clients.hyperfleet_api.max_delay": (30.0, [("2s", 2.0), ("3s", 3.0), ("4s", 4.0)]),
    "clients.hyperfleet_api.auth.token_path": (None, [("/a", "/a"), ("/b", "/b"), ("/c", "/c")]),
    "clients.hyperfleet_api.auth.token_cache_ttl": (None, [("1s", 1.0), ("2s", 2.0), ("3s", 3.0)]),
    "clients.broker.subscription_id": ("", [("a", "a"), ("b", "b"), ("c", "c")]),
    "clients.broker.topic": ("", [("a", "a"), ("b", "b"), ("c", "c")]),
    "clients.kubernetes.kube_config_path": ("", [("/a", "/a"), ("/b", "/b"), ("/c", "/c")]),
    "clients.kubernetes.api_version": ("", [("v1", "v1"), ("v2", "v2"), ("v3", "v3")]),
    "clients.kubernetes.qps": (0.0, [("1.5", 1.5), ("2", 2.0), ("3", 3.0)]),
    "clients.kubernetes.burst": (0, [("1", 1), ("2", 2), ("3", 3)]),
    "clients.maestro.grpc_server_address": (None, [("a:1", "a:1"), ("b:1", "b:1"), ("c:1", "c:1")]),
    "clients.maestro.http_server_address": (
        None,
        [("http://a", "http://a"), ("http://b", "http://b"), ("http://c", "http://c")],
    ),
    "clients.maestro.source_id": (None, [("a", "a"), ("b", "b"), ("c", "c")]),
    "clients.maestro.client_id": (None, [("a", "a"), ("b", "b"), ("c", "c")]),
    "clients.maestro.auth.type": (None, [("tls", "tls"), ("none", "none"), ("x", "x")]),
    f"{TLS}.ca_file": (None, [("/a", "/a"), ("/b", "/b"), ("/c", "/c")]),
    f"{TLS}.cert_file": (None, [("/a", "/a"), ("/b", "/b"), ("/c", "/c")]),
    f"{TLS}.key_file": (None, [("/a", "/a"), ("/b", "/b"), ("/c", "/c")]),
    f"{TLS}.http_ca_file": (None, [("/a", "/a"), ("/b", "/b"), ("/c", "/c")]),
    "clients.maestro.timeout": (None, [("1s", 1.0), ("2s", 2.0), ("3s", 3.0)]),
    "clients.maestro.server_healthiness_timeout": (None, [("1s", 1.0), ("2s", 2.0), ("3s", 3.0)]),
    "clients.maestro.retry_attempts": (None, [("1", 1), ("2", 2), ("3", 3)]),
    "clients.maestro.keepalive.time": (None, [("10s", 10.0), ("20s", 20.0), ("30s", 30.0)]),
    "clients.maestro.keepalive.timeout": (None, [("10s", 10.0), ("20s", 20.0), ("30s", 30.0)]),
    "clients.maestro.insecure": (None, [("true", True), ("t", True), ("on", True)]),
}
NAMES = {
    "debug_config": ("HYPERFLEET_DEBUG_CONFIG", "debug-config"),
    "log.level": ("LOG_LEVEL", "log-level"),
    "log.format": ("LOG_FORMAT", "log-format"),
    "log.output": ("LOG_OUTPUT", "log-output"),
    "clients.hyperfleet_api.base_url": ("HYPERFLEET_API_BASE_URL", "hyperfleet-api-base-url"),
    "clients.hyperfleet_api.version": ("HYPERFLEET_API_VERSION", "hyperfleet-api-version"),
    "clients.hyperfleet_api.timeout": ("HYPERFLEET_API_TIMEOUT", "hyperfleet-api-timeout"),
    "clients.hyperfleet_api.retry_attempts": ("HYPERFLEET_API_RETRY_ATTEMPTS", "hyperfleet-api-retry"),
    "clients.hyperfleet_api.retry_backoff": ("HYPERFLEET_API_RETRY_BACKOFF", "hyperfleet-api-retry-backoff"),
    "clients.hyperfleet_api.base_delay": ("HYPERFLEET_API_BASE_DELAY", "hyperfleet-api-base-delay"),
    "clients.hyperfleet_api.max_delay": ("HYPERFLEET_API_MAX_DELAY", "hyperfleet-api-max-delay"),
    "clients.hyperfleet_api.auth.token_path": ("HYPERFLEET_API_AUTH_TOKEN_PATH", ""),
    "clients.hyperfleet_api.auth.token_cache_ttl": ("HYPERFLEET_API_AUTH_TOKEN_CACHE_TTL", ""),
    "clients.broker.subscription_id": ("HYPERFLEET_BROKER_SUBSCRIPTION_ID", "broker-subscription-id"),
    "clients.broker.topic": ("HYPERFLEET_BROKER_TOPIC", "broker-topic"),
    "clients.kubernetes.kube_config_path": ("HYPERFLEET_KUBERNETES_KUBE_CONFIG_PATH", "kubernetes-kube-config-path"),
    "clients.kubernetes.api_version": ("HYPERFLEET_KUBERNETES_API_VERSION", "kubernetes-api-version"),
    "clients.kubernetes.qps": ("HYPERFLEET_KUBERNETES_QPS", "kubernetes-qps"),
    "clients.kubernetes.burst": ("HYPERFLEET_KUBERNETES_BURST", "kubernetes-burst"),
    "clients.maestro.grpc_server_address": ("HYPERFLEET_MAESTRO_GRPC_SERVER_ADDRESS", "maestro-grpc-server-address"),
    "clients.maestro.http_server_address": ("HYPERFLEET_MAESTRO_HTTP_SERVER_ADDRESS", "maestro-http-server-address"),
    "clients.maestro.source_id": ("HYPERFLEET_MAESTRO_SOURCE_ID", "maestro-source-id"),
    "clients.maestro.client_id": ("HYPERFLEET_MAESTRO_CLIENT_ID", "maestro-client-id"),
    "clients.maestro.auth.type": ("HYPERFLEET_MAESTRO_AUTH_TYPE", "maestro-auth-type"),
    f"{TLS}.ca_file": ("HYPERFLEET_MAESTRO_CA_FILE", "maestro-ca-file"),
    f"{TLS}.cert_file": ("HYPERFLEET_MAESTRO_CERT_FILE", "maestro-cert-file"),
    f"{TLS}.key_file": ("HYPERFLEET_MAESTRO_KEY_FILE", "maestro-key-file"),
    f"{TLS}.http_ca_file": ("HYPERFLEET_MAESTRO_HTTP_CA_FILE", "maestro-http-ca-file"),
    "clients.maestro.timeout": ("HYPERFLEET_MAESTRO_TIMEOUT", "maestro-timeout"),
    "clients.maestro.server_healthiness_timeout": (
        "HYPERFLEET_MAESTRO_SERVER_HEALTHINESS_TIMEOUT",
        "maestro-server-healthiness-timeout",
    ),
    "clients.maestro.retry_attempts": ("HYPERFLEET_MAESTRO_RETRY_ATTEMPTS", "maestro-retry-attempts"),
    "clients.maestro.keepalive.time": ("HYPERFLEET_MAESTRO_KEEPALIVE_TIME", "maestro-keepalive-time"),
    "clients.maestro.keepalive.timeout": ("HYPERFLEET_MAESTRO_KEEPALIVE_TIMEOUT", "maestro-keepalive-timeout"),
    "clients.maestro.insecure": ("HYPERFLEET_MAESTRO_INSECURE", "maestro-insecure"),
}
BY_PATH = {".".join(map(str, setting.path)): setting for setting in SETTINGS}


def file_with(path: str, text: str) -> str:
    """An adapter config in which one setting has a value."""
    document: dict[str, Any] = {"adapter": {"name": "demo"}}
    inner = document
    *steps, last = path.split(".")
    for step in steps:
        inner = inner.setdefault(step, {})
    inner[last] = text
    if path.endswith("token_cache_ttl"):
        inner["token_path"] = "/token"
    return yaml.safe_dump(document)


def setting_of(loaded: Loaded, path: str) -> Any:
    value: Any = loaded.config
    for step in path.split("."):
        value = getattr(value, step) if value is not None else None
    return value


def needed(path: str) -> dict[str, str]:
    """A token's time needs its path."""
    return {"HYPERFLEET_API_AUTH_TOKEN_PATH": "/token"} if path.endswith("token_cache_ttl") else {}


def test_every_setting_has_the_names_of_the_go_framework() -> None:
    assert {path: (setting.variables[0], setting.flag) for path, setting in BY_PATH.items()} == NAMES
    assert BY_PATH.keys() == VALUES.keys()


@pytest.mark.parametrize("path", VALUES)
def test_without_anything_there_is_the_default(path: str, loaded: Callable[..., Loaded]) -> None:
    assert setting_of(loaded(), path) == VALUES[path][0]


@pytest.mark.parametrize("path", VALUES)
def test_the_file_wins_over_the_default(path: str, loaded: Callable[..., Loaded]) -> None:
    _, [(text, value), *_] = VALUES[path]
    if path.startswith("log."):
        text = text.lower()
    assert setting_of(loaded(adapter=file_with(path, text)), path) == value


@pytest.mark.parametrize("path", VALUES)
def test_the_environment_wins_over_the_file(path: str, loaded: Callable[..., Loaded]) -> None:
    _, [(first, _), (second, value), _] = VALUES[path]
    environment = {NAMES[path][0]: second} | needed(path)
    assert setting_of(loaded(adapter=file_with(path, first), environment=environment), path) == value
    assert setting_of(loaded(environment=environment), path) == value


@pytest.mark.parametrize("path", VALUES)
def test_an_empty_variable_counts_as_unset(path: str, loaded: Callable[..., Loaded]) -> None:
    _, [(first, value), *_] = VALUES[path]
    assert setting_of(loaded(adapter=file_with(path, first), environment={NAMES[path][0]: ""}), path) == value


@pytest.mark.parametrize("path", [path for path in VALUES if NAMES[path][1]])
def test_a_flag_wins_over_the_environment(path: str, loaded: Callable[..., Loaded]) -> None:
    _, [(first, _), (second, _), (third, value)] = VALUES[path]
    variable, flag = NAMES[path]
    found = loaded(adapter=file_with(path, first), environment={variable: second}, flags={flag: third})
    assert setting_of(found, path) == value


@pytest.mark.parametrize("name", ["SUBSCRIPTION_ID", "TOPIC"])
def test_the_old_variables_of_the_broker_count_where_the_new_ones_are_not_set(
    name: str, loaded: Callable[..., Loaded]
) -> None:
    path, old, new = f"clients.broker.{name.lower()}", f"BROKER_{name}", f"HYPERFLEET_BROKER_{name}"
    assert setting_of(loaded(environment={old: "old"}), path) == "old"
    assert setting_of(loaded(environment={old: "old", new: ""}), path) == "old"
    assert setting_of(loaded(environment={old: "old", new: "new"}), path) == "new"


def test_any_key_of_the_file_can_be_replaced_by_the_variable_of_its_path(loaded: Callable[..., Loaded]) -> None:
    adapter = "adapter: {name: demo}\nclients: {broker: {topic: a}}\n"
    environment = {
        "HYPERFLEET_ADAPTER_NAME": "other",
        "HYPERFLEET_CLIENTS_BROKER_TOPIC": "b",
        "HYPERFLEET_LOG_LEVEL": "debug",
    }
    found = loaded(adapter=adapter, environment=environment)
    assert found.config.adapter.name == "other"
    assert found.config.clients.broker.topic == "b"
    assert found.config.log.level == "info"  # not in the file, and LOG_LEVEL is its name
    assert loaded(adapter=adapter, environment={**environment, "BROKER_TOPIC": "c"}).config.clients.broker.topic == "c"


def test_a_wrong_value_is_traced_to_its_variable_or_flag(loaded: Callable[..., Loaded]) -> None:
    with pytest.raises(ConfigError) as refused:
        loaded(environment={"HYPERFLEET_API_TIMEOUT": "soon"}, flags={"log-format": "xml"})
    assert {finding.at for finding in refused.value.refused} == {"$HYPERFLEET_API_TIMEOUT", "--log-format"}


def test_nothing_and_less_than_nothing_mean_the_default(loaded: Callable[..., Loaded]) -> None:
    names = ("TIMEOUT", "RETRY_ATTEMPTS", "BASE_DELAY", "MAX_DELAY")
    environment = {f"HYPERFLEET_API_{name}": "0" for name in names} | {"SUBSCRIBER_PARALLELISM": "-1"}
    found = loaded(environment=environment)
    api = found.config.clients.hyperfleet_api
    assert (api.timeout, api.retry_attempts, api.base_delay, api.max_delay) == (10.0, 3, 1.0, 30.0)
    assert found.broker.subscriber.parallelism == 1


def test_a_switch_is_known_by_its_flag_alone() -> None:
    switches: list[Setting] = [setting for setting in SETTINGS if setting.switch]
    assert [setting.flag for setting in switches] == ["debug-config", "maestro-insecure"]


# path: a text and the value it becomes.
BROKER_VALUES: dict[str, tuple[str, Any]] = {
    "log_config": ("true", True),
    "broker.type": ("rabbitmq", "rabbitmq"),
    "broker.rabbitmq.url": ("amqp://x", "amqp://x"),
    "broker.rabbitmq.exchange": ("x", "x"),
    "broker.rabbitmq.exchange_type": ("fanout", "fanout"),
    "broker.rabbitmq.queue": ("x", "x"),
    "broker.rabbitmq.routing_key": ("x", "x"),
    "broker.rabbitmq.prefetch_count": ("5", 5),
    "broker.rabbitmq.prefetch_size": ("5", 5),
    "broker.rabbitmq.consumer_tag": ("x", "x"),
    "broker.rabbitmq.publisher_confirm": ("true", True),
    "broker.googlepubsub.project_id": ("x", "x"),
    "broker.googlepubsub.ack_deadline_seconds": ("60", 60),
    "broker.googlepubsub.message_retention_duration": ("7d", 604_800.0),
    "broker.googlepubsub.expiration_ttl": ("2d", 172_800.0),
    "broker.googlepubsub.enable_message_ordering": ("true", True),
    "broker.googlepubsub.retry_min_backoff": ("10s", 10.0),
    "broker.googlepubsub.retry_max_backoff": ("600s", 600.0),
    "broker.googlepubsub.dead_letter_topic": ("x", "x"),
    "broker.googlepubsub.dead_letter_max_attempts": ("7", 7),
    "broker.googlepubsub.topic_retention_duration": ("1h", 3600.0),
    "broker.googlepubsub.max_outstanding_messages": ("5", 5),
    "broker.googlepubsub.max_outstanding_bytes": ("5", 5),
    "broker.googlepubsub.num_goroutines": ("5", 5),
    "broker.googlepubsub.create_topic_if_missing": ("true", True),
    "broker.googlepubsub.create_subscription_if_missing": ("true", True),
    "broker.embedded.address": ("127.0.0.1:5", "127.0.0.1:5"),
    "subscriber.parallelism": ("5", 5),
}


def test_the_table_of_the_broker_config_is_whole() -> None:
    assert [".".join(map(str, path)) for path in model_leaves(BrokerConfig)] == list(BROKER_VALUES)


@pytest.mark.parametrize("path", BROKER_VALUES)
@pytest.mark.parametrize("broker", [None, "broker: {}\n"], ids=["without a file", "with a file that lacks the key"])
def test_every_key_of_the_broker_config_has_its_variable(
    path: str, broker: str | None, loaded: Callable[..., Loaded]
) -> None:
    text, value = BROKER_VALUES[path]
    found: Any = loaded(broker=broker, environment={path.replace(".", "_").upper(): text}).broker
    for step in path.split("."):
        found = getattr(found, step)
    assert found == value


def test_the_broker_file_wins_over_defaults_and_the_environment_over_it(loaded: Callable[..., Loaded]) -> None:
    broker = "broker: {type: rabbitmq, rabbitmq: {url: 'amqp://a'}}\nsubscriber: {parallelism: 4}\n"
    found = loaded(broker=broker, environment={"BROKER_RABBITMQ_URL": "amqp://b"}).broker
    assert (found.broker.rabbitmq.url, found.subscriber.parallelism) == ("amqp://b", 4)
    assert loaded().broker.subscriber.parallelism == 16
