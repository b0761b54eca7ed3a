"""How long something may last before it is told as trouble, in seconds. Each is a setting of the adapter."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Every roll-out makes a control plane degraded for a while, and a first installation makes it so for long.

    `degraded` damps what a running control plane reports, `install` what one reports that was never up. `deletion` is
    when a deletion is stuck, `agent_silence` when a management cluster that owes an answer is told as silent.
    """

    degraded: float = 300.0
    install: float = 2700.0
    deletion: float = 1800.0
    agent_silence: float = 300.0
