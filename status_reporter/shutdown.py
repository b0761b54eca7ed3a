"""How long the sidecar waits for a last report after SIGTERM. The adapter got the same signal at the same moment.

The kubelet stops all containers of a pod at once, and shows the end of one only when all have ended. So the end of the
adapter is mostly not visible from here. What is visible is that it wrote a new report, and then no further one.
"""

from enum import IntEnum
from typing import NamedTuple

# An adapter that reports within this time is not preceded by a condition of the reporter's own.
HOLD_BACK_SECONDS = 2.0
# An adapter that has reported since the signal, and then wrote nothing for so long, is finished.
SILENCE_SECONDS = 1.0
# The rest of the grace period is for writing.
WAITING_SHARE = 0.5


class Stage(IntEnum):
    """How far the shutdown has come."""

    RUNNING = 0
    STOPPING = 1  # the signal came; the adapter's last report may come at any moment
    OVERDUE = 2  # no report came soon; what is known is written, and the report is still awaited
    EXITING = 3


class Shutdown(NamedTuple):
    """What follows a signal. `forced`: a second signal came. `reported_at`: when a new report came since the first."""

    signalled_at: float
    grace: float
    forced: bool = False
    reported_at: float | None = None

    @property
    def overdue_at(self) -> float:
        return min(self.signalled_at + HOLD_BACK_SECONDS, self.exits_at)

    @property
    def exits_at(self) -> float:
        """Until when a report is awaited."""
        if self.forced:
            return self.signalled_at
        latest = self.signalled_at + self.grace * WAITING_SHARE
        return latest if self.reported_at is None else min(latest, self.reported_at + SILENCE_SECONDS)

    @property
    def write_deadline(self) -> float:
        return self.signalled_at if self.forced else self.signalled_at + self.grace

    def stage(self, now: float) -> Stage:
        if now >= self.exits_at:
            return Stage.EXITING
        return Stage.OVERDUE if now >= self.overdue_at else Stage.STOPPING
