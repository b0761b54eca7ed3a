"""The sidecar's life: watch the file and the pod, say what is known, end when nothing more can come.

Two threads only look and tell; this loop alone decides and writes. It wakes on news, on a signal and when time is up.
"""

import logging
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from shared.errors import Forbidden, HyperFleetError, Misconfigured, Permanent, Transient
from shared.report import AdapterReport
from status_reporter import container, podwatch, sighting
from status_reporter.container import State, Unseen
from status_reporter.exits import Exit
from status_reporter.kube import ANSWER_SECONDS, FORBIDDEN_SECONDS, Kube
from status_reporter.marking import Marker, Owner, owner_of
from status_reporter.settings import Settings
from status_reporter.stopping import Farewell, Stage
from status_reporter.verdict import Facts, Found, Missing, Reading, Unusable, Verdict, misconfigured, verdict

# What is known is told for at least this long, even when the adapter used up the whole wait.
MIN_WRITE_SECONDS = 30.0
MIN_SECONDS_BETWEEN_WRITES = 1.0
# How long a report that is there at the start waits for the pod to say which attempt this is.
FIRST_SIGHT_SECONDS = 2.0
PREPARE_SECONDS = 2.0
FIRST_PAUSE, MAX_PAUSE = 0.25, 10.0
MIN_ANSWER_SECONDS = 1.0

log = logging.getLogger(__name__)

Pod = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stop:
    """That this process was told to end, and when."""

    at: float


class Look:
    """That the report file deserves a look."""


News = Stop | Look | Pod | Permanent


