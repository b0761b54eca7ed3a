"""What the container is told by its environment, all problems at once.

Each field of `RenderSettings` is a variable of its own, `HOSTED_CLUSTER_<FIELD>`, so a new one needs no code here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from controlplane_adapter.hostedcluster import Json
from controlplane_adapter.limits import Limits
from controlplane_adapter.overlay import read_overlay
from controlplane_adapter.render_settings import RenderSettings, variable
from shared.errors import Invalid, Misconfigured, Problem
from shared.maestro import MaestroSettings
from shared.secrecy import conceal_text
from shared.snapshot import ClusterSnapshot
from shared.times import parse_duration
from shared.work_rules import is_label_name

DEFAULT_RESULTS = "/results/adapter-report.json"
DEFAULT_SOURCE = "controlplane-adapter"
MAX_INLINE_BYTES = 120 * 1024
# Of the budget, so much is kept for writing the report and ending.
RESERVE_SECONDS = 5.0
_MAX_DIGITS = 10

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`consumer` or `placement_url` says where a new control plane goes; `confirmation` bounds the agent's answer."""

    snapshot: ClusterSnapshot
    consumer: str
    placement_url: str
    overlay: Json
    budget: float
    confirmation: float
    maestro: MaestroSettings
    render: RenderSettings
    limits: Limits


def results_path(environment: Mapping[str, str]) -> Path:
    """Where the report goes; known even where nothing else is."""
    return Path(environment.get("RESULTS_OUTPUT_PATH", "").strip() or DEFAULT_RESULTS)


def load(environment: Mapping[str, str]) -> Settings:
    reader = _Reader(environment)
    budget = reader.read("ADAPTER_TIME_BUDGET", _budget, 120.0)
    snapshot, maestro = _snapshot(reader), _maestro(reader, budget)
    consumer = reader.read("MANAGEMENT_CLUSTER_CONSUMER", _consumer, "")
    placement_url = reader.read("MANAGEMENT_CLUSTERS_URL", _url, "")
    confirmation = reader.read("CONFIRMATION_WAIT", parse_duration, 20.0)
    overlay: Json = reader.read("HOSTED_CLUSTER_OVERLAY_PATH", _overlay, {})
    render, limits = _render(reader), _limits(reader)
    if not reader.text("MANAGEMENT_CLUSTER_CONSUMER") and not reader.text("MANAGEMENT_CLUSTERS_URL"):
        reader.problems.append(Problem("MANAGEMENT_CLUSTER_CONSUMER", "must be set (or MANAGEMENT_CLUSTERS_URL)"))
    if reader.problems or snapshot is None or maestro is None:
        raise Misconfigured("the control plane adapter cannot be set up", reader.problems)
    return Settings(
        snapshot=snapshot,
        consumer=consumer,
        placement_url=placement_url,
        overlay=overlay,
        budget=budget,
        # A run that waited to its end could only say that its time is over.
        confirmation=min(confirmation, (budget - RESERVE_SECONDS) / 2),
        maestro=maestro,
        render=render,
        limits=limits,
    )


def _limits(reader: "_Reader") -> Limits:
    usual = Limits()
    return Limits(
        degraded=reader.read("DEGRADED_DAMPING", parse_duration, usual.degraded),
        install=reader.read("INSTALL_DAMPING", parse_duration, usual.install),
        deletion=reader.read("DELETION_STUCK_AFTER", parse_duration, usual.deletion),
        agent_silence=reader.read("AGENT_SILENT_AFTER", parse_duration, usual.agent_silence),
    )


class _Reader:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self.problems: list[Problem] = []

    def text(self, name: str) -> str:
        return self.environment.get(name, "").strip()

    def read(self, name: str, parse: Callable[[str], T], default: T) -> T:
        return self.parse(name, parse, default) if self.text(name) else default

    def parse(self, name: str, parse: Callable[[str], T], default: T) -> T:
        """What the variable says, also where it says nothing."""
        try:
            return parse(self.text(name))
        except ValueError as error:
            self.problems.append(Problem(name, str(error)))
            return default


