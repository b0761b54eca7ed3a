"""How the runtime is operated, from environment variables of its own. None of them exists in the Go adapter."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dispatcher.brokers.consuming import DEFAULT_GIVE_UP_SECONDS
from dispatcher.observability.server import HEALTH_PORT, METRICS_PORT
from dispatcher.runtime.scheduling.queue import DEFAULT_DEADLINE_SECONDS
from shared.environment import Environment, Setting, flag, positive_duration, quoted, whole_number
from shared.errors import Misconfigured
from shared.times import parse_duration

_LAST_PORT = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeSettings:
    """Durations are seconds. Empty texts stand for what the pod says: its namespace and its name."""

    host: str
    health_port: int
    metrics_port: int
    show_objects: bool
    run_deadline: float
    shutdown_grace: float
    broker_give_up_after: float
    status_silence: float
    leader_election: bool
    lease_namespace: str
    identity: str


def _port(text: str) -> int:
    port = whole_number(text)
    if not 0 <= port <= _LAST_PORT:
        raise ValueError(f"must be a port from 0 to {_LAST_PORT}, not {quoted(text)}")
    return port


# Probes and Prometheus come from other machines.
_HOST = Setting("HYPERFLEET_LISTEN_HOST", str, "0.0.0.0", "address of both ports", shown="0.0.0.0")  # noqa: S104
_HEALTH_PORT = Setting(
    "HYPERFLEET_HEALTH_PORT", _port, HEALTH_PORT, "/healthz, /readyz, /config, /objects", shown="8080"
)
_METRICS_PORT = Setting("HYPERFLEET_METRICS_PORT", _port, METRICS_PORT, "/metrics", shown="9090")
_OBJECTS = Setting("HYPERFLEET_OBJECTS_ENABLED", flag, default=False, meaning="serve GET /objects", shown="false")
_DEADLINE = Setting(
    "HYPERFLEET_RUN_DEADLINE", positive_duration, DEFAULT_DEADLINE_SECONDS, "longest run of one object", shown="5m"
)
_GRACE = Setting(
    "HYPERFLEET_SHUTDOWN_GRACE", parse_duration, 25.0, "time that running work has after SIGTERM", shown="25s"
)
_GIVE_UP = Setting(
    "HYPERFLEET_BROKER_GIVE_UP_AFTER",
    positive_duration,
    DEFAULT_GIVE_UP_SECONDS,
    "time without a broker after which the process ends with an error",
    shown="1h",
)
_SILENCE = Setting(
    "HYPERFLEET_STATUS_SILENCE",
    parse_duration,
    180.0,
    "how long a fresh Job may be silent before a status is sent without it",
    shown="3m",
)
_ELECTION = Setting(
    "HYPERFLEET_LEADER_ELECTION",
    flag,
    default=True,
    meaning="share watches and timers of several replicas by a Lease",
    shown="true",
)
_NAMESPACE = Setting("HYPERFLEET_LEASE_NAMESPACE", str, "", "namespace of the Lease", shown="the pod's")
_IDENTITY = Setting("POD_NAME", str, "", "who holds the Lease", shown="the host's name")

SETTINGS: tuple[Setting[Any], ...] = (
    _HOST,
    _HEALTH_PORT,
    _METRICS_PORT,
    _OBJECTS,
    _DEADLINE,
    _GRACE,
    _GIVE_UP,
    _SILENCE,
    _ELECTION,
    _NAMESPACE,
    _IDENTITY,
)


def read_settings(variables: Mapping[str, str]) -> RuntimeSettings:
    """Raises Misconfigured with everything that is wrong."""
    environment = Environment(variables)
    settings = RuntimeSettings(
        host=environment.read(_HOST),
        health_port=environment.read(_HEALTH_PORT),
        metrics_port=environment.read(_METRICS_PORT),
        show_objects=environment.read(_OBJECTS),
        run_deadline=environment.read(_DEADLINE),
        shutdown_grace=environment.read(_GRACE),
        broker_give_up_after=environment.read(_GIVE_UP),
        status_silence=environment.read(_SILENCE),
        leader_election=environment.read(_ELECTION),
        lease_namespace=environment.read(_NAMESPACE),
        identity=environment.read(_IDENTITY),
    )
    if environment.problems:
        raise Misconfigured("the dispatcher's settings cannot be used", environment.problems)
    return settings
