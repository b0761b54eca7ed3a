"""The conditions that each program reports and the reasons it gives, from its source."""

import re
from collections.abc import Iterator
from pathlib import Path

from controlplane_adapter.status import reasons
from controlplane_adapter.status.deletion import Stage
from dpu_bridge.api import conditions as bridge
from lab.reference.tables import codes
from status_reporter.verdict import REASONS as REPORTER_REASONS

_ROOT = Path(__file__).parents[2]
_ADAPTER_TYPES = ("Applied", "Available", "Health", "Finalized")
_GIVEN = re.compile(r'(?:reason=|Refuse\(|_refused\(|_not_available\(|return )"([A-Z][A-Za-z]+)"')
_BRIDGE_GIVEN = re.compile(
    r'(?:reason(?:: str)? ?= ?|_refused\(|_cleanup\(|(?:done|blocked|waiting)\(\w+, )\s*"([A-Z][A-Za-z]+)"'
)
_IN_TASK_CONFIG = re.compile(r'"reason": "(\w+)"|orValue\("(JobFailed)"\)')


def sections() -> Iterator[tuple[str, str]]:
    """Title and content."""
    yield "Control plane adapter", _lines(_ADAPTER_TYPES, _of_adapter(), "controlplane-adapter.md#conditions")
    yield (
        "Dispatcher, for the shipped adapter",
        _lines(_ADAPTER_TYPES, _of_task_config(), "operating-the-dispatcher.md#troubleshooting"),
    )
    yield (
        "Status reporter, where the adapter left no report",
        _lines(("those of `CONDITION_TYPE`",), REPORTER_REASONS, "status-reporter.md#reading-a-job"),
    )
    types = sorted(value for name, value in vars(bridge).items() if name.isupper() and isinstance(value, str))
    yield "DPU bridge", _lines(types, _of_bridge(), "dpu-bridge.md#conditions")


def _lines(types: tuple[str, ...] | list[str], given: set[str] | frozenset[str], page: str) -> str:
    shown = types[0] if "`" in types[0] else codes(types)
    return f"Conditions: {shown}.\n\nReasons: {codes(sorted(given))}.\n\n[What they mean]({page})\n"


def _of_adapter() -> set[str]:
    sources = (_ROOT / "controlplane_adapter").glob("[rs]*/*.py")
    given = {name for path in sources for name in _GIVEN.findall(path.read_text(encoding="utf-8"))}
    return given | {*reasons._REASONS.values()} | {str(each) for each in Stage}  # noqa: SLF001 - the table itself


def _of_task_config() -> set[str]:
    path = _ROOT / "jobs" / "controlplane" / "hypershift-controlplane-task-config.yaml"
    found = _IN_TASK_CONFIG.findall(path.read_text(encoding="utf-8"))
    return {name for pair in found for name in pair if name}


def _of_bridge() -> set[str]:
    sources = (_ROOT / "dpu_bridge").glob("**/*.py")
    return {name for path in sources for name in _BRIDGE_GIVEN.findall(path.read_text(encoding="utf-8"))}