def _snapshot(reader: _Reader) -> ClusterSnapshot | None:
    try:
        snapshot = ClusterSnapshot.parse(_snapshot_bytes(reader))
    except Invalid as error:
        problems = error.problems or (Problem("", str(error)),)
        reader.problems += [Problem(f"snapshot: {each.path}".rstrip(": "), each.message) for each in problems]
        return None
    except OSError as error:
        reader.problems.append(Problem("CLUSTER_SNAPSHOT_PATH", f"{error.filename}: {error.strerror}"))
        return None
    _check(reader, "CLUSTER_ID", snapshot.cluster_id)
    _check(reader, "GENERATION", str(snapshot.generation))
    return snapshot


def _snapshot_bytes(reader: _Reader) -> bytes:
    if path := reader.text("CLUSTER_SNAPSHOT_PATH"):
        return Path(path).read_bytes()
    content = reader.text("CLUSTER_SNAPSHOT").encode(errors="surrogateescape")
    if not content:
        raise Invalid("no snapshot", [Problem("", "set CLUSTER_SNAPSHOT_PATH, or CLUSTER_SNAPSHOT")])
    if len(content) > MAX_INLINE_BYTES:
        problem = Problem(
            "CLUSTER_SNAPSHOT", f"has {len(content)} bytes, more than {MAX_INLINE_BYTES}; mount it instead"
        )
        raise Invalid("too large", [problem])
    return content


def _check(reader: _Reader, name: str, told: str) -> None:
    """The Job names the cluster and the generation it was made for; another snapshot would be a mix-up."""
    if (expected := reader.text(name)) and expected != told:
        reader.problems.append(Problem(name, f"is {expected!r}, but the snapshot is of {told!r}"))


def _maestro(reader: _Reader, budget: float) -> MaestroSettings | None:
    environment = {
        "MAESTRO_SOURCE_ID": DEFAULT_SOURCE,
        "MAESTRO_RETRY_ATTEMPTS": "1000",
        "MAESTRO_RETRY_BUDGET": f"{max(1.0, budget / 2 - RESERVE_SECONDS):g}",
        **{name: value for name, value in reader.environment.items() if value.strip()},
    }
    try:
        return MaestroSettings.load(environment)
    except Misconfigured as error:
        reader.problems += error.problems
        return None


def _render(reader: _Reader) -> RenderSettings:
    """A variable that is there and empty takes a default away."""
    usual = RenderSettings()
    chosen: dict[str, Any] = {
        field.name: reader.parse(variable(field.name), _PARSERS[field.type], getattr(usual, field.name))
        for field in fields(RenderSettings)
        if variable(field.name) in reader.environment
    }
    return RenderSettings(**chosen)


def _pairs(text: str) -> dict[str, str]:
    pairs = [each.strip().partition("=") for each in text.split(",") if each.strip()]
    if not all(key and equals for key, equals, _ in pairs):
        raise ValueError("must be pairs such as a=b,c=d")
    return {key: value for key, _, value in pairs}


def _texts(text: str) -> str | tuple[str, ...]:
    return tuple(each.strip() for each in text.split(",")) if "," in text else text


def _numbers(text: str) -> int | tuple[int, ...] | None:
    parts = [each.strip() for each in text.split(",")]
    if not text:
        return None
    if not all(each.isascii() and each.isdigit() and len(each) < _MAX_DIGITS for each in parts):
        raise ValueError(f"must be a whole number, or several such as 23,64, not {text!r:.60}")
    return tuple(map(int, parts)) if len(parts) > 1 else int(text)


# By the type of the field. A field of another type needs another row.
_PARSERS: Mapping[Any, Callable[[str], Any]] = {
    str: str,
    str | tuple[str, ...]: _texts,
    int | tuple[int, ...] | None: _numbers,
    Mapping[str, str]: _pairs,
}


def _budget(text: str) -> float:
    seconds = parse_duration(text)
    if seconds <= RESERVE_SECONDS:
        raise ValueError(f"must be more than {RESERVE_SECONDS:g}s, which are kept for the report")
    return seconds


def _consumer(text: str) -> str:
    if not is_label_name(text):
        raise ValueError(f"must be the name of a management cluster such as us-east-mgmt-01, not {text!r:.80}")
    return text


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError(f"must be an http or https URL, not {conceal_text(text)!r:.80}")
    return text


def _overlay(text: str) -> Json:
    try:
        return read_overlay(Path(text))
    except Misconfigured as error:
        raise ValueError(str(error)) from error
