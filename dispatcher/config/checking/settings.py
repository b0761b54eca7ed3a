"""Settings of the adapter config and the broker config that are ignored, or that cannot work."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from dispatcher.config.files import Written
from dispatcher.config.findings import Finding, Severity
from dispatcher.config.models.adapter import AdapterConfig
from dispatcher.config.models.broker import BrokerConfig
from dispatcher.config.reading.paths import Path
from dispatcher.config.showing.redacting import is_secret
from shared.network.urls import usable_scheme

LEVELS: Final = ("debug", "info", "warn", "warning", "error")
# Accepted because existing files have them; each line says why nothing comes of it.
IGNORED: Final[dict[Path, str]] = {
    ("clients", "kubernetes", "api_version"): "the API server's own versions are used",
    ("clients", "maestro", "client_id"): "the source_id identifies this client",
    ("clients", "maestro", "auth", "type"): "the files that are set say which kind it is",
}
IGNORED_BY_BROKER: Final[dict[Path, str]] = {
    ("broker", "rabbitmq", "routing_key"): "only publishers have one",
    ("broker", "rabbitmq", "prefetch_size"): "RabbitMQ has no such limit",
    ("broker", "rabbitmq", "publisher_confirm"): "only publishers have it",
    ("broker", "googlepubsub", "num_goroutines"): "one stream carries all messages",
}


@dataclass(frozen=True, slots=True)
class _Problem:
    severity: Severity
    rule: str
    path: Path
    message: str
    hint: str = ""


def check_settings(config: Written[AdapterConfig], broker: Written[BrokerConfig], findings: list[Finding]) -> None:
    findings += [_finding(config, problem) for problem in _in_adapter(config)]
    findings += [_finding(broker, problem) for problem in _in_broker(broker)]


def _finding(written: Written[AdapterConfig] | Written[BrokerConfig], problem: _Problem) -> Finding:
    return Finding(
        severity=problem.severity,
        rule=problem.rule,
        message=problem.message,
        place=written.document.place(problem.path),
        hint=problem.hint,
        origin=written.origins.get(problem.path, ""),
    )


def _ignored(written: Written[AdapterConfig] | Written[BrokerConfig], known: dict[Path, str]) -> Iterator[_Problem]:
    for path, reason in known.items():
        if written.document.has(path) or path in written.origins:
            yield _Problem(Severity.ADVICE, "ignored", path, f"this is accepted and not used: {reason}", "remove it")


def _in_adapter(config: Written[AdapterConfig]) -> Iterator[_Problem]:
    yield from _ignored(config, IGNORED)
    settings = config.model
    if settings.log.level.strip().lower() not in LEVELS:
        message = f"{settings.log.level!r} is not one of {', '.join(LEVELS)}; info is used"
        yield _Problem(Severity.MISTAKE, "log-level", ("log", "level"), message)
    api: Path = ("clients", "hyperfleet_api")
    for name, value in settings.clients.hyperfleet_api.default_headers.items():
        if is_secret(name, value):
            message, hint = f"{name} looks like a secret in clear text", "use auth.token_path"
            yield _Problem(Severity.MISTAKE, "clear-text-secret", (*api, "default_headers", name), message, hint)
    url: Path = (*api, "base_url")
    if url not in config.origins and _has_password(settings.clients.hyperfleet_api.base_url):
        hint = "set HYPERFLEET_API_BASE_URL from a Secret, or use auth.token_path"
        yield _Problem(Severity.MISTAKE, "clear-text-secret", url, "the URL has a password in clear text", hint)
    base_url = settings.clients.hyperfleet_api.base_url
    if base_url and usable_scheme(base_url) not in {"http", "https"}:
        message = "must be an http:// or https:// URL"
        yield _Problem(Severity.MISTAKE, "invalid-value", url, message, "as in http://hyperfleet-api:8000")


def _in_broker(broker: Written[BrokerConfig]) -> Iterator[_Problem]:
    yield from _ignored(broker, IGNORED_BY_BROKER)
    section = broker.model.broker
    url: Path = ("broker", "rabbitmq", "url")
    if url not in broker.origins and _has_password(section.rabbitmq.url):
        hint = "set BROKER_RABBITMQ_URL from a Secret"
        yield _Problem(Severity.MISTAKE, "clear-text-secret", url, "the URL has a password in clear text", hint)
    if section.type == "rabbitmq" and usable_scheme(section.rabbitmq.url) not in {"amqp", "amqps"}:
        message = "must be an amqp:// or amqps:// URL" if section.rabbitmq.url else "url is missing"
        yield _Problem(Severity.MISTAKE, "broker", url, message, "as in amqps://rabbitmq:5671")
    if section.type == "embedded" and not section.embedded.address:
        yield _Problem(Severity.MISTAKE, "broker", ("broker", "embedded", "address"), "address is missing")
    if section.type == "googlepubsub" and not section.googlepubsub.project_id:
        yield _Problem(Severity.MISTAKE, "broker", ("broker", "googlepubsub", "project_id"), "project_id is missing")


def _has_password(url: str) -> bool:
    try:
        return bool(urlsplit(url).password)
    except ValueError:
        return False
