"""When a degraded control plane counts as unhealthy: HyperShift reports Degraded during every rollout, so it must last.

One rule for the control plane adapter and the DPU bridge.
"""

from dataclasses import dataclass
from datetime import datetime

from shared.model.conditions import Condition


@dataclass(frozen=True, slots=True, kw_only=True)
class GracePeriods:
    """Seconds. `degraded` is for a running control plane, `install` for one that was never up."""

    degraded: float = 300.0
    install: float = 2700.0

    def of_degraded(self, *, available: bool, was_up: bool) -> float:
        """Zero where Degraded explains why a control plane that was up is not available."""
        if available:
            return self.degraded
        return 0.0 if was_up else self.install


def outlasts(condition: Condition, grace_period: float, now: datetime) -> bool:
    """A condition without a transition time has no grace period: one report too early is better than none."""
    since = condition.last_transition_time
    return since is None or max(0.0, (now - since).total_seconds()) >= grace_period
