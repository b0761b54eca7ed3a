"""The operator's metrics, each with the labels by which an alert is written."""

import contextlib

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.passes = Counter("dpu_bridge_passes", "Passes of bridges by result.", ["result"], registry=self.registry)
        self.pass_seconds = Histogram(
            "dpu_bridge_pass_seconds", "How long a pass takes.", buckets=_SECONDS, registry=self.registry
        )
        self.phase = Gauge(
            "dpu_bridge_phase", "1 for the phase of a bridge.", ["namespace", "name", "phase"], registry=self.registry
        )
        self.requests = Counter(
            "dpu_bridge_certificate_requests",
            "Decisions on certificate requests: approve, deny, pending, suspicious.",
            ["namespace", "name", "decision", "reason"],
            registry=self.registry,
        )
        self.approvers = Gauge(
            "dpu_bridge_approver_active",
            "1 while certificate requests of a bridge are watched.",
            ["namespace", "name"],
            registry=self.registry,
        )
        self._phases: dict[tuple[str, str], str] = {}

    def forget_approver(self, key: tuple[str, str]) -> None:
        with contextlib.suppress(KeyError):  # it may have ended before it reported anything
            self.approvers.remove(*key)

    def set_phase(self, key: tuple[str, str], phase: str) -> None:
        """An empty phase is that of a bridge that is gone."""
        before = self._phases.pop(key, "")
        if before and before != phase:
            self.phase.remove(*key, before)
        if phase:
            self._phases[key] = phase
            self.phase.labels(*key, phase).set(1)
