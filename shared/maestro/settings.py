"""Where Maestro is and how to speak to it, from the environment, a YAML file or code.

The names are those of the Go framework's `clients.maestro` and of the documents (MAESTRO_API_URL, MAESTRO_GRPC_URL);
each variable may be written with or without the prefix HYPERFLEET_. The environment wins over the file. Everything
that is wrong is told at once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from shared.errors import Misconfigured, Problem
from shared.retry import LONGEST_WAIT_SECONDS, RetryPolicy
from shared.times import parse_duration

MIN_KEEPALIVE_SECONDS = 10.0
_API_PATH = "/api/maestro/v1"
_TLS_SCHEMES, _PLAIN_SCHEMES = ("https", "grpcs"), ("http", "grpc")


@dataclass(frozen=True, slots=True, kw_only=True)
class MaestroSettings:
    """`source_id` is part of every work's id: never change it once works exist.

    `insecure` means gRPC without TLS and REST without verification, and is the only way to send a token in the open.
    A token goes to the server it was configured for: `token_file` to gRPC, `http_token_file` to REST.
    """

    grpc_server_address: str
    http_server_address: str
    source_id: str
    insecure: bool = False
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    token_file: Path | None = None
    http_ca_file: Path | None = None
    http_token_file: Path | None = None
    timeout: float = 10.0
    server_healthiness_timeout: float = 20.0
    keepalive_time: float = 30.0
    keepalive_timeout: float = 10.0
    retry_attempts: int = 3
    retry_budget: float = 60.0
    relist_interval: float = 300.0
    owner_labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if problems := _problems(self):
            raise Misconfigured("the Maestro client cannot be set up", problems)

    @property
    def grpc_target(self) -> str:
        return _split(self.grpc_server_address)[1]

    @property
    def api_url(self) -> str:
        return self.http_server_address.rstrip("/").removesuffix(_API_PATH) + _API_PATH

    @property
    def rest_ca_file(self) -> Path | None:
        return self.http_ca_file or self.ca_file

    @property
    def retry(self) -> RetryPolicy:
        # No single wait may use up the budget: an outage of half of it must not end a run by chance.
        longest = min(LONGEST_WAIT_SECONDS, self.retry_budget / 6)
        return RetryPolicy(attempts=self.retry_attempts, budget=self.retry_budget, max_delay=longest)

    @classmethod
    def load(cls, environment: Mapping[str, str], clients_maestro: Mapping[str, Any] | None = None) -> Self:
        """Settings from the environment over those of a file's `clients.maestro`."""
        problems: list[Problem] = []
        values = _from_mapping(clients_maestro or {}, problems) | _from_environment(environment, problems)
        missing = [option for option in _OPTIONS if option.required and option.name not in values]
        problems += [Problem(option.path, f"must be set (or {option.variables[0]})") for option in missing]
        if problems:
            raise Misconfigured("the Maestro client cannot be set up", problems)
        return cls(**values)

    @classmethod
    def from_file(cls, path: Path, environment: Mapping[str, str]) -> Self:
        """Settings from the `clients.maestro` of an adapter's configuration file, under the environment's."""
        import yaml  # noqa: PLC0415 - only those who have a file pay for the parser

        try:
            document = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise Misconfigured(f"{path} cannot be read", why=str(error)) from error
        clients = document.get("clients") if isinstance(document, Mapping) else None
        section = clients.get("maestro") if isinstance(clients, Mapping) else None
        return cls.load(environment, section if isinstance(section, Mapping) else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Option:
    name: str
    path: str
    variables: tuple[str, ...]
    read: Callable[[Any], Any]
    required: bool = False


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a string, not {value!r:.60}")  # noqa: TRY004 - told as a problem of the value
    return value.strip()


def _path(value: Any) -> Path:
    return Path(_text(value))


def _seconds(value: Any) -> float:
    return parse_duration(str(value))


def _whole(value: Any) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise ValueError(f"must be a whole number, not {value!r:.60}") from None


def _flag(value: Any) -> bool:
    match str(value).strip().lower():
        case "1" | "t" | "true":
            return True
        case "0" | "f" | "false":
            return False
    raise ValueError(f"must be true or false, not {value!r:.60}")


def _labels(value: Any) -> dict[str, str]:
    if isinstance(value, Mapping):
        return {str(key): str(each) for key, each in value.items()}
    pairs = [each.strip().partition("=") for each in _text(value).split(",") if each.strip()]
    if not all(key and equals for key, equals, _ in pairs):
        raise ValueError("must be labels such as a=b,c=d")
    return {key: each for key, _, each in pairs}


def _option(
    name: str, read: Callable[[Any], Any], *variables: str, path: str | None = None, required: bool = False
) -> _Option:
    names = variables or (f"MAESTRO_{name.upper()}",)
    return _Option(name=name, path=path or name, variables=names, read=read, required=required)


_OPTIONS = (
    _option("grpc_server_address", _text, "MAESTRO_GRPC_URL", "MAESTRO_GRPC_SERVER_ADDRESS", required=True),
    _option("http_server_address", _text, "MAESTRO_API_URL", "MAESTRO_HTTP_SERVER_ADDRESS", required=True),
    _option("source_id", _text, required=True),
    _option("insecure", _flag),
    _option("ca_file", _path, path="auth.tls_config.ca_file"),
    _option("cert_file", _path, path="auth.tls_config.cert_file"),
    _option("key_file", _path, path="auth.tls_config.key_file"),
    _option("http_ca_file", _path, path="auth.tls_config.http_ca_file"),
    _option("token_file", _path, path="auth.token_file"),
    _option("http_token_file", _path, path="auth.http_token_file"),
    _option("timeout", _seconds),
    _option("server_healthiness_timeout", _seconds),
    _option("keepalive_time", _seconds, path="keepalive.time"),
    _option("keepalive_timeout", _seconds, path="keepalive.timeout"),
    _option("retry_attempts", _whole),
    _option("retry_budget", _seconds),
    _option("relist_interval", _seconds),
    _option("owner_labels", _labels),
)
# Members of existing configuration files that say nothing this client does not see by itself.
_ACCEPTED_UNREAD = ("client_id", "auth.type")


def _from_environment(environment: Mapping[str, str], problems: list[Problem]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for option in _OPTIONS:
        names = [f"{prefix}{name}" for prefix in ("HYPERFLEET_", "") for name in option.variables]
        set_names = [name for name in names if environment.get(name, "").strip()]
        if set_names:
            _read(option, environment[set_names[0]], set_names[0], values, problems)
    return values


def _from_mapping(section: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    by_path = {option.path: option for option in _OPTIONS}
    for path, value in _leaves(section, stop_at=by_path):
        is_set = value.strip() if isinstance(value, str) else value is not None
        if not is_set or path in _ACCEPTED_UNREAD:
            continue
        if path not in by_path:
            problems.append(Problem(f"clients.maestro.{path}", f"is unknown; known are {', '.join(sorted(by_path))}"))
            continue
        _read(by_path[path], value, f"clients.maestro.{path}", values, problems)
    return values


def _leaves(section: Mapping[str, Any], *, stop_at: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in section.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping) and path not in stop_at:
            found += _leaves(value, stop_at=stop_at, prefix=f"{path}.")
        else:
            found.append((path, value))
    return found


def _read(option: _Option, value: Any, where: str, values: dict[str, Any], problems: list[Problem]) -> None:
    try:
        values[option.name] = option.read(value)
    except ValueError as error:
        problems.append(Problem(where, str(error)))


def _split(address: str) -> tuple[str, str]:
    """Scheme and host:port of an address that may have no scheme; no host:port where there is none that could work."""
    scheme, separator, _ = address.partition("://")
    if not separator:
        return "", address
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return scheme.lower(), ""
    return parts.scheme, parts.netloc


def _problems(settings: MaestroSettings) -> list[Problem]:
    return [
        *_address_problems(settings),
        *_tls_problems(settings),
        *_number_problems(settings),
    ]


def _address_problems(settings: MaestroSettings) -> list[Problem]:
    problems = []
    scheme, target = _split(settings.grpc_server_address)
    if not target or scheme not in ("", *_TLS_SCHEMES, *_PLAIN_SCHEMES):
        problems.append(
            Problem("grpc_server_address", f"{settings.grpc_server_address!r} is no address such as host:8090")
        )
    elif scheme in _PLAIN_SCHEMES and not settings.insecure:
        problems.append(
            Problem("grpc_server_address", f"{scheme}:// has no TLS; say so with insecure (MAESTRO_INSECURE)")
        )
    scheme, target = _split(settings.http_server_address)
    if not target or scheme not in ("http", "https"):
        problems.append(Problem("http_server_address", f"{settings.http_server_address!r} is no http or https URL"))
    elif scheme == "http" and not settings.insecure:
        problems.append(Problem("http_server_address", "must be https unless insecure (MAESTRO_INSECURE) is set"))
    if not settings.source_id or "'" in settings.source_id:
        problems.append(Problem("source_id", "must be set, without quotes, and never changed once works exist"))
    return problems


def _tls_problems(settings: MaestroSettings) -> list[Problem]:
    problems = []
    if bool(settings.cert_file) != bool(settings.key_file):
        problems.append(Problem("auth.tls_config", "cert_file and key_file belong together: set both or none"))
    system_roots = _split(settings.grpc_server_address)[0] in _TLS_SCHEMES
    if not settings.insecure and not settings.ca_file and not system_roots:
        what = "a token would travel in the open" if settings.token_file else "the server cannot be verified"
        problems.append(
            Problem(
                "auth.tls_config.ca_file",
                f"{what}: set it (MAESTRO_CA_FILE), write the address as https:// to trust the system's authorities, "
                "or set insecure (MAESTRO_INSECURE)",
            )
        )
    return problems


def _number_problems(settings: MaestroSettings) -> list[Problem]:
    waits = {
        "timeout": settings.timeout,
        "keepalive.timeout": settings.keepalive_timeout,
        "relist_interval": settings.relist_interval,
    }
    problems = [Problem(path, "must be more than 0") for path, seconds in waits.items() if seconds <= 0]
    if settings.retry_attempts < 1:
        problems.append(Problem("retry_attempts", "must be at least 1"))
    if settings.keepalive_time < MIN_KEEPALIVE_SECONDS:
        problems.append(
            Problem(
                "keepalive.time", f"must be at least {MIN_KEEPALIVE_SECONDS:.0f}s: Maestro hangs up on faster pings"
            )
        )
    return problems
