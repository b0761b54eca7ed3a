"""An asynchronous client of Maestro: works and consumers by REST, changes by gRPC CloudEvents, one name per failure.

The names below are the client's interface; the rest of the project uses nothing else of this package, and an
import-linter contract holds it. `wire` is Maestro's wire format, which its stand-in in the lab speaks too.

Consumers and watching are imported by their first use: a Job that finds its work unchanged needs neither.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shared.maestro.client import MaestroClient
from shared.maestro.config.credentials import file_problems
from shared.maestro.config.settings import MaestroSettings
from shared.maestro.config.sources import OPTIONS
from shared.maestro.wire.bundles import differences
from shared.maestro.works.apply_state import ApplyResult, ApplyState, apply_result, current
from shared.maestro.works.identity import work_id
from shared.maestro.works.outcomes import Action, Outcome
from shared.maestro.works.selectors import Selector
from shared.maestro.works.works import Works

if TYPE_CHECKING:
    from shared.maestro.consumers import Consumer
    from shared.maestro.works.feed import Batch, Feed
    from shared.maestro.works.tracking import Change, Rank, WorkEvent, rank, reports_deletion

_IMPORTED_BY_USE = {
    "Consumer": "consumers",
    **dict.fromkeys(("Batch", "Feed"), "works.feed"),
    **dict.fromkeys(("Change", "Rank", "WorkEvent", "rank", "reports_deletion"), "works.tracking"),
}

__all__ = [
    "OPTIONS",
    "Action",
    "ApplyResult",
    "ApplyState",
    "Batch",
    "Change",
    "Consumer",
    "Feed",
    "MaestroClient",
    "MaestroSettings",
    "Outcome",
    "Rank",
    "Selector",
    "WorkEvent",
    "Works",
    "apply_result",
    "current",
    "differences",
    "file_problems",
    "rank",
    "reports_deletion",
    "work_id",
]


def __getattr__(name: str) -> Any:
    module = _IMPORTED_BY_USE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)
