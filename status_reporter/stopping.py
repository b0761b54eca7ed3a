"""How long the sidecar stays after it was told to end: its adapter was told at the same moment, and may answer.

The kubelet stops all containers of a pod at once, and shows the end of one only when all have ended. So the end of the
adapter is mostly not to be seen from here; what can be seen is that it has answered, and has nothing more to add.
"""

from dataclasses import dataclass
from enum import IntEnum

# An adapter that answers sooner is not preceded by a word that is not its own.
HOLD_BACK_SECONDS = 2.0
# An adapter that has answered and is silent for so long has said its last word.
SILENCE_SECONDS = 1.0
# The rest of the grace is for writing.
LINGERING_SHARE = 0.5


class Stage(IntEnum):
    """How far the sidecar is on its way to its end."""

    LIVING = 0
    TOLD = 1  # to end, as the adapter was, whose answer may come at any moment
    LINGERING = 2  # though the answer did not come soon
    LEAVING = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Farewell:
    """What follows a signal at `told_at`. `insisted` is that another came, `answered_at` when a new report did."""

    told_at: float
    grace: float
    insisted: bool = False
    answered_at: float | None = None

    @property
    def lingers_at(self) -> float:
        return min(self.told_at + HOLD_BACK_SECONDS, self.leaves_at)

    @property
    def leaves_at(self) -> float:
        """Until when the adapter is listened to."""
        if self.insisted:
            return self.told_at
        latest = self.told_at + self.grace * LINGERING_SHARE
        return latest if self.answered_at is None else min(latest, self.answered_at + SILENCE_SECONDS)

    @property
    def writes_until(self) -> float:
        return self.told_at if self.insisted else self.told_at + self.grace

    def stage(self, now: float) -> Stage:
        if now >= self.leaves_at:
            return Stage.LEAVING
        return Stage.LINGERING if now >= self.lingers_at else Stage.TOLD
