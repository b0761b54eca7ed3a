"""Every metric of the dispatcher. Those of the Go adapter keep their names, labels and buckets; the others are ours."""

from collections.abc import Iterable, Mapping
from typing import Generic, Protocol, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.gc_collector import GCCollector
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from dispatcher.observability.identity import Identity

BUCKETS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0)
LATENCY_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
# An object is named in a metric only while it is slowed, and never more than this many at once.
MAX_NAMED_OBJECTS = 20

M = TypeVar("M", bound=MetricWrapperBase)


class Family(Generic[M]):
    """A metric whose first labels never change. Called with the values of the others it gives the one to count with."""

    def __init__(self, metric: M, constant: tuple[str, ...]) -> None:
        self._metric = metric
        self._constant = constant
        # The library's own look-up checks and converts every label, a dozen times in each run.
        self._known: dict[tuple[str, ...], M] = {}

    def __call__(self, *values: str) -> M:
        known = self._known.get(values)
        if known is None:
            known = self._known[values] = self._metric.labels(*self._constant, *values)
        return known


class Metrics:
    """The metrics of one process, in a registry of their own."""

    def __init__(self, identity: Identity, *, topic: str = "") -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)
        self._adapter = {
            "component": identity.component,
            "version": identity.version,
            "adapter_name": identity.adapter_name,
        }
        self._component = {"component": identity.component, "version": identity.version}
        self._broker = {"topic": topic, **self._component}
        self._define_those_of_go(identity)
        self._define_those_of_the_broker()
        self._define_ours()

    def _define_those_of_go(self, identity: Identity) -> None:
        build = {**self._component, "commit": identity.commit}
        self._gauge("build_info", "Which build this is", constant=build)().set(1)
        self.up = self._gauge("up", "1 while the adapter runs, 0 while it stops", constant=self._component)()
        self.up.set(1)
        self.events_processed = self._counter("events_processed", "Runs for broker events", "status")
        self.event_duration = self._histogram("event_processing_duration_seconds", "Runs for broker events")
        self.errors = self._counter("errors", "Failed phases of runs", "error_type")
        self.resources_deleted = self._counter("resources_deleted", "Deletions", "resource_type", "status")
        self.deletion_duration = self._histogram("resource_deletion_duration_seconds", "Deletions", "resource_type")

    def _define_those_of_the_broker(self) -> None:
        self.messages_consumed = self._broker_counter("messages_consumed", "Messages that were delivered")
        # Adapters publish nothing; dashboards of the Go library ask for it all the same.
        self._broker_counter("messages_published", "Messages that were published")()
        self.broker_errors = self._broker_counter("errors", "Messages that could not be handled", "error_type")
        duration = Histogram(
            "hyperfleet_broker_message_duration_seconds",
            "From the delivery of a message to its acknowledgement",
            tuple(self._broker),
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.message_duration = Family(duration, tuple(self._broker.values()))
        connected = Gauge(
            "hyperfleet_broker_connected", "1 while connected", tuple(self._broker), registry=self.registry
        )
        self.broker_connected = Family(connected, tuple(self._broker.values()))

    def _define_ours(self) -> None:
        self.events_ignored = self._counter("events_ignored", "Events of kinds that are not handled", "kind")
        self.wakes = self._counter("wakes", "Requests to reconcile an object", "cause")
        self.runs = self._counter("runs", "Runs", "cause", "outcome")
        self.run_duration = self._histogram("run_duration_seconds", "Runs", "cause", buckets=LATENCY_BUCKETS)
        self.wake_wait = self._histogram("wake_wait_seconds", "From a wake to its run", buckets=LATENCY_BUCKETS)
        self.slowed = self._counter("objects_slowed", "How often an object was slowed because it kept waking")
        self.api_calls = self._counter("api_calls", "Calls of the HyperFleet API", "method", "code")
        self.applies = self._counter("applies", "What runs did to resources", "resource", "operation")
        self.statuses = self._counter("statuses", "Statuses for the HyperFleet API", "delivery")
        self.expression_errors = self._counter("expression_errors", "CEL expressions that failed", "phase")
        self.report_latency = self._histogram(
            "job_report_latency_seconds", "From a Job's creation to the first report of its conditions", buckets=BUCKETS
        )
        self.tasks = self._gauge("tasks", "Tasks of the event loop")
        self.leader = self._gauge("leader", "1 in the process that owns watches and timers of all")

    def _counter(self, name: str, text: str, *labels: str) -> Family[Counter]:
        names = (*self._adapter, *labels)
        counter = Counter(f"hyperfleet_adapter_{name}", text, names, registry=self.registry)
        return Family(counter, tuple(self._adapter.values()))

    def _gauge(self, name: str, text: str, *labels: str, constant: dict[str, str] | None = None) -> Family[Gauge]:
        constant = self._adapter if constant is None else constant
        gauge = Gauge(f"hyperfleet_adapter_{name}", text, (*constant, *labels), registry=self.registry)
        return Family(gauge, tuple(constant.values()))

    def _histogram(self, name: str, text: str, *labels: str, buckets: tuple[float, ...] = BUCKETS) -> Family[Histogram]:
        names = (*self._adapter, *labels)
        histogram = Histogram(f"hyperfleet_adapter_{name}", text, names, buckets=buckets, registry=self.registry)
        return Family(histogram, tuple(self._adapter.values()))

    def _broker_counter(self, name: str, text: str, *labels: str) -> Family[Counter]:
        names = (*self._broker, *labels)
        return Family(
            Counter(f"hyperfleet_broker_{name}", text, names, registry=self.registry), tuple(self._broker.values())
        )


class QueueState(Protocol):
    """What is read of the queue when metrics are scraped."""

    def objects(self) -> dict[str, int]:
        """How many objects are in which phase."""

    def oldest_wake(self) -> float:
        """Seconds for which the longest waiting wake has been due."""

    def slowed(self) -> Iterable[tuple[str, str]]:
        """Kind and id of the objects that are slowed now."""

    def awaited_deletions(self) -> Mapping[str, int]:
        """How many deletions are waited for, by the kind of what is deleted."""


class QueueCollector(Collector):
    """Reads the queue when it is scraped, so that nothing is counted in between."""

    def __init__(self, state: QueueState, identity: Identity) -> None:
        self._state = state
        self._names = ("component", "version", "adapter_name")
        self._values = (identity.component, identity.version, identity.adapter_name)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        objects = self._family("queue_objects", "Objects in the queue, by phase", "phase")
        for phase, count in self._state.objects().items():
            objects.add_metric([*self._values, phase], count)
        yield objects
        oldest = self._family("queue_oldest_wake_seconds", "How long the longest waiting wake has been due")
        oldest.add_metric(self._values, self._state.oldest_wake())
        yield oldest
        slowed = self._family("object_slowed", "Objects that are slowed because they keep waking", "kind", "id")
        for kind, id_ in list(self._state.slowed())[:MAX_NAMED_OBJECTS]:
            slowed.add_metric([*self._values, kind, id_], 1)
        yield slowed
        deletions = self._family("resource_deletions_in_progress", "Deletions that objects wait for", "resource_type")
        for kind, count in self._state.awaited_deletions().items():
            deletions.add_metric([*self._values, kind], count)
        yield deletions

    def _family(self, name: str, text: str, *labels: str) -> GaugeMetricFamily:
        return GaugeMetricFamily(f"hyperfleet_adapter_{name}", text, labels=(*self._names, *labels))
