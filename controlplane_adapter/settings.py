"""The settings of the container, from its environment; all problems are reported together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from controlplane_adapter import setting_table as table
from controlplane_adapter.hostedcluster.model import Json
from controlplane_adapter.hostedcluster.overlay import read_overlay
from controlplane_adapter.hostedcluster.render_settings import RenderSettings
from controlplane_adapter.reconcile.placement import FixedPlacement, ListedPlacement, Placement
from controlplane_adapter.reconcile.request import Request
from controlplane_adapter.setting_table import DEFAULT_SOURCE, RESERVE_SECONDS, RETRY_ATTEMPTS
from controlplane_adapter.status.thresholds import Thresholds
from shared.environment import Environment
from shared.errors import Invalid, Misconfigured, Problem
from shared.files import read_regular_file
from shared.maestro import MaestroSettings, file_problems
from shared.model.snapshot import ClusterSnapshot
from shared.untrusted_json import MAX_BYTES

MAX_INLINE_BYTES = 120 * 1024
CANNOT_START = "the control plane adapter cannot start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`consumer` or `placement_url` is for a new control plane; `confirmation` limits the wait for the agent."""

    snapshot: ClusterSnapshot
    consumer: str
    placement_url: str
    overlay: Json
    budget: float
    confirmation: float
    maestro: MaestroSettings
    render: RenderSettings
    thresholds: Thresholds

    @property
    def request(self) -> Request:
        placement: Placement = FixedPlacement(self.consumer)
        if self.placement_url:
            placement = ListedPlacement(self.placement_url, self.maestro.timeout, self.maestro.retry)
        return Request(
            snapshot=self.snapshot,
            render=self.render,
            overlay=self.overlay,
            placement=placement,
            confirmation=self.confirmation,
        )


def results_path(variables: Mapping[str, str]) -> Path:
    """The path of the report; it needs no other setting to be valid."""
    return Environment(variables).read(table.RESULTS_PATH)


def load(variables: Mapping[str, str]) -> Settings:
    """The settings; all problems together where there are any."""
    settings, problems = read(variables)
    if problems or settings is None:
        raise Misconfigured(CANNOT_START, problems)
    return settings


def read(variables: Mapping[str, str]) -> tuple[Settings | None, list[Problem]]:
    """The settings and all problems.

    A malformed setting has its default, which is enough to observe a cluster. There are no settings where the snapshot
    or the way to Maestro is wrong.
    """
    environment = Environment(variables)
    budget = environment.read(table.BUDGET)
    snapshot = _snapshot(environment)
    maestro = _maestro(variables, budget, environment.problems)
    consumer, placement_url = environment.read(table.CONSUMER), environment.read(table.CLUSTERS_URL)
    confirmation, thresholds = environment.read(table.CONFIRMATION), _thresholds(environment)
    overlay, render = _overlay(environment), _render(environment)
    if environment.origin(table.CONSUMER) is None and environment.origin(table.CLUSTERS_URL) is None:
        environment.problems.append(Problem(table.CONSUMER.name, f"must be set (or {table.CLUSTERS_URL.name})"))
    problems = environment.problems
    if problems:
        problems += _file_problems(variables, budget, problems)
    if snapshot is None or maestro is None:
        return None, problems
    settings = Settings(
        snapshot=snapshot,
        consumer=consumer,
        placement_url=placement_url,
        overlay=overlay,
        budget=budget,
        # A run that waited until its end could only report a timeout.
        confirmation=min(confirmation, (budget - RESERVE_SECONDS) / 2),
        maestro=maestro,
        render=render,
        thresholds=thresholds,
    )
    return settings, problems


def _thresholds(environment: Environment) -> Thresholds:
    return Thresholds(
        degraded=environment.read(table.DEGRADED),
        install=environment.read(table.INSTALL),
        deletion=environment.read(table.DELETION),
        agent_silence=environment.read(table.AGENT_SILENCE),
    )


