"""Whether the process is alive and whether it is ready, as probes ask.

Liveness fails only when something has stopped making progress, because its failure restarts the pod. Readiness fails
while a system that every run needs is away.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Check = Callable[[], str]
"""What is wrong, "" when nothing is."""


@dataclass
class Health:
    """`checks` are those of readiness, by name; `signs` those of liveness."""

    checks: dict[str, Check] = field(default_factory=dict)
    signs: dict[str, Check] = field(default_factory=dict)
    stopping: bool = False

    def alive(self) -> tuple[bool, Mapping[str, Any]]:
        stuck = {name: problem for name, sign in self.signs.items() if (problem := sign())}
        if not stuck:
            return True, {"status": "ok"}
        return False, {"status": "error", "message": "no progress", "checks": stuck}

    def ready(self) -> tuple[bool, Mapping[str, Any]]:
        if self.stopping:
            return False, {"status": "error", "message": "server is shutting down"}
        results = {name: check() or "ok" for name, check in self.checks.items()}
        if all(result == "ok" for result in results.values()):
            return True, {"status": "ok", "checks": results}
        return False, {"status": "error", "message": "not ready", "checks": results}
