"""Following the reporter's own pod: one get, then a watch, then again; polling where watching is not allowed."""

import logging
import random
import time
from collections.abc import Callable, Mapping
from typing import Any

from shared.errors import Forbidden, Permanent, Transient
from status_reporter.kube import ANSWER_SECONDS, FORBIDDEN_SECONDS, Kube

# A connection that died without a word is noticed when its watch should have ended.
WATCH_SECONDS = 60.0
# A watch that ends sooner was not ended by its time, but by something that will end the next one as well.
SHORT_WATCH_SECONDS = 1.0
FIRST_PAUSE, MAX_PAUSE = 0.25, 5.0

log = logging.getLogger(__name__)

Pod = Mapping[str, Any]


def follow(
    kube: Kube, name: str, poll_interval: float, tell: Callable[[Pod], None], give_up: Callable[[Permanent], None]
) -> None:
    """Call `tell` with every state of the pod, until the process ends, or `give_up` when it may not be looked at."""
    may_watch, failures = True, 0
    refused_since: float | None = None
    while True:
        asked_for = 0.0
        try:
            pod = kube.pod(name, ANSWER_SECONDS)
            tell(pod)
            refused_since, seen_at = None, time.monotonic()
            if may_watch:
                _watch(kube, name, pod, tell)
                if time.monotonic() - seen_at >= SHORT_WATCH_SECONDS:
                    failures = 0
                    continue
        except _WatchForbidden as error:
            log.info("the pod may not be watched, so it is polled: %s", error)
            may_watch = False
        except Permanent as error:
            refused_since = refused_since or time.monotonic()
            if not isinstance(error, Forbidden) or time.monotonic() - refused_since > FORBIDDEN_SECONDS:
                give_up(error)
                return
        except Transient as error:
            refused_since = None
            asked_for = error.retry_after or 0.0
            log.debug("lost sight of the pod: %s", error)
        failures += 1
        time.sleep(max(asked_for, _pause(failures, poll_interval) if may_watch else poll_interval))


def _pause(failures: int, poll_interval: float) -> float:
    longest = min(MAX_PAUSE, poll_interval, FIRST_PAUSE * 2 ** min(failures, 10))
    return random.uniform(longest / 2, longest)  # noqa: S311 - spreads load, guards nothing


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
