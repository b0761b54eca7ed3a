"""Looking at the report file, and being told when it is worth another look.

A file that cannot be read or understood is not a verdict: it may be half-written, or about to be replaced.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from shared.errors import InvalidReport
from shared.report import AdapterReport
from status_reporter.inotify import FolderWatch
from status_reporter.settings import RESERVED_TYPES
from status_reporter.verdict import Found, Missing, Reading, Unusable

# Each with its longest message, they stay far below what an API server takes in one request.
MAX_CONDITIONS = 100

log = logging.getLogger(__name__)


def look(path: Path, *, condition_type: str, attempt_began: datetime | None) -> Reading:
    """What the file says now. One from before the adapter's present attempt is the former attempt's word."""
    try:
        if attempt_began is not None and _written_at(path) < attempt_began.timestamp():
            return Missing()
        report = AdapterReport.read(path, condition_type=condition_type)
    except FileNotFoundError:
        return Missing()
    except InvalidReport as error:
        return Unusable(str(error))
    except OSError as error:
        return Unusable(f"{path} cannot be read: {error.strerror or error}")
    objection = _objection(report)
    return Unusable(f"{path} {objection}") if objection else Found(report)


def _objection(report: AdapterReport) -> str | None:
    """Why no Job can be told what the report says."""
    if all(condition.type in RESERVED_TYPES for condition in report.conditions):
        return "names no condition but those of the Job controller"
    if len(report.conditions) > MAX_CONDITIONS:
        return f"names {len(report.conditions)} conditions; a Job takes at most {MAX_CONDITIONS}"
    return None


def tell_when_changed(path: Path, poll_interval: float, tell: Callable[[], None]) -> None:
    """Call `tell` after every change near the file, and once per interval anyway; runs until the process ends."""
    while True:
        try:
            with FolderWatch(path.parent) as watch:
                tell()
                while True:
                    watch.wait(poll_interval)
                    tell()
        except OSError as error:
            log.debug("no file events from %s (%s); looking every %g s", path.parent, error, poll_interval)
            time.sleep(poll_interval)
            tell()


def _written_at(path: Path) -> int:
    """When the file was written, to the second: the kubelet tells the start of a container no finer."""
    return int(path.stat().st_mtime)
