"""The table of the Maestro client's settings, and where each value comes from: the environment or a file.

The names are those of the Go framework's `clients.maestro` and of the documents (MAESTRO_API_URL, MAESTRO_GRPC_URL);
each variable may be written with or without the prefix HYPERFLEET_. The environment wins over the file.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shared.environment import LONGEST_SECONDS, Environment, Setting, flag, pairs, quoted, whole_number
from shared.errors import Problem
from shared.redaction import redact_text
from shared.times import parse_duration

SECTION = "clients.maestro"
PREFIXES = ("HYPERFLEET_", "")
# Members of existing configuration files that say nothing this client does not see by itself.
_ACCEPTED_UNREAD = ("client_id", "auth.type")


def _duration(text: str) -> float:
    seconds = parse_duration(text)
    if seconds > LONGEST_SECONDS:
        raise ValueError(f"must be at most a year, not {quoted(text)}")
    return seconds


@dataclass(frozen=True, slots=True)
class Option:
    """One field of the settings, its variable and its place below `clients.maestro`."""

    field: str
    setting: Setting[Any]
    path: str

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable that sets it."""
        return tuple(f"{prefix}{name}" for prefix in PREFIXES for name in self.setting.names)


def _option(
    name: str,
    parse: Callable[[str], Any],
    meaning: str,
    *,
    variables: tuple[str, ...] = (),
    path: str = "",
    shown: str = "",
    required: bool = False,
) -> Option:
    first, *aliases = variables or (f"MAESTRO_{name.upper()}",)
    setting = Setting(first, parse, None, meaning, aliases=tuple(aliases), shown=shown, required=required)
    return Option(name, setting, path or name)


OPTIONS = (
    _option(
        "grpc_server_address",
        str,
        "host:port; https:// trusts the system's CAs",
        variables=("MAESTRO_GRPC_URL", "MAESTRO_GRPC_SERVER_ADDRESS"),
        required=True,
    ),
    _option(
        "http_server_address",
        str,
        "REST URL",
        variables=("MAESTRO_API_URL", "MAESTRO_HTTP_SERVER_ADDRESS"),
        required=True,
    ),
    _option("source_id", str, "part of every work's id: never change it", required=True),
    _option("insecure", flag, "gRPC without TLS, REST without verification", shown="false"),
    _option("ca_file", Path, "CA of the gRPC server, and of REST", path="auth.tls_config.ca_file"),
    _option("cert_file", Path, "client certificate for mTLS", path="auth.tls_config.cert_file"),
    _option("key_file", Path, "its key", path="auth.tls_config.key_file"),
    _option("http_ca_file", Path, "another CA for REST", path="auth.tls_config.http_ca_file"),
    _option("token_file", Path, "bearer token for gRPC", path="auth.token_file"),
    _option("http_token_file", Path, "bearer token for REST", path="auth.http_token_file"),
    _option("timeout", _duration, "deadline of every call", shown="10s"),
    _option(
        "server_healthiness_timeout", _duration, "silence after which the stream is reopened; 0: never", shown="20s"
    ),
    _option("keepalive_time", _duration, "pings on the stream, at least 10s", path="keepalive.time", shown="30s"),
    _option("keepalive_timeout", _duration, "how long a ping may take", path="keepalive.timeout", shown="10s"),
    _option("retry_attempts", whole_number, "calls in all when an error is transient", shown="3"),
    _option("retry_budget", _duration, "time for all of them together", shown="60s"),
    _option("relist_interval", _duration, "how often a watch lists anyway", shown="5m"),
    _option("owner_labels", pairs, "labels of everything that is written, such as a=b,c=d"),
)
_BY_PATH = {option.path: option for option in OPTIONS}


@dataclass(slots=True)
class Sources:
    """The values that were set, and the name under which each field is known to whoever set it."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def read_sources(
    variables: Mapping[str, str], section: Mapping[str, Any] | None, derived: Mapping[str, tuple[Any, str]]
) -> Sources:
    """What the environment and a file's `clients.maestro` set; `section` is None where there is no file.

    `derived` has values for fields that neither sets, each with the name of the setting it follows from.
    """
    found = Sources()
    for option in OPTIONS:
        found.origins[option.field] = option.setting.name if section is None else f"{SECTION}.{option.path}"
    _read_section(section or {}, found)
    _read_environment(variables, found)
    for member, (value, origin) in derived.items():
        if member not in found.values:
            found.values[member], found.origins[member] = value, origin
    invalid = {problem.path for problem in found.problems}
    for option in OPTIONS:
        name = found.origins[option.field]
        if option.setting.required and option.field not in found.values and name not in invalid:
            also = "" if section is None else f" (or {option.setting.name})"
            found.problems.append(Problem(name, f"must be set{also}"))
    return found


def _read_environment(variables: Mapping[str, str], found: Sources) -> None:
    environment = Environment(variables, prefixes=PREFIXES)
    for option in OPTIONS:
        origin = environment.origin(option.setting)
        if origin is None:
            continue
        found.origins[option.field] = origin
        found.values.pop(option.field, None)
        value = environment.read(option.setting)
        if value is not None:
            found.values[option.field] = value
    found.problems += environment.problems


def _read_section(section: Mapping[str, Any], found: Sources) -> None:
    for path, value in _leaves(section):
        is_set = value.strip() if isinstance(value, str) else value is not None
        if not is_set or path in _ACCEPTED_UNREAD:
            continue
        name = f"{SECTION}.{path}"
        option = _BY_PATH.get(path)
        if option is None:
            found.problems.append(Problem(name, f"is unknown; known are {', '.join(sorted(_BY_PATH))}"))
            continue
        try:
            found.values[option.field] = _parsed(option.setting, value)
        except ValueError as error:
            found.problems.append(Problem(name, redact_text(str(error))))


def _parsed(setting: Setting[Any], value: Any) -> Any:
    """A YAML value by the parser of its variable."""
    match value:
        case str():
            return setting.parse(value.strip())
        case Mapping() if setting.parse is pairs:
            return {str(key): str(each) for key, each in value.items()}
        case bool() if setting.parse is flag:
            return value
        case int() | float() if setting.parse in (whole_number, _duration) and not isinstance(value, bool):
            return setting.parse(str(value))
    raise ValueError(f"must be a string, not {value!r:.60}")


def _leaves(section: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in section.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping) and path not in _BY_PATH:
            found += _leaves(value, f"{path}.")
        else:
            found.append((path, value))
    return found