class Reporter:
    """One life. `stop` may be called from a signal handler."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._kube = self._connection()
        self._news: SimpleQueue[News] = SimpleQueue()
        self._began = time.monotonic()
        self._farewell: Farewell | None = None
        self._adapter: str | None = None
        self._state: State = Unseen()
        self._marker: Marker | None = None
        self._last: tuple[AdapterReport, State] | None = None
        self._told: Verdict | None = None
        self._told_at = float("-inf")

    def stop(self) -> None:
        self._news.put(Stop(time.monotonic()))

    def run(self) -> tuple[Exit, str]:
        """Live, and say how it ended: the exit code and a sentence."""
        try:
            self._start_looking()
            return self._live()
        except Misconfigured as error:
            return self.report_misconfigured(error)
        except Permanent as error:
            return Exit.REFUSED, str(error)
        except Transient as error:
            return Exit.UNREACHABLE, str(error)

    def report_misconfigured(self, error: Misconfigured) -> tuple[Exit, str]:
        """Say on the Job, where it is known, that this reporter cannot do its work."""
        try:
            self._write(misconfigured(str(error), self._settings.condition_types))
        except (Permanent, Transient) as failure:
            log.warning("the failure could not be put on the Job: %s", failure)
        return Exit.MISCONFIGURED, str(error)

    def _start_looking(self) -> None:
        settings = self._settings
        self._start(sighting.tell_when_changed, settings.results_path, settings.poll_interval, self._look_again)
        put: Callable[[News], None] = self._news.put
        self._start(podwatch.follow, self._connection(), settings.pod_name, settings.poll_interval, put, put)

    def _live(self) -> tuple[Exit, str]:
        while True:
            decided = verdict(self._facts(), self._settings.condition_types)
            if decided is not None and not decided.says_the_same_as(self._told) and self._may_write(decided):
                self._write(decided)
            if decided is not None and decided.final and decided.says_the_same_as(self._told):
                return decided.exit, decided.sentence
            self._wait()

    def _facts(self) -> Facts:
        now = time.monotonic()
        return Facts(
            reading=self._read(),
            container=self._state,
            waited=now - self._began,
            max_wait=self._settings.max_wait,
            stage=self._farewell.stage(now) if self._farewell else Stage.LIVING,
        )

    def _read(self) -> Reading:
        """What the file says; a report of this attempt that is no longer there was still given."""
        if self._must_see_pod_first():
            return Missing()
        reading = sighting.look(
            self._settings.results_path,
            condition_type=self._settings.condition_types[0],
            attempt_began=self._state.attempt_began,
        )
        match reading:
            case Found(report=report):
                self._hear(report)
                self._last = (report, self._state)
            case Missing() if self._last and self._last[1].attempt_began == self._state.attempt_began:
                return Found(self._last[0])
            case Missing():
                log.debug("no report yet: there is no file of this attempt")
            case Unusable(problem=problem):
                log.debug("no report yet: %s", problem)
        return reading

    def _hear(self, report: AdapterReport) -> None:
        """Note when the adapter answers to having been told to end."""
        if self._farewell is not None and (self._last is None or report != self._last[0]):
            self._farewell = replace(self._farewell, answered_at=time.monotonic())

    def _must_see_pod_first(self) -> bool:
        """Whether the pod may yet tell that a report which is there already is a former attempt's."""
        unseen = isinstance(self._state, Unseen) and self._state.knowable and self._farewell is None
        return unseen and time.monotonic() - self._began < min(FIRST_SIGHT_SECONDS, self._settings.max_wait)

    def _may_write(self, decided: Verdict) -> bool:
        return decided.final or time.monotonic() - self._told_at >= MIN_SECONDS_BETWEEN_WRITES

    def _wait(self) -> None:
        """Sleep until there is news, a held-back write is due or the time is over."""
        now = time.monotonic()
        due = [self._began + self._settings.max_wait]
        if self._farewell is not None:
            due += [each for each in (self._farewell.lingers_at, self._farewell.leaves_at) if each > now]
        if self._must_see_pod_first():
            due.append(self._began + FIRST_SIGHT_SECONDS)
        if now - self._told_at < MIN_SECONDS_BETWEEN_WRITES:
            due.append(self._told_at + MIN_SECONDS_BETWEEN_WRITES)
        self._take_news(min(due) - now)

    def _take_news(self, patience: float) -> None:
        """Take in all the news there is, waiting for the first of it."""
        try:
            self._take(self._news.get(timeout=max(0.0, patience)))
            while True:
                self._take(self._news.get_nowait())
        except Empty:
            return

    def _take(self, news: News) -> None:
        match news:
            case Stop(at=at):
                self._take_stop(at)
            case Look():
                return
            case Permanent():
                log.warning("the pod cannot be seen, so only the file is watched: %s", news)
                self._state = Unseen(knowable=False)
            case pod:
                self._take_pod(pod)

    def _take_stop(self, at: float) -> None:
        if self._farewell is not None:
            self._farewell = replace(self._farewell, insisted=True)
            return
        self._farewell = Farewell(told_at=at, grace=self._settings.grace)
        log.info("told to end; a last report is awaited for %.1f s at most", self._farewell.leaves_at - at)

    def _take_pod(self, pod: Pod) -> None:
        if self._marker is None:
            self._prepare(owner_of(pod, self._settings.job_name))
        if self._adapter is None:
            self._adapter = container.name_of_adapter(pod, self._settings.adapter_container)
        self._state = container.state_of(pod, self._adapter)

    def _prepare(self, owner: Owner) -> None:
        """Get to know the Job while there is nothing to tell yet."""
        self._marker = Marker(self._kube, owner)
        try:
            self._marker.learn(PREPARE_SECONDS)
        except (Permanent, Transient) as error:
            log.debug("the Job cannot be read yet: %s", error)

    def _write(self, decided: Verdict) -> None:
        """Put the verdict on the Job, trying again while the API server is in trouble and there is time."""
        started, failures = time.monotonic(), 0
        refused_since: float | None = None
        while True:
            try:
                self._mark(decided)
            except (Transient, Forbidden) as error:
                refused_since = (refused_since or time.monotonic()) if isinstance(error, Forbidden) else None
                left = self._write_deadline(started, refused_since) - time.monotonic()
                if left <= 0:
                    raise
                pause = min(left, _pause(failures, error))
                failures += 1
                log.warning("reporting failed, trying again in %.1f s: %s", pause, error)
                self._sleep(pause)
            else:
                self._told, self._told_at = decided, time.monotonic()
                log.info("reported: %s", decided.sentence)
                return

    def _mark(self, decided: Verdict) -> None:
        if self._marker is None:
            self._marker = Marker(self._kube, self._find_owner())
        self._marker.mark(decided, self._answer_seconds())

    def _find_owner(self) -> Owner:
        """The Job where the pod has not been seen yet; its name suffices where the pod cannot be."""
        try:
            return owner_of(self._kube.pod(self._settings.pod_name, self._answer_seconds()), self._settings.job_name)
        except Permanent:
            if self._settings.job_name is None:
                raise
            return Owner(self._settings.job_name)

    def _answer_seconds(self) -> float:
        """How long one request may take; when this process must end soon, no longer than that."""
        if self._farewell is None:
            return ANSWER_SECONDS
        left = self._farewell.writes_until - time.monotonic()
        return min(ANSWER_SECONDS, max(left, MIN_ANSWER_SECONDS))

    def _write_deadline(self, started: float, refused_since: float | None) -> float:
        deadline = max(self._began + self._settings.max_wait, started + MIN_WRITE_SECONDS)
        if self._farewell is not None:
            deadline = self._farewell.writes_until
        return deadline if refused_since is None else min(deadline, refused_since + FORBIDDEN_SECONDS)

    def _sleep(self, seconds: float) -> None:
        """Wait before another try; being told to end is the last chance and leaves only a short wait."""
        until = time.monotonic() + seconds
        while self._farewell is None and (left := until - time.monotonic()) > 0:
            self._take_news(left)
        until = min(until, time.monotonic() + FIRST_PAUSE)
        while (left := until - time.monotonic()) > 0:
            self._take_news(left)

    def _look_again(self) -> None:
        self._news.put(Look())

    def _connection(self) -> Kube:
        return Kube(self._settings.api_url, self._settings.account, self._settings.namespace)

    @staticmethod
    def _start(target: Callable[..., None], *arguments: Any) -> None:
        Thread(target=target, args=arguments, daemon=True).start()


def _pause(failures: int, error: HyperFleetError) -> float:
    jittered = random.uniform(0, min(MAX_PAUSE, FIRST_PAUSE * 2 ** min(failures, 10)))  # noqa: S311 - spreads load, guards nothing
    asked_for = error.retry_after if isinstance(error, Transient) else None
    return max(jittered, asked_for or 0.0)
