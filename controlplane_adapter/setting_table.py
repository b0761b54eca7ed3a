"""The table of the adapter's own settings: names, parsers, defaults and meanings, for reading and for `--help`."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from controlplane_adapter.hostedcluster.render_settings import MEANINGS, RenderSettings, variable
from shared.environment import LONGEST_SECONDS, Setting, pairs, quoted, url
from shared.maestro import OPTIONS
from shared.model.manifestwork_validation import is_label_name
from shared.times import parse_duration

DEFAULT_SOURCE = "controlplane-adapter"
# More than any budget allows: the time decides, not the number.
RETRY_ATTEMPTS = 1000
# The part of the time budget that is reserved for writing the report.
RESERVE_SECONDS = 5.0
_MAX_DIGITS = 10
_LONGEST_SHOWN = 45


def _duration(text: str) -> float:
    seconds = parse_duration(text)
    if seconds > LONGEST_SECONDS:
        raise ValueError(f"must be at most a year, not {quoted(text)}")
    return seconds


def _budget(text: str) -> float:
    seconds = _duration(text)
    if seconds <= RESERVE_SECONDS:
        raise ValueError(f"must be more than {RESERVE_SECONDS:g}s, which are reserved for the report")
    return seconds


def _consumer(text: str) -> str:
    if not is_label_name(text):
        raise ValueError(f"must be the name of a management cluster such as us-east-mgmt-01, not {quoted(text)}")
    return text


def _file(text: str) -> Path:
    if "\0" in text:
        raise ValueError(f"must be the path of a file, not {quoted(text)}")
    return Path(text)


def _strings(text: str) -> str | tuple[str, ...]:
    return tuple(each.strip() for each in text.split(",")) if "," in text else text


def _numbers(text: str) -> int | tuple[int, ...] | None:
    parts = [each.strip() for each in text.split(",")]
    if not text:
        return None
    if not all(each.isascii() and each.isdigit() and len(each) < _MAX_DIGITS for each in parts):
        raise ValueError(f"must be a whole number, or several such as 23,64, not {quoted(text)}")
    return tuple(map(int, parts)) if len(parts) > 1 else int(text)


SNAPSHOT_PATH: Setting[Path | None] = Setting(
    "CLUSTER_SNAPSHOT_PATH", _file, None, "file with the cluster of this Job: {cluster, nodepools, adapters}"
)
SNAPSHOT = Setting("CLUSTER_SNAPSHOT", str, "", "the same, inline, at most 120 KiB")
CLUSTER_ID = Setting("CLUSTER_ID", str, "", "if set, the snapshot must have this id")
GENERATION = Setting("GENERATION", str, "", "if set, the snapshot must have this generation")
JOB_NAME = Setting("JOB_NAME", str, "", "the Job, for the log")
CONSUMER = Setting(
    "MANAGEMENT_CLUSTER_CONSUMER", _consumer, "", "management cluster (Maestro consumer) for a new control plane"
)
CLUSTERS_URL = Setting("MANAGEMENT_CLUSTERS_URL", url, "", "or: list of management clusters, ?region=…&status=healthy")
RESULTS_PATH = Setting(
    "RESULTS_OUTPUT_PATH",
    _file,
    Path("/results/adapter-report.json"),
    "path of the report",
    shown="/results/adapter-report.json",
)
TERMINATION_PATH = Setting(
    "TERMINATION_MESSAGE_PATH",
    _file,
    Path("/dev/termination-log"),
    "where a failure is written for the pod's status",
    shown="/dev/termination-log",
)
BUDGET = Setting("ADAPTER_TIME_BUDGET", _budget, 120.0, "time limit of a run", shown="120s")
CONFIRMATION = Setting("CONFIRMATION_WAIT", _duration, 20.0, "wait for the agent after a write", shown="20s")
DEGRADED = Setting(
    "DEGRADED_DAMPING", _duration, 300.0, "how long it may be degraded before Health is False", shown="5m"
)
INSTALL = Setting("INSTALL_DAMPING", _duration, 2700.0, "the same while it was never available", shown="45m")
DELETION = Setting(
    "DELETION_STUCK_AFTER", _duration, 1800.0, "a deletion that takes longer is reported as stuck", shown="30m"
)
AGENT_SILENCE = Setting(
    "AGENT_SILENT_AFTER", _duration, 300.0, "an answer that takes longer is reported as missing", shown="5m"
)
OVERLAY_PATH: Setting[Path | None] = Setting(
    "HOSTED_CLUSTER_OVERLAY_PATH", _file, None, "partial HostedCluster (YAML or JSON), merged over every one"
)

SETTINGS: tuple[Setting[object], ...] = (
    *(SNAPSHOT_PATH, SNAPSHOT, CLUSTER_ID, GENERATION, CONSUMER, CLUSTERS_URL, JOB_NAME),
    *(RESULTS_PATH, TERMINATION_PATH),
    *(BUDGET, CONFIRMATION, DEGRADED, INSTALL, DELETION, AGENT_SILENCE, OVERLAY_PATH),
)

# By the type of the field. A field of another type needs another row.
_PARSERS: Mapping[Any, Callable[[str], Any]] = {
    str: str,
    str | tuple[str, ...]: _strings,
    int | tuple[int, ...] | None: _numbers,
    Mapping[str, str]: pairs,
}


def render_settings() -> dict[str, Setting[Any]]:
    """One setting per field of RenderSettings."""
    defaults = RenderSettings()
    return {
        field.name: Setting(
            variable(field.name),
            _PARSERS[field.type],
            getattr(defaults, field.name),
            MEANINGS[field.name],
            shown=_shown(getattr(defaults, field.name)),
            empty_counts=True,
        )
        for field in fields(RenderSettings)
    }


def maestro_settings() -> list[Setting[Any]]:
    """Those of the Maestro client, with the adapter's own defaults."""
    shown = {
        "source_id": DEFAULT_SOURCE,
        "retry_attempts": str(RETRY_ATTEMPTS),
        "retry_budget": "half of the time budget",
    }
    return [each.setting._replace(shown=shown.get(each.field, each.setting.shown)) for each in OPTIONS]


def maestro_names_with_default() -> set[str]:
    """The variables of the Maestro client that have a default; addresses, the source and credentials have none."""
    return {name for each in OPTIONS if each.setting.shown for name in each.variables}


def _shown(default: object) -> str:
    """The default in the help, unless it is too long for a line."""
    text = (
        ",".join(f"{key}={value}" for key, value in default.items()) if isinstance(default, Mapping) else str(default)
    )
    return text if default and len(text) <= _LONGEST_SHOWN else ""
