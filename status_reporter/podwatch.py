"""Following the reporter's own pod: one get, then a watch, then again; polling where watching is not allowed."""

import logging
import random
import time
from collections.abc import Callable, Mapping
from typing import Any

from shared.errors import Forbidden, HyperFleetError, Permanent
from status_reporter.kube import FORBIDDEN_SECONDS, Kube

WATCH_SECONDS = 300.0
CALL_SECONDS = 10.0
FIRST_PAUSE, MAX_PAUSE = 0.25, 5.0

log = logging.getLogger(__name__)

Pod = Mapping[str, Any]


def follow(
    kube: Kube, name: str, poll_interval: float, tell: Callable[[Pod], None], give_up: Callable[[Permanent], None]
) -> None:
    """Call `tell` with every state of the pod, until the process ends, or `give_up` when it may not be looked at."""
    may_watch, failures, allowed_at = True, 0, time.monotonic()
    while True:
        try:
            pod = kube.pod(name, CALL_SECONDS)
            tell(pod)
            failures, allowed_at = 0, time.monotonic()
            if may_watch:
                _watch(kube, name, pod, tell)
                continue
        except _WatchForbidden as error:
            log.info("the pod may not be watched, so it is polled: %s", error)
            may_watch = False
        except Permanent as error:
            if not isinstance(error, Forbidden) or time.monotonic() - allowed_at > FORBIDDEN_SECONDS:
                give_up(error)
                return
        except HyperFleetError as error:
            failures += 1
            log.debug("lost sight of the pod: %s", error)
        pause = min(MAX_PAUSE, poll_interval, FIRST_PAUSE * 2**failures) if may_watch else poll_interval
        time.sleep(random.uniform(pause / 2, pause))  # noqa: S311 - spreads load, guards nothing


class _WatchForbidden(Exception):
    """The pod may be read, but not watched."""


def _watch(kube: Kube, name: str, pod: Pod, tell: Callable[[Pod], None]) -> None:
    version = str((pod.get("metadata") or {}).get("resourceVersion") or "")
    try:
        for event in kube.watch_pod(name, version, WATCH_SECONDS):
            if event.get("type") in ("ADDED", "MODIFIED"):
                tell(event["object"])
            elif event.get("type") in ("ERROR", "DELETED"):
                return
    except Forbidden as error:
        raise _WatchForbidden(str(error)) from error
