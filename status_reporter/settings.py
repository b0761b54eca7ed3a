"""What the sidecar is told by its environment; both spellings of each name, and all problems at once."""

import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from shared.conditions import Condition
from shared.errors import Invalid, Misconfigured, Problem
from shared.times import parse_duration

RESERVED_TYPES = frozenset({"Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"})
LEVELS = ("debug", "info", "warn", "warning", "error")
FORMATS = ("json", "text")
LONGEST_SECONDS = 365 * 24 * 3600.0
DEFAULT_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`job_name` is None where the pod's owner is to be asked for it."""

    results_path: Path
    poll_interval: float
    max_wait: float
    pod_name: str
    namespace: str
    job_name: str | None
    condition_types: tuple[str, ...]
    adapter_container: str | None
    api_url: str
    account: Path
    grace: float
    termination_log: Path
    log_level: str
    log_format: str


class MisconfiguredReporter(Misconfigured):
    """Settings that cannot work; `usable` is what could be understood of them, to report the failure with."""

    def __init__(self, problems: list[Problem], usable: Settings) -> None:
        super().__init__("the status reporter cannot be set up", problems)
        self.usable = usable


def load(environment: Mapping[str, str]) -> Settings:
    reader = _Reader(environment)
    account = Path(reader.text("SERVICE_ACCOUNT_PATH") or DEFAULT_ACCOUNT)
    settings = Settings(
        results_path=reader.read(
            _absolute, "RESULTS_INPUT_PATH", "RESULTS_PATH", default="/results/adapter-report.json"
        ),
        poll_interval=reader.read(_positive, "POLL_INTERVAL", "POLL_INTERVAL_SECONDS", default="2"),
        max_wait=reader.read(_positive, "MAX_WAIT_TIME_SECONDS", default="300"),
        pod_name=reader.text("POD_NAME") or socket.gethostname(),
        namespace=reader.text("JOB_NAMESPACE") or _first_line(account / "namespace"),
        job_name=reader.text("JOB_NAME") or None,
        condition_types=reader.read(_types, "CONDITION_TYPE", default="Available"),
        adapter_container=reader.text("ADAPTER_CONTAINER_NAME") or None,
        api_url=reader.read(_address, "KUBERNETES_API_URL", default="") or _service_url(environment),
        account=account,
        grace=reader.read(_positive, "SHUTDOWN_GRACE_SECONDS", default="20"),
        termination_log=Path(reader.text("TERMINATION_MESSAGE_PATH") or "/dev/termination-log"),
        log_level=reader.read(_one_of(LEVELS), "LOG_LEVEL", default="info"),
        log_format=reader.read(_one_of(FORMATS), "LOG_FORMAT", default="json"),
    )
    problems = reader.problems + _missing(settings)
    if problems:
        raise MisconfiguredReporter(problems, settings)
    return settings


class _Reader:
    """Reads the first variable that is set; a malformed one is noted and its default taken, to go on reading."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.problems: list[Problem] = []

    def text(self, name: str) -> str:
        return self._environment.get(name, "").strip()

    def read(self, parse: Callable[[str], T], *names: str, default: str) -> T:
        for name in names:
            if text := self.text(name):
                try:
                    return parse(text)
                except ValueError as error:
                    self.problems.append(Problem(name, str(error)))
        return parse(default)


def _missing(settings: Settings) -> list[Problem]:
    problems = []
    if not settings.namespace:
        problems.append(Problem("JOB_NAMESPACE", f"must be set: {settings.account / 'namespace'} does not tell it"))
    if not settings.api_url:
        problems.append(
            Problem("KUBERNETES_SERVICE_HOST", "is not set: is this a pod? KUBERNETES_API_URL would do too")
        )
    if settings.poll_interval >= settings.max_wait:
        problems.append(Problem("POLL_INTERVAL", "must be less than MAX_WAIT_TIME_SECONDS"))
    return problems


def _service_url(environment: Mapping[str, str]) -> str:
    host, port = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "443")
    return f"https://{f'[{host}]' if ':' in host else host}:{port}" if host and port.isdecimal() else ""


def _first_line(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


def _absolute(text: str) -> Path:
    if text.endswith("/") or not Path(text).is_absolute():
        raise ValueError(f"must be the absolute path of a file, not {text!r}")
    return Path(text)


def _positive(text: str) -> float:
    seconds = parse_duration(text)
    if not 0 < seconds <= LONGEST_SECONDS:
        raise ValueError(f"must be more than 0 and at most a year, not {text!r}")
    return seconds


def _address(text: str) -> str:
    parts = urlsplit(text)
    if text and (parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0):
        raise ValueError(f"must be an address such as https://10.0.0.1:443, not {text!r}")
    return text


def _types(text: str) -> tuple[str, ...]:
    types = tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    if reserved := RESERVED_TYPES.intersection(types):
        raise ValueError(f"{', '.join(sorted(reserved))} belongs to the Job controller; name a condition of your own")
    if not types:
        raise ValueError("must name at least one condition")
    try:
        return tuple(Condition.from_kubernetes({"type": each, "status": "Unknown"}).type for each in types)
    except Invalid as error:
        raise ValueError(error.why) from error


def _one_of(allowed: tuple[str, ...]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}, not {text!r}")
        return text.lower()

    return parse
