"""The sidecar's loop: watch the file and the pod, write what is known, end when nothing more can come.

Two threads observe and post events; only this loop decides and writes. It wakes on events, on signals and on time-outs.
"""

import logging
import time
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, NamedTuple

from shared.backoff import Backoff
from shared.errors import Forbidden, Misconfigured, Permanent, Transient
from status_reporter.exits import Exit
from status_reporter.job.job_status import JobOfPod
from status_reporter.kube import Kube
from status_reporter.pacing import Pacing
from status_reporter.pod import container, watching
from status_reporter.pod.container import State, Unknown
from status_reporter.report import report_file
from status_reporter.report.known_report import KnownReport
from status_reporter.settings import Settings
from status_reporter.shutdown import Shutdown
from status_reporter.verdict import Facts, Found, Missing, Reading, Verdict, misconfigured, verdict

BACKOFF = Backoff(first=0.25, longest=10.0)

log = logging.getLogger(__name__)

Pod = Mapping[str, Any]


class Stop(NamedTuple):
    """A signal to stop, and when it came."""

    at: float


class FileChanged:
    """The report file may have changed."""


Event = Stop | FileChanged | Pod | Permanent


class Reporter:
    """One run of the sidecar. `stop` may be called from a signal handler."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._job = JobOfPod(_connect(settings), settings.pod_name, settings.job_name, settings.condition_types)
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._pacing = Pacing(began=time.monotonic(), max_wait=settings.max_wait, grace=settings.grace)
        self._adapter: str | None = None
        self._state: State = Unknown()
        self._known = KnownReport()
        self._written: Verdict | None = None

    def stop(self) -> None:
        self._events.put(Stop(time.monotonic()))

    def run(self) -> tuple[Exit, str]:
        """Run to the end: the exit code, and a sentence for the termination message."""
        try:
            self._start_observing()
            return self._loop()
        except Misconfigured as error:
            return self.report_misconfigured(error)
        except Permanent as error:
            return Exit.REFUSED, str(error)
        except Transient as error:
            return Exit.UNREACHABLE, str(error)

    def report_misconfigured(self, error: Misconfigured) -> tuple[Exit, str]:
        """Write to the Job, where it is known, that this reporter cannot work."""
        try:
            self._write(misconfigured(str(error), self._settings.condition_types))
        except (Permanent, Transient) as failure:
            log.warning("the failure could not be written to the Job: %s", failure)
        return Exit.MISCONFIGURED, str(error)

    def _start_observing(self) -> None:
        settings = self._settings
        put: Callable[[Event], None] = self._events.put
        _start(report_file.notify_on_change, settings.results_path, settings.poll_interval, lambda: put(FileChanged()))
        _start(watching.follow, _connect(settings), settings.pod_name, settings.poll_interval, put, put)

    def _loop(self) -> tuple[Exit, str]:
        while True:
            decided = verdict(self._facts(), self._settings.condition_types)
            if decided is not None and not decided.same_content_as(self._written) and self._may_write(decided):
                self._write(decided)
            if decided is not None and decided.final and decided.same_content_as(self._written):
                return decided.exit, decided.summary
            now = time.monotonic()
            self._handle_events(self._pacing.wakes_at(now, pod_awaited=self._pod_awaited(now)) - now)

    def _may_write(self, decided: Verdict) -> bool:
        return decided.final or self._pacing.may_write(time.monotonic())

    def _facts(self) -> Facts:
        now = time.monotonic()  # before the file is read: what is judged late was read after that
        return Facts(
            reading=self._read(),
            container=self._state,
            waited=now - self._pacing.began,
            max_wait=self._settings.max_wait,
            stage=self._pacing.stage(now),
        )

    def _read(self) -> Reading:
        now, attempt_began = time.monotonic(), self._state.attempt_began
        if self._pod_awaited(now):
            return Missing()
        path, condition_type = self._settings.results_path, self._settings.condition_types[0]
        reading = report_file.read(path, condition_type=condition_type, attempt_began=attempt_began)
        if isinstance(reading, Found) and reading.report != self._known.report:
            self._pacing = self._pacing.reported(now)
        self._known = self._known.after(reading, attempt_began)
        reading = self._known.reading(reading, attempt_began)
        if not isinstance(reading, Found):
            log.debug("no report yet: %s", reading)
        return reading

    def _pod_awaited(self, now: float) -> bool:
        unread = isinstance(self._state, Unknown) and self._state.observable
        return unread and self._pacing.waits_for_pod(now)

    def _handle_events(self, timeout: float) -> None:
        """Handle all queued events, waiting for the first."""
        try:
            self._handle(self._events.get(timeout=max(0.0, timeout)))
            while True:
                self._handle(self._events.get_nowait())
        except Empty:
            return

    def _handle(self, event: Event) -> None:
        match event:
            case Stop(at=at):
                self._handle_stop(at)
            case FileChanged():
                return
            case Permanent():
                log.warning("the pod cannot be read, so only the file is watched: %s", event)
                self._state = Unknown(observable=False)
            case pod:
                self._job.see(pod)
                self._adapter = self._adapter or container.name_of_adapter(pod, self._settings.adapter_container)
                self._state = container.state_of(pod, self._adapter)

    def _handle_stop(self, at: float) -> None:
        if self._pacing.shutdown is None:
            seconds = Shutdown(signalled_at=at, grace=self._settings.grace).exits_at - at
            log.info("received a signal to stop; waiting up to %.1f s for a last report", seconds)
        else:
            log.info("received another signal; ending now")
        self._pacing = self._pacing.signalled(at)

    def _write(self, decided: Verdict) -> None:
        """Write the verdict to the Job, retrying while the API server fails and there is time."""
        started, failures = time.monotonic(), 0
        refused_since: float | None = None
        while True:
            try:
                self._job.write(decided, lambda: self._pacing.request_timeout(time.monotonic()))
            except (Transient, Forbidden) as error:
                refused_since = (refused_since or time.monotonic()) if isinstance(error, Forbidden) else None
                left = self._pacing.write_deadline(started, refused_since) - time.monotonic()
                if left <= 0:
                    raise
                asked_for = error.retry_after if isinstance(error, Transient) else None
                pause = min(left, BACKOFF.delay(failures, retry_after=asked_for))
                failures += 1
                log.warning("writing the Job's status failed, retrying in %.1f s: %s", pause, error)
                self._sleep(pause)
            else:
                self._written = decided
                self._pacing = self._pacing._replace(written_at=time.monotonic())
                log.info("reported: %s", decided.summary)
                return

    def _sleep(self, seconds: float) -> None:
        """Wait before a retry. After a signal only a short wait is left."""
        until = time.monotonic() + seconds
        while self._pacing.shutdown is None and (left := until - time.monotonic()) > 0:
            self._handle_events(left)
        until = min(until, time.monotonic() + BACKOFF.first)
        while (left := until - time.monotonic()) > 0:
            self._handle_events(left)


def _connect(settings: Settings) -> Kube:
    return Kube(settings.api_url, settings.account, settings.namespace)


def _start(target: Callable[..., None], *arguments: Any) -> None:
    Thread(target=target, args=arguments, daemon=True).start()
