"""Reading the report file, and noticing when it changes.

A file that cannot be read or parsed is not a verdict: it may be half-written, or about to be replaced.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from shared.errors import InvalidReport
from shared.model.report import AdapterReport
from status_reporter.report.inotify import FolderWatch
from status_reporter.settings import MAX_CONDITIONS, RESERVED_TYPES
from status_reporter.verdict import Found, Missing, Reading, Unusable

log = logging.getLogger(__name__)


def read(path: Path, *, condition_type: str, attempt_began: datetime | None) -> Reading:
    """The file's content now. A file older than the adapter's current attempt is ignored."""
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
    """Why the report cannot be put on a Job."""
    if all(condition.type in RESERVED_TYPES for condition in report.conditions):
        return "names no condition but those of the Job controller"
    if len(report.conditions) > MAX_CONDITIONS:
        return f"names {len(report.conditions)} conditions; a Job takes at most {MAX_CONDITIONS}"
    return None


def notify_on_change(path: Path, poll_interval: float, notify: Callable[[], None]) -> None:
    """Call `notify` after every change near the file, and once per interval anyway; runs until the process ends."""
    while True:
        try:
            with FolderWatch(path.parent) as watch:
                notify()
                while True:
                    watch.wait(poll_interval)
                    notify()
        except OSError as error:
            log.debug("no file events from %s (%s); reading it every %g s", path.parent, error, poll_interval)
            time.sleep(poll_interval)
            notify()


def _written_at(path: Path) -> int:
    """When the file was written, in whole seconds: the kubelet shows the start of a container no finer."""
    return int(path.stat().st_mtime)
