"""When the sidecar may write, must wake and must stop. Pure: times are those of a monotonic clock, in seconds."""

from typing import NamedTuple

from status_reporter.kube import ANSWER_SECONDS, FORBIDDEN_SECONDS
from status_reporter.shutdown import Shutdown, Stage

# A write is retried for at least this long, even when the adapter used up the whole wait.
MIN_WRITE_SECONDS = 30.0
MIN_SECONDS_BETWEEN_WRITES = 1.0
# How long a report that exists at the start waits for the pod, which shows which attempt this is.
FIRST_POD_SECONDS = 2.0
MIN_REQUEST_SECONDS = 1.0


class Pacing(NamedTuple):
    """`written_at` is when the Job was last written, `shutdown` is set once a signal came."""

    began: float
    max_wait: float
    grace: float
    written_at: float = float("-inf")
    shutdown: Shutdown | None = None

    def signalled(self, at: float) -> "Pacing":
        """After a signal; a second one forces the end."""
        if self.shutdown is not None:
            return self._replace(shutdown=self.shutdown._replace(forced=True))
        return self._replace(shutdown=Shutdown(signalled_at=at, grace=self.grace))

    def reported(self, now: float) -> "Pacing":
        """After a new report; it matters only to a shutdown, which waits for one."""
        return self if self.shutdown is None else self._replace(shutdown=self.shutdown._replace(reported_at=now))

    def stage(self, now: float) -> Stage:
        return Stage.RUNNING if self.shutdown is None else self.shutdown.stage(now)

    def waits_for_pod(self, now: float) -> bool:
        """Whether the pod, which has not been read, may yet show that an existing report is of an earlier attempt."""
        return self.shutdown is None and now - self.began < min(FIRST_POD_SECONDS, self.max_wait)

    def may_write(self, now: float) -> bool:
        return now - self.written_at >= MIN_SECONDS_BETWEEN_WRITES

    def wakes_at(self, now: float, *, pod_awaited: bool) -> float:
        """When the loop must look again though no event came."""
        due = [self.began + self.max_wait]
        if self.shutdown is not None:
            due += [each for each in (self.shutdown.overdue_at, self.shutdown.exits_at) if each > now]
        if pod_awaited:
            due.append(self.began + FIRST_POD_SECONDS)
        if not self.may_write(now):
            due.append(self.written_at + MIN_SECONDS_BETWEEN_WRITES)
        return min(due)

    def request_timeout(self, now: float) -> float:
        """How long one request may take; after a signal, no longer than the time that is left."""
        if self.shutdown is None:
            return ANSWER_SECONDS
        return min(ANSWER_SECONDS, max(self.shutdown.write_deadline - now, MIN_REQUEST_SECONDS))

    def write_deadline(self, started: float, refused_since: float | None) -> float:
        """Until when a write that began at `started` is retried; a refusal is believed sooner."""
        deadline = max(self.began + self.max_wait, started + MIN_WRITE_SECONDS)
        if self.shutdown is not None:
            deadline = self.shutdown.write_deadline
        return deadline if refused_since is None else min(deadline, refused_since + FORBIDDEN_SECONDS)