def _snapshot(environment: Environment) -> ClusterSnapshot | None:
    path, inline = environment.read(table.SNAPSHOT_PATH), environment.read(table.SNAPSHOT)
    source = table.SNAPSHOT.name if path is None else table.SNAPSHOT_PATH.name
    try:
        snapshot = ClusterSnapshot.parse(_inline(inline) if path is None else read_regular_file(path, MAX_BYTES))
    except Invalid as error:
        problems = error.problems or (Problem("", str(error)),)
        environment.problems += [Problem(f"{source}: {each.path}".rstrip(": "), each.message) for each in problems]
        return None
    except OSError as error:
        environment.problems.append(Problem(source, f"{path}: {error.strerror or error}"))
        return None
    mismatches = list(_mismatches(environment, snapshot))
    environment.problems += mismatches
    return None if mismatches else snapshot


def _mismatches(environment: Environment, snapshot: ClusterSnapshot) -> Iterator[Problem]:
    """Where the Job names another cluster or generation than its snapshot."""
    for setting, actual in ((table.CLUSTER_ID, snapshot.cluster_id), (table.GENERATION, str(snapshot.generation))):
        expected = environment.read(setting)
        if expected and expected != actual:
            yield Problem(setting.name, f"is {expected!r:.60}, but the snapshot has {actual!r:.60}")


def _inline(text: str) -> bytes:
    content = text.encode(errors="surrogateescape")
    if not content:
        raise Invalid("no snapshot", [Problem("", f"must be set (or {table.SNAPSHOT_PATH.name})")])
    if len(content) > MAX_INLINE_BYTES:
        size = f"has {len(content)} bytes, more than {MAX_INLINE_BYTES}"
        raise Invalid("too large", [Problem("", f"{size}; use {table.SNAPSHOT_PATH.name} instead")])
    return content


def _maestro(variables: Mapping[str, str], budget: float, problems: list[Problem]) -> MaestroSettings | None:
    """Those of Maestro; a malformed one has its default. None where a malformed one has no default."""
    try:
        return _load_maestro(variables, budget)
    except Misconfigured as error:
        problems += error.problems
        wrong = {each.path for each in error.problems}
    return _maestro_without(wrong, variables, budget) if wrong <= table.maestro_names_with_default() else None


def _maestro_without(names: set[str], variables: Mapping[str, str], budget: float) -> MaestroSettings | None:
    try:
        return _load_maestro({name: text for name, text in variables.items() if name not in names}, budget)
    except Misconfigured:
        return None


def _load_maestro(variables: Mapping[str, str], budget: float) -> MaestroSettings:
    derived = {
        "source_id": (DEFAULT_SOURCE, "MAESTRO_SOURCE_ID"),
        "retry_attempts": (RETRY_ATTEMPTS, "MAESTRO_RETRY_ATTEMPTS"),
        "retry_budget": (max(1.0, budget / 2 - RESERVE_SECONDS), table.BUDGET.name),
    }
    return MaestroSettings.load(variables, derived=derived)


def _file_problems(variables: Mapping[str, str], budget: float, known: list[Problem]) -> list[Problem]:
    """What is wrong with the files for Maestro, as far as the other settings let them be found."""
    wrong = {each.path for each in known}
    maestro = _maestro_without(wrong, variables, budget)
    return [] if maestro is None else [each for each in file_problems(maestro) if each.path not in wrong]


def _overlay(environment: Environment) -> Json:
    path = environment.read(table.OVERLAY_PATH)
    if path is None:
        return {}
    try:
        return read_overlay(path)
    except Misconfigured as error:
        environment.problems.append(Problem(table.OVERLAY_PATH.name, str(error)))
        return {}


def _render(environment: Environment) -> RenderSettings:
    """A variable that is set and empty removes a default."""
    return RenderSettings(**{name: environment.read(each) for name, each in table.render_settings().items()})
