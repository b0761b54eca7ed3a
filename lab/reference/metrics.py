"""Every metric of the dispatcher and the DPU bridge, from their registries."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry

from dispatcher.observability.identity import Identity
from dispatcher.observability.metrics import Metrics, QueueCollector
from dpu_bridge.operator.metrics import Metrics as BridgeMetrics
from lab.reference.tables import code, table

_PREFIXES = ("hyperfleet_", "dpu_bridge_")


class _EmptyQueue:
    def objects(self) -> dict[str, int]:
        return {}

    def oldest_wake(self) -> float:
        return 0.0

    def slowed(self) -> tuple[tuple[str, str], ...]:
        return ()

    def awaited_deletions(self) -> dict[str, int]:
        return {}


def sections() -> Iterator[tuple[str, str]]:
    """Title and content."""
    identity = Identity(component="", version="", commit="")
    metrics = Metrics(identity)
    metrics.registry.register(QueueCollector(_EmptyQueue(), identity))
    yield "Dispatcher", _table(metrics.registry)
    yield "DPU bridge", _table(BridgeMetrics().registry)


def _table(registry: CollectorRegistry) -> str:
    rows = [
        (code(family.name + ("_total" if family.type == "counter" else "")), family.type, family.documentation)
        for family in registry.collect()
        if family.name.startswith(_PREFIXES)
    ]
    return table(("metric", "type", "meaning"), sorted(rows))
