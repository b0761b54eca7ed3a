"""Following the reporter's own pod: one get, then a watch, then again; polling where watching is not allowed."""

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from shared.backoff import Backoff
from shared.errors import Forbidden, Permanent, Transient
from status_reporter.kube import ANSWER_SECONDS, FORBIDDEN_SECONDS, Kube

# A connection that died silently is noticed when its watch should have ended.
WATCH_SECONDS = 60.0
# A watch that ends sooner did not time out; whatever ended it will end the next one as well.
SHORT_WATCH_SECONDS = 1.0
BACKOFF = Backoff(first=0.5, longest=5.0, spread=0.5)

log = logging.getLogger(__name__)

Pod = Mapping[str, Any]


def follow(
    kube: Kube, name: str, poll_interval: float, on_change: Callable[[Pod], None], give_up: Callable[[Permanent], None]
) -> None:
    """Call `on_change` with every state of the pod until the process ends, or `give_up` when it may not be read."""
    may_watch, failures = True, 0
    refused_since: float | None = None
    while True:
        asked_for = 0.0
        try:
            pod = kube.pod(name, ANSWER_SECONDS)
            on_change(pod)
            refused_since, seen_at = None, time.monotonic()
            if may_watch:
                _watch(kube, name, pod, on_change)
                if time.monotonic() - seen_at >= SHORT_WATCH_SECONDS:
                    failures = 0
                    continue
        except _WatchForbidden as error:
            log.info("not allowed to watch the pod, so it is polled: %s", error)
            may_watch = False
        except Permanent as error:
            refused_since = refused_since or time.monotonic()
            if not isinstance(error, Forbidden) or time.monotonic() - refused_since > FORBIDDEN_SECONDS:
                give_up(error)
                return
        except Transient as error:
            refused_since = None
            asked_for = error.retry_after or 0.0
            log.debug("the pod cannot be read: %s", error)
        pause = min(BACKOFF.delay(failures), poll_interval) if may_watch else poll_interval
        failures += 1
        time.sleep(max(asked_for, pause))


class _WatchForbidden(Exception):
    """The pod may be read, but not watched."""


def _watch(kube: Kube, name: str, pod: Pod, on_change: Callable[[Pod], None]) -> None:
    version = str((pod.get("metadata") or {}).get("resourceVersion") or "")
    try:
        for event in kube.watch_pod(name, version, WATCH_SECONDS):
            if event.get("type") in ("ADDED", "MODIFIED"):
                on_change(event["object"])
            elif event.get("type") in ("ERROR", "DELETED"):
                return
    except Forbidden as error:
        raise _WatchForbidden(str(error)) from error
