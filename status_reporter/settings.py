"""The sidecar's settings, from the environment: both spellings of each name, and all problems at once."""

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from shared import log_settings
from shared.environment import Environment, Setting, absolute_file, one_of, positive_duration, url
from shared.errors import Invalid, Misconfigured, Problem
from shared.model.conditions import Condition

RESERVED_TYPES = frozenset({"Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"})
# Each with its longest message, they stay far below what an API server takes in one request.
MAX_CONDITIONS = 100
REPORT_FILE = "/results/adapter-report.json"
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
TERMINATION_LOG = "/dev/termination-log"


class Settings(NamedTuple):
    """`job_name` is None where the pod's owner names the Job; `cluster_id`, `generation` and `consumer` are logged."""

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
    cluster_id: str
    generation: str
    consumer: str


class MisconfiguredReporter(Misconfigured):
    """Settings that cannot work. `usable` has defaults for the invalid ones, so that the failure can be reported."""

    def __init__(self, problems: list[Problem], usable: Settings) -> None:
        super().__init__("the status reporter cannot be set up", problems)
        self.usable = usable


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


_RESULTS = Setting(
    "RESULTS_INPUT_PATH",
    absolute_file,
    Path(REPORT_FILE),
    "the report file",
    aliases=("RESULTS_PATH",),
    shown=REPORT_FILE,
)
_POLL_INTERVAL = Setting(
    "POLL_INTERVAL",
    positive_duration,
    2.0,
    "how often to read the file where file events do not come",
    aliases=("POLL_INTERVAL_SECONDS",),
    shown="2s",
)
_MAX_WAIT = Setting("MAX_WAIT_TIME_SECONDS", positive_duration, 300.0, "how long to wait for a report", shown="300")
_CONDITION_TYPES: Setting[tuple[str, ...]] = Setting(
    "CONDITION_TYPE",
    _types,
    ("Available",),
    "conditions to set when the adapter writes no report, a list",
    shown="Available",
)
_CONTAINER: Setting[str | None] = Setting(
    "ADAPTER_CONTAINER_NAME", str, None, "the adapter's container", shown="the only other one"
)
_JOB_NAME: Setting[str | None] = Setting("JOB_NAME", str, None, "the Job", shown="the pod's owner")
_NAMESPACE = Setting("JOB_NAMESPACE", str, "", "the namespace", shown="the service account's")
_CLUSTER_ID = Setting("CLUSTER_ID", str, "", "the cluster, for the log", shown="the pod's label")
_GENERATION = Setting("GENERATION", str, "", "its generation, for the log", shown="the pod's label")
_CONSUMER = Setting("MANAGEMENT_CLUSTER_CONSUMER", str, "", "its management cluster, for the log")
_POD_NAME = Setting("POD_NAME", str, "", "this pod", shown="the host's name")
_GRACE = Setting(
    "SHUTDOWN_GRACE_SECONDS",
    positive_duration,
    20.0,
    "how long to wait for a last report and write it after SIGTERM",
    shown="20",
)
_LOG_FORMAT = Setting("LOG_FORMAT", one_of("json", "text"), "json", "json, text; to standard error", shown="json")
_TERMINATION_LOG = Setting(
    "TERMINATION_MESSAGE_PATH", Path, Path(TERMINATION_LOG), "the termination message", shown=TERMINATION_LOG
)
_API_URL = Setting("KUBERNETES_API_URL", url, "", "the API server, for use outside a pod")
_ACCOUNT = Setting(
    "SERVICE_ACCOUNT_PATH", Path, Path(ACCOUNT), "folder with token, ca.crt and namespace", shown=ACCOUNT
)
SETTINGS: tuple[Setting[object], ...] = (
    _RESULTS,
    _MAX_WAIT,
    _POLL_INTERVAL,
    _CONDITION_TYPES,
    _CONTAINER,
    _JOB_NAME,
    _NAMESPACE,
    _POD_NAME,
    _GRACE,
    log_settings.LEVEL,
    _LOG_FORMAT,
    _CLUSTER_ID,
    _GENERATION,
    _CONSUMER,
    _TERMINATION_LOG,
    _API_URL,
    _ACCOUNT,
)


def load(variables: Mapping[str, str]) -> Settings:
    environment = Environment(variables)
    account = environment.read(_ACCOUNT)
    settings = Settings(
        results_path=environment.read(_RESULTS),
        poll_interval=environment.read(_POLL_INTERVAL),
        max_wait=environment.read(_MAX_WAIT),
        pod_name=environment.read(_POD_NAME) or socket.gethostname(),
        namespace=environment.read(_NAMESPACE) or _first_line(account / "namespace"),
        job_name=environment.read(_JOB_NAME),
        condition_types=environment.read(_CONDITION_TYPES),
        adapter_container=environment.read(_CONTAINER),
        api_url=environment.read(_API_URL) or _service_url(variables),
        account=account,
        grace=environment.read(_GRACE),
        termination_log=environment.read(_TERMINATION_LOG),
        log_level=environment.read(log_settings.LEVEL),
        log_format=environment.read(_LOG_FORMAT),
        cluster_id=environment.read(_CLUSTER_ID),
        generation=environment.read(_GENERATION),
        consumer=environment.read(_CONSUMER),
    )
    problems = environment.problems + _missing(settings)
    if problems:
        raise MisconfiguredReporter(problems, settings)
    return settings


def _missing(settings: Settings) -> list[Problem]:
    problems = []
    if not settings.namespace:
        problems.append(Problem("JOB_NAMESPACE", f"must be set: {settings.account / 'namespace'} cannot be read"))
    if not settings.api_url:
        problems.append(Problem("KUBERNETES_SERVICE_HOST", "is not set; outside a pod, set KUBERNETES_API_URL"))
    if settings.poll_interval >= settings.max_wait:
        problems.append(Problem("POLL_INTERVAL", "must be less than MAX_WAIT_TIME_SECONDS"))
    return problems


def _service_url(variables: Mapping[str, str]) -> str:
    host, port = variables.get("KUBERNETES_SERVICE_HOST", ""), variables.get("KUBERNETES_SERVICE_PORT", "443")
    return f"https://{f'[{host}]' if ':' in host else host}:{port}" if host and port.isdecimal() else ""


def _first_line(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""
