"""Settings that an environment variable or a flag can change: one table for reading, for --help and for the docs.

A flag wins over the environment, the environment over the file, the file over the default. An empty variable counts as
unset. Nothing heavy is imported here, so that --help stays quick.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dispatcher.config.reading.paths import Path
from dispatcher.config.reading.scalars import Scalar

PREFIX: Final = "HYPERFLEET_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """`variables` in the order they are asked; `flag` has no dashes in front and is "" where there is none."""

    path: Path
    variables: tuple[str, ...]
    flag: str
    lowered: bool = False
    """Whether capital letters do not count."""
    switch: bool = False
    """Whether the flag alone means true."""


def _setting(path: str, variable: str, flag: str, *more: str, lowered: bool = False, switch: bool = False) -> Setting:
    return Setting(path=tuple(path.split(".")), variables=(variable, *more), flag=flag, lowered=lowered, switch=switch)


def _maestro(path: str, name: str, *, switch: bool = False) -> Setting:
    flag = f"maestro-{name.lower().replace('_', '-')}"
    return _setting(f"clients.maestro.{path}", f"{PREFIX}MAESTRO_{name}", flag, switch=switch)


def _api(path: str, name: str, flag: str) -> Setting:
    return _setting(f"clients.hyperfleet_api.{path}", f"{PREFIX}API_{name}", flag and f"hyperfleet-api-{flag}")


def _kubernetes(name: str) -> Setting:
    flag = f"kubernetes-{name.replace('_', '-')}"
    return _setting(f"clients.kubernetes.{name}", f"{PREFIX}KUBERNETES_{name.upper()}", flag)


def _broker(name: str) -> Setting:
    variable, flag = f"BROKER_{name.upper()}", f"broker-{name.replace('_', '-')}"
    return _setting(f"clients.broker.{name}", f"{PREFIX}{variable}", flag, variable)


SETTINGS: Final = (
    _setting("debug_config", f"{PREFIX}DEBUG_CONFIG", "debug-config", switch=True),
    _setting("log.level", "LOG_LEVEL", "log-level", lowered=True),
    _setting("log.format", "LOG_FORMAT", "log-format", lowered=True),
    _setting("log.output", "LOG_OUTPUT", "log-output"),
    _api("base_url", "BASE_URL", "base-url"),
    _api("version", "VERSION", "version"),
    _api("timeout", "TIMEOUT", "timeout"),
    _api("retry_attempts", "RETRY_ATTEMPTS", "retry"),
    _api("retry_backoff", "RETRY_BACKOFF", "retry-backoff"),
    _api("base_delay", "BASE_DELAY", "base-delay"),
    _api("max_delay", "MAX_DELAY", "max-delay"),
    _api("auth.token_path", "AUTH_TOKEN_PATH", ""),
    _api("auth.token_cache_ttl", "AUTH_TOKEN_CACHE_TTL", ""),
    _broker("subscription_id"),
    _broker("topic"),
    _kubernetes("kube_config_path"),
    _kubernetes("api_version"),
    _kubernetes("qps"),
    _kubernetes("burst"),
    _maestro("grpc_server_address", "GRPC_SERVER_ADDRESS"),
    _maestro("http_server_address", "HTTP_SERVER_ADDRESS"),
    _maestro("source_id", "SOURCE_ID"),
    _maestro("client_id", "CLIENT_ID"),
    _maestro("auth.type", "AUTH_TYPE"),
    _maestro("auth.tls_config.ca_file", "CA_FILE"),
    _maestro("auth.tls_config.cert_file", "CERT_FILE"),
    _maestro("auth.tls_config.key_file", "KEY_FILE"),
    _maestro("auth.tls_config.http_ca_file", "HTTP_CA_FILE"),
    _maestro("timeout", "TIMEOUT"),
    _maestro("server_healthiness_timeout", "SERVER_HEALTHINESS_TIMEOUT"),
    _maestro("retry_attempts", "RETRY_ATTEMPTS"),
    _maestro("keepalive.time", "KEEPALIVE_TIME"),
    _maestro("keepalive.timeout", "KEEPALIVE_TIMEOUT"),
    _maestro("insecure", "INSECURE", switch=True),
)


@dataclass(frozen=True, slots=True)
class Override:
    """A value that does not come from the file; `origin` is the variable or flag that gave it."""

    path: Path
    value: str
    origin: str


def overrides(data: Any, environment: Mapping[str, str], flags: Mapping[str, str]) -> Iterator[Override]:
    """What variables and flags change in an adapter config, the weaker first."""
    for path in _leaves(data, ()):
        variable = PREFIX + "_".join(map(str, path)).upper()
        if environment.get(variable):
            yield Override(path, environment[variable], f"${variable}")
    for setting in SETTINGS:
        found = _found(setting, environment, flags)
        if found:
            value, origin = found
            yield Override(setting.path, value.lower() if setting.lowered else value, origin)


def _found(setting: Setting, environment: Mapping[str, str], flags: Mapping[str, str]) -> tuple[str, str] | None:
    if setting.flag and setting.flag in flags:
        return flags[setting.flag], f"--{setting.flag}"
    return next(((environment[name], f"${name}") for name in setting.variables if environment.get(name)), None)


def _leaves(data: Any, path: Path) -> Iterator[Path]:
    """The scalars of the file: the Go framework lets a variable named after its path replace each of them."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _leaves(value, (*path, key))
    elif isinstance(data, str | Scalar) and path:
        yield path


def with_overrides(data: Any, found: Sequence[Override]) -> Any:
    """A copy of the data with other values in it."""
    changed = data
    for override in found:
        changed = _with(changed, override.path, override.value)
    return changed


def _with(data: Any, path: Path, value: str) -> Any:
    if not path:
        return value
    step, rest = path[0], path[1:]
    if data is None:
        data = {}
    if not isinstance(data, dict):
        return data
    return {**data, step: _with(data.get(str(step)), rest, value)}
