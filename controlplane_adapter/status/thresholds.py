"""How long a state may last before it is reported as a problem, in seconds. Each is a setting of the adapter."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Every rollout degrades a control plane for a while, and a first installation for longer.

    `degraded` is the grace period of a running control plane, `install` that of one that was never up. After
    `deletion` a deletion is stuck; after `agent_silence` an agent that owes an answer is silent.
    """

    degraded: float = 300.0
    install: float = 2700.0
    deletion: float = 1800.0
    agent_silence: float = 300.0
