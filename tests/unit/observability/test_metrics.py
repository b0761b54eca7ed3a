"""The names and labels that dashboards of the Go adapter ask for, and ours."""

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.dispatcher import oldest_wake, written
from dispatcher.observability.identity import Identity
from dispatcher.observability.metrics import MAX_NAMED_OBJECTS, Metrics, QueueCollector

IDENTITY = Identity(component="hyperfleet-adapter-dns", version="1.2.3", commit="abc")
ADAPTER = {"component": "hyperfleet-adapter-dns", "version": "1.2.3", "adapter_name": "dns"}
COMPONENT = {"component": "hyperfleet-adapter-dns", "version": "1.2.3"}
BROKER = {"topic": "clusters", **COMPONENT}


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(IDENTITY, topic="clusters")


def samples(metrics: Metrics) -> dict[str, list[tuple[dict[str, str], float]]]:
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(generate_latest(metrics.registry).decode()):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def test_every_metric_of_the_go_adapter_has_its_name_and_labels(metrics: Metrics) -> None:
    metrics.events_processed("success").inc()
    metrics.event_duration().observe(0.2)
    metrics.errors("resources").inc()
    metrics.resources_deleted("Namespace", "success").inc()
    metrics.deletion_duration("Namespace").observe(3)
    metrics.registry.register(QueueCollector(Queue(), IDENTITY))
    metrics.messages_consumed().inc()
    metrics.broker_errors("conversion").inc()
    metrics.message_duration().observe(1)
    expected = {
        "hyperfleet_adapter_build_info": {**COMPONENT, "commit": "abc"},
        "hyperfleet_adapter_up": COMPONENT,
        "hyperfleet_adapter_events_processed_total": {**ADAPTER, "status": "success"},
        "hyperfleet_adapter_event_processing_duration_seconds_count": ADAPTER,
        "hyperfleet_adapter_errors_total": {**ADAPTER, "error_type": "resources"},
        "hyperfleet_adapter_resources_deleted_total": {**ADAPTER, "resource_type": "Namespace", "status": "success"},
        "hyperfleet_adapter_resource_deletion_duration_seconds_count": {**ADAPTER, "resource_type": "Namespace"},
        "hyperfleet_adapter_resource_deletions_in_progress": {**ADAPTER, "resource_type": "Namespace"},
        "hyperfleet_broker_messages_consumed_total": BROKER,
        "hyperfleet_broker_messages_published_total": BROKER,
        "hyperfleet_broker_errors_total": {**BROKER, "error_type": "conversion"},
        "hyperfleet_broker_message_duration_seconds_count": BROKER,
    }
    found = samples(metrics)
    assert {name: found[name][0][0] for name in expected} == expected
    assert found["hyperfleet_broker_messages_published_total"][0][1] == 0


def test_histograms_of_the_go_adapter_have_its_buckets(metrics: Metrics) -> None:
    metrics.event_duration().observe(0.2)
    buckets = samples(metrics)["hyperfleet_adapter_event_processing_duration_seconds_bucket"]
    assert [float(labels["le"]) for labels, _ in buckets][:-1] == [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120]


def test_no_series_tells_when_a_series_began(metrics: Metrics) -> None:
    metrics.events_processed("success").inc()
    assert not [name for name in samples(metrics) if name.endswith("_created")]


@pytest.mark.parametrize(
    ("component", "adapter_name"),
    [
        ("hyperfleet-adapter-dns", "dns"),
        ("adapter-dns", "dns"),
        ("dns-adapter", "dns"),
        ("controlplane", "controlplane"),
    ],
)
def test_the_adapters_name_is_short(component: str, adapter_name: str) -> None:
    assert Identity(component=component, version="", commit="").adapter_name == adapter_name


class Queue:
    def objects(self) -> dict[str, int]:
        return {"ready": 3, "running": 2}

    def oldest_wake(self) -> float:
        return 1.5

    def slowed(self) -> list[tuple[str, str]]:
        return [("Cluster", str(number)) for number in range(100)]

    def awaited_deletions(self) -> dict[str, int]:
        return {"Namespace": 1}


def test_the_queue_is_read_when_it_is_scraped_and_names_a_bounded_number_of_objects(metrics: Metrics) -> None:
    metrics.registry.register(QueueCollector(Queue(), IDENTITY))
    found = samples(metrics)
    assert found["hyperfleet_adapter_queue_objects"] == [
        ({**ADAPTER, "phase": "ready"}, 3),
        ({**ADAPTER, "phase": "running"}, 2),
    ]
    assert found["hyperfleet_adapter_queue_oldest_wake_seconds"] == [(ADAPTER, 1.5)]
    assert len(found["hyperfleet_adapter_object_slowed"]) == MAX_NAMED_OBJECTS
    assert found["hyperfleet_adapter_object_slowed"][0][0] == {**ADAPTER, "kind": "Cluster", "id": "0"}


def test_the_benchmark_reads_the_oldest_wake_and_what_was_written(metrics: Metrics) -> None:
    metrics.registry.register(QueueCollector(Queue(), IDENTITY))
    for operation, times in (("create", 2), ("skip", 5), ("update", 1)):
        metrics.applies("namespace0", operation).inc(times)

    text = generate_latest(metrics.registry).decode()

    assert (oldest_wake(text), written(text)) == (1.5, 3)


def test_the_process_itself_is_measured(metrics: Metrics) -> None:
    assert "process_resident_memory_bytes" in samples(metrics)
