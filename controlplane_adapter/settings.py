"""What the container is told by its environment, all problems at once.

Each field of `RenderSettings` is a variable of its own, `HOSTED_CLUSTER_<FIELD>`, so a new one needs no code here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from controlplane_adapter.limits import Limits
from controlplane_adapter.render_settings import RenderSettings
from shared.errors import Invalid, Misconfigured, Problem
from shared.maestro import MaestroSettings
from shared.snapshot import ClusterSnapshot
from shared.times import parse_duration

DEFAULT_RESULTS = "/results/adapter-report.json"
DEFAULT_SOURCE = "controlplane-adapter"
MAX_INLINE_BYTES = 120 * 1024
RENDER_PREFIX = "HOSTED_CLUSTER_"
# Of the budget, so much is kept for writing the report and ending.
RESERVE_SECONDS = 5.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`consumer` or `placement_url` says where a new control plane goes; `confirmation` bounds the agent's answer."""

    snapshot: ClusterSnapshot
    consumer: str
    placement_url: str
    overlay_path: Path | None
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
    budget = reader.read("ADAPTER_TIME_BUDGET", parse_duration, 120.0)
    snapshot, maestro = _snapshot(reader), _maestro(reader, budget)
    consumer, placement_url = reader.text("MANAGEMENT_CLUSTER_CONSUMER"), reader.text("MANAGEMENT_CLUSTERS_URL")
    overlay_path = reader.read("HOSTED_CLUSTER_OVERLAY_PATH", Path, None)
    confirmation = reader.read("CONFIRMATION_WAIT", parse_duration, 20.0)
    render, limits = _render(reader), _limits(reader)
    if not consumer and not placement_url:
        reader.problems.append(Problem("MANAGEMENT_CLUSTER_CONSUMER", "must be set (or MANAGEMENT_CLUSTERS_URL)"))
    if reader.problems or snapshot is None or maestro is None:
        raise Misconfigured("the control plane adapter cannot be set up", reader.problems)
    return Settings(
        snapshot=snapshot,
        consumer=consumer,
        placement_url=placement_url,
        overlay_path=overlay_path,
        budget=budget,
        confirmation=confirmation,
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
        if not (text := self.text(name)):
            return default
        try:
            return parse(text)
        except ValueError as error:
            self.problems.append(Problem(name, str(error)))
            return default


def _snapshot(reader: _Reader) -> ClusterSnapshot | None:
    try:
        snapshot = ClusterSnapshot.parse(_snapshot_bytes(reader))
    except Invalid as error:
        reader.problems += [Problem(f"snapshot: {each.path}".rstrip(": "), each.message) for each in error.problems]
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
    content = reader.text("CLUSTER_SNAPSHOT").encode()
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
        **reader.environment,
    }
    try:
        return MaestroSettings.load(environment)
    except Misconfigured as error:
        reader.problems += error.problems
        return None


def _render(reader: _Reader) -> RenderSettings:
    chosen: dict[str, Any] = {}
    default = RenderSettings()
    for field in fields(RenderSettings):
        name = f"{RENDER_PREFIX}{field.name.upper()}"
        if name in reader.environment:
            chosen[field.name] = reader.read(name, _parser(getattr(default, field.name)), getattr(default, field.name))
    return RenderSettings(**chosen)


def _parser(default: Any) -> Callable[[str], Any]:
    match default:
        case Mapping():
            return _pairs
        case None:
            return _numbers
        case _:
            return lambda text: tuple(each.strip() for each in text.split(",")) if "," in text else text


def _pairs(text: str) -> dict[str, str]:
    pairs = [each.strip().partition("=") for each in text.split(",") if each.strip()]
    if not all(key and equals for key, equals, _ in pairs):
        raise ValueError("must be pairs such as a=b,c=d")
    return {key: value for key, _, value in pairs}


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(","))
